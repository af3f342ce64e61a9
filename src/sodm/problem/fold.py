"""Repeated rows, folded.

Rows equal in x and in label have equal margins and, the problem being strictly convex, equal duals: k copies
are exactly one row of weight k. Four fifths of skin-nonskin are repeats: a large saving, and an exact one.

Where margins have offsets, those must be equal too.

The rows left are put in an order that depends on their values and labels alone. So a fit is the same, to the
last bit, whatever the order of the rows, dense or CSR, repeated or weighted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm.problem.array_rows import as_row_set
from sodm.problem.row_types import Rows


@dataclass(frozen=True)
class Folded:
    """What is left of the rows.

    Attributes
    ----------
    first : ndarray of int64, shape (n_kept,)
        The rows kept: the first of each set of equal rows, ordered by a hash of their values and labels.
    weights : ndarray of float64, shape (n_kept,)
        The summed weights of the rows that each kept row stands for.
    group : ndarray of int64, shape (n,)
        For every row, the position in `first` of the row that stands for it.
    """

    first: NDArray[np.int64]
    weights: NDArray[np.float64]
    group: NDArray[np.int64]


def fold(
    X: Rows,
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_threads: int = 1,
    offset: NDArray[np.float64] | None = None,
) -> Folded:
    """Fold rows that are equal in every feature, in their label and in their offsets.

    Parameters
    ----------
    X : ndarray or CSR matrix of float32 or float64, shape (n, n_features), or RowSet
        Dense with any strides, or CSR in canonical format. 0.0 equals -0.0, and a stored zero is no value.
    labels : ndarray of int64, shape (n,)
    weights : ndarray of float64, shape (n,)
    n_threads : int
        The result does not depend on it.
    offset : ndarray of float64, shape (n_problems, n), optional
        What is added to the margins: rows of different offsets are different rows.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [1.0, 2.0]])
    >>> folded = fold(X, np.array([0, 1, 0, 1]), np.ones(4))
    >>> sorted(folded.first.tolist())
    [0, 1, 3]
    >>> folded.weights[folded.group].tolist()
    [2.0, 1.0, 2.0, 1.0]
    """
    labels = np.ascontiguousarray(labels, dtype=np.int64)
    if offset is not None:
        # Their ranks, which depend on values alone: neither on the order of the rows nor on repeats.
        for own in offset:
            ranks = np.unique(own, return_inverse=True)[1]
            labels = np.unique(labels * len(own) + ranks, return_inverse=True)[1].astype(np.int64)
    first, group = as_row_set(X).find_repeats(labels, n_threads)
    summed = np.bincount(group, weights, minlength=len(first)).astype(np.float64, copy=False)
    return Folded(first, summed, group)


def row_hashes(X: Rows, n_threads: int = 1, labels: NDArray[np.int64] | None = None) -> NDArray[np.uint64]:
    """A hash of the values of every row, the same for dense and CSR, single and double.

    With labels, it is the hash by which `fold` orders the rows.
    """
    return as_row_set(X).hashes(labels, n_threads)
