"""Products of vectors that are the same bits on every machine.

BLAS adds up long vectors by as many threads as the machine has, so that bits depend on it; and its threads go
on to wait busily for more, on the cores that our own threads are to have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def dot(a: Array, b: Array) -> float:
    """<a, b>."""
    return float(np.einsum("i,i->", a, b))


def row_sums(rows: Array, weights: Array) -> Array:
    """The sum over each row of its values times these weights."""
    return np.einsum("ij,j->i", rows, weights)
