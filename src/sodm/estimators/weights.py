"""Sample weights and class weights, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from sodm.estimators.parameters import check_number

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None  # factors by label


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """One weight >= 0 per row, not all of them zero; None is 1 for every row, a number the same for all."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n, weights)
    weights = check_array(weights, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one weight per row, shape ({n},); got {weights.shape}.")
    if np.any(weights < 0):
        row = int(np.argmax(weights < 0))
        raise ValueError(f"sample_weight must not be negative: the weight of row {row} is {weights[row]:g}.")
    if not np.any(weights > 0):
        raise ValueError("sample_weight is zero for every row: there must be rows with a weight > 0.")
    return weights


def class_weights(
    class_weight: ClassWeight, classes: NDArray[Any], codes: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One positive factor per class.

    "balanced" gives every class the same total weight, counting the weights of its rows, so that a row of
    weight k is k rows here too; a dictionary names the factors of classes that are not to have 1.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight must be None, 'balanced' or a dictionary, got {class_weight!r}.")
        totals = np.bincount(codes, weights, minlength=len(classes))
        return weights.sum() / (len(classes) * totals)
    if not hasattr(class_weight, "items"):
        raise ValueError(f"class_weight must be None, 'balanced' or a dictionary, got {class_weight!r}.")
    factors = np.ones(len(classes))
    for label, factor in class_weight.items():
        at = np.flatnonzero(classes == label)
        if len(at) == 0:
            raise ValueError(
                f"class_weight names the class {label!r}, which is not in y: {classes.tolist()}."
            )
        check_number(f"class_weight of class {label!r}", factor, "> 0", lambda v: v > 0)
        factors[at[0]] = factor
    return factors
