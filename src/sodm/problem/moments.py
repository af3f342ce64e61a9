"""Means and variances of CSR rows, zeros counted too.

The mean square less the squared mean loses all its digits where values are far from zero. Here deviations are
squared, those of the zeros with the others, so that sparse and dense rows have the same variance to rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sodm.problem.ordered_sums import dot
from sodm.problem.row_types import Csr

Array = NDArray[np.float64]


def csr_variance(X: Csr, share: Array) -> float:
    """Variance of all values of X around their mean, row i having the share `share[i]` in both.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> csr_variance(sparse.csr_matrix([[1e9, 1e9 + 2.0]]), np.ones(1))
    1.0
    """
    mean = dot(share, _row_means(X))
    return dot(share, _row_variances(X, np.full(X.shape[0], mean)))


def csr_row_moments(X: Csr) -> tuple[Array, Array]:
    """Mean and variance of each row."""
    means = _row_means(X)
    return means, _row_variances(X, means)


def _row_means(X: Csr) -> Array:
    return _row_sums(X, X.data.astype(np.float64, copy=False)) / X.shape[1]


def _row_variances(X: Csr, centres: Array) -> Array:
    """Of each row, the mean squared distance of its values to its centre."""
    counts = np.diff(X.indptr)
    deviations = X.data - np.repeat(centres, counts)  # in double, as the centres are
    return (_row_sums(X, deviations**2) + (X.shape[1] - counts) * centres**2) / X.shape[1]


def _row_sums(X: Csr, values: Array) -> Array:
    """Sums over the rows of X of values that stand where its own do."""
    filled = np.flatnonzero(np.diff(X.indptr))  # `reduceat` takes no empty rows
    sums = np.zeros(X.shape[0])
    if len(filled):
        sums[filled] = np.add.reduceat(values, X.indptr[filled])
    return sums
