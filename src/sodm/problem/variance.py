"""The variance of all values of a data set, which gamma="scale" goes by."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.problem.chunks import chunks
from sodm.problem.moments import csr_row_moments, csr_variance
from sodm.problem.ordered_sums import dot
from sodm.problem.row_types import Rows

Array = NDArray[np.float64]


def array_variance(X: Rows, shares: Array, n_threads: int = 1) -> float:
    """Variance of all values of an array or CSR matrix, rows counted by their shares, without a copy of X."""
    n, d = X.shape
    if sparse.issparse(X):
        return csr_variance(X, shares)
    runs = list(chunks(n, d))
    if n_threads == 1 or len(runs) == 1:
        return _dense_variance(X, shares, runs, map)
    with ThreadPoolExecutor(n_threads) as pool:
        return _dense_variance(X, shares, runs, pool.map)


def _dense_variance(X: NDArray[Any], shares: Array, runs: list[slice], over: Callable[..., Any]) -> float:
    """That of an array; `over` maps a function over runs of rows, whose sums are added up in their order."""
    d = X.shape[1]
    # A NumPy scalar, so that single precision is not subtracted in single precision.
    mean = np.float64(sum(over(lambda s: dot(shares[s], X[s].sum(axis=1, dtype=np.float64)), runs)) / d)

    def spread(s: slice) -> float:
        return dot(shares[s], np.square(X[s] - mean).sum(axis=1, dtype=np.float64))

    return sum(over(spread, runs)) / d


def variance_from_moments(
    map_rows: Callable[[Callable[[Rows], Array]], Array], shape: tuple[int, int], shares: Array
) -> float:
    """The same in one pass over rows that are elsewhere: of each row its mean and its own variance."""
    n, d = shape

    def add_up(numbers: Array) -> float:
        return sum(dot(shares[s], numbers[s]) for s in chunks(n, d))

    means, own = map_rows(row_moments).T
    return max(add_up(own) + add_up((means - add_up(means)) ** 2), 0.0)


def row_moments(rows: Rows) -> Array:
    """Mean and variance of the values of each row."""
    if sparse.issparse(rows):
        return np.column_stack(csr_row_moments(rows))
    means = rows.mean(axis=1, dtype=np.float64)
    return np.column_stack([means, ((rows - means[:, None]) ** 2).mean(axis=1, dtype=np.float64)])
