"""Rows in memory, and how rows of any kind are made a set of rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm import _core
from sodm.problem.csr import check_csr, check_sparse
from sodm.problem.row_set import Array, Index, RowSet
from sodm.problem.row_types import Rows
from sodm.problem.rows import csr_parts
from sodm.problem.variance import array_variance

ROWS_AT_ONCE = 2**18  # of a sum over rows, which copies them


class ArrayRows(RowSet):
    """The rows of an array or CSR matrix.

    Parameters
    ----------
    values : ndarray or CSR matrix
        Not copied.
    """

    in_memory = True

    def __init__(self, values: Rows) -> None:
        self.values = values
        self.shape = (int(values.shape[0]), int(values.shape[1]))
        self.sparse = sparse.issparse(values)

    def __getitem__(self, index: Index | slice) -> Rows:
        return self.values[index]

    def select(self, index: Index, n_threads: int = 1) -> ArrayRows:
        floats = self.values.dtype in (np.float32, np.float64)
        if n_threads == 1 or self.sparse or not floats or not self.values.flags.c_contiguous:
            return ArrayRows(self.values[index])
        index = np.ascontiguousarray(index, dtype=np.int64)
        return ArrayRows(_core.take_rows(self.values, index, n_threads))

    def map_rows(
        self, function: Callable[..., NDArray[Any]], own: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        return function(self.values) if own is None else function(self.values, own)

    def sum_over_rows(self, function: Callable[[Rows, Array], Array], coefficients: Array) -> Array:
        used = np.flatnonzero(np.any(coefficients != 0, axis=0))
        runs = (used[first : first + ROWS_AT_ONCE] for first in range(0, len(used), ROWS_AT_ONCE))
        return reduce(np.add, (function(self.values[run], coefficients[:, run]) for run in runs))

    def gather(self) -> Rows:
        return self.values

    def find_repeats(
        self, labels: NDArray[np.int64], n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """As for all rows; these are compared value by value."""
        if self.sparse:
            return _core.fold_csr(*csr_parts(self.values), self.shape[1], labels, n_threads)
        return _core.fold_dense(self.values, labels, n_threads)

    def variance(self, shares: Array, n_threads: int = 1) -> float:
        return array_variance(self.values, shares, n_threads)


def as_row_set(X: Any) -> RowSet:
    """X as a set of rows: an array or sparse matrix is wrapped, a set of rows is one already.

    A sparse matrix whose indices do not fit is refused.
    """
    if isinstance(X, RowSet):
        return X
    if sparse.issparse(X):
        X = check_sparse(X).tocsr()
        check_csr(X)
    else:
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features; it has {X.ndim}.")
    return ArrayRows(X)
