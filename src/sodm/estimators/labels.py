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
        low, high = y.min(), y.max()
        if np.all((y == low) | (y == high)):
            return np.array([low] if low == high else [low, high], dtype=y.dtype)
        if int(high) - int(low) < SPAN:
            present = np.zeros(int(high) - int(low) + 1, dtype=bool)
            present[y.astype(np.int64) - int(low)] = True
            return (np.flatnonzero(present) + int(low)).astype(y.dtype)
    check_labels(y)
    return np.unique(y)


def classes_and_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """`np.unique` with the inverse, in a fraction of the time where labels are many and classes few.

    Examples
    --------
    >>> import numpy as np
    >>> [found.tolist() for found in classes_and_codes(np.array(["b", "a", "b"]))]
    [['a', 'b'], [1, 0, 1]]
    """
    classes = np.unique(y)
    if len(classes) == 2:
        return classes, (y == classes[1]).astype(np.intp)
    return classes, np.searchsorted(classes, y)


def check_labels(y: NDArray[Any]) -> None:
    """Refuse what are no class labels, and text among labels of other kinds, which have no order.

    Examples
    --------
    >>> import numpy as np
    >>> check_labels(np.array(["a", 1], dtype=object))
    Traceback (most recent call last):
    ValueError: y mixes text ('a') and other labels (1): make all of them text, or all numbers.
    """
    if y.dtype.kind == "O":
        text = [isinstance(label, str) for label in y.ravel()]
        if any(text) and not all(text):
            one, other = y.ravel()[text.index(True)], y.ravel()[text.index(False)]
            raise ValueError(
                f"y mixes text ({one!r}) and other labels ({other!r}): make all of them text, or all numbers."
            )
    check_classification_targets(y)


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The place of each label among the sorted classes, -1 where it is none of them.

    Examples
    --------
    >>> import numpy as np
    >>> encode(np.array(["b", "a", "c"]), np.array(["a", "b"])).tolist()
    [1, 0, -1]
    """
    if len(classes) == 2 and y.dtype.kind in "iu":
        second = y == classes[1]
        codes = second.astype(np.int32)
        neither = (y != classes[0]) & ~second
        if np.any(neither):
            codes[neither] = -1
        return codes
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1).astype(np.int32)
    return np.where(classes[place] == y, place, -1).astype(np.int32)
