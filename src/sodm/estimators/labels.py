"""Class labels to class numbers, quickly for the plain integers that large data sets have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

SPAN = 2**16  # integer labels within this range are counted, not sorted


def find_classes(y: NDArray[Any]) -> NDArray[Any]:
    """The different labels, sorted; refuses what are no class labels.

    Examples
    --------
    >>> import numpy as np
    >>> find_classes(np.array([3, -1, 3])).tolist()
    [-1, 3]
    """
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < SPAN:
            present = np.zeros(high - low + 1, dtype=bool)
            present[y.astype(np.int64) - low] = True
            return np.flatnonzero(present).astype(y.dtype) + y.dtype.type(low)
    check_classification_targets(y)
    return np.unique(y)


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The place of each label among the sorted classes, -1 where it is none of them.

    Examples
    --------
    >>> import numpy as np
    >>> encode(np.array(["b", "a", "c"]), np.array(["a", "b"])).tolist()
    [1, 0, -1]
    """
    if len(classes) == 2 and y.dtype.kind in "iu":
        codes = (y == classes[1]).astype(np.int32)
        codes[(codes == 0) & (y != classes[0])] = -1
        return codes
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1).astype(np.int32)
    return np.where(classes[place] == y, place, -1).astype(np.int32)
