"""The classes of the linear machine, and what is said about labels that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.estimators.labels import encode


def need_two_classes(machine: str, classes: NDArray[Any], weighted: bool = False) -> None:
    """Refuse fewer than two classes; `weighted` says that some rows were left out for their weight."""
    if len(classes) < 2:
        seen = f"one class only, {classes.tolist()[0]!r}" if len(classes) else "no class at all"
        where = " where sample_weight > 0" if weighted else ""
        raise ValueError(f"{machine} needs two or more classes: y has {seen}{where}.")


def encode_known(
    y: NDArray[Any], classes: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> NDArray[np.int32]:
    """Class numbers of labels that must all be known; those of rows without weight need not be.

    Examples
    --------
    >>> import numpy as np
    >>> encode_known(np.array([5, 7, 9]), np.array([5, 7]), np.array([1.0, 1.0, 0.0])).tolist()
    [0, 1, -1]
    """
    codes = encode(y, classes)
    unknown = codes < 0 if weights is None else (codes < 0) & (weights > 0)
    if np.any(unknown):
        label = y[[np.argmax(unknown)]].tolist()[0]
        raise ValueError(f"y has the label {label!r}, which is not in classes: {classes.tolist()}.")
    return codes
