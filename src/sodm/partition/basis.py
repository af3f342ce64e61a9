"""Some rows kept to compare others with: landmarks, or the rows that clusters are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.partition.base import KernelLike
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import Rows

# Kernel values held at a time: 32 MB of doubles.
_VALUES = 2**22


def is_precomputed(kernel: KernelLike) -> bool:
    """Whether rows are rows of the kernel matrix; a kernel of the caller's own need not say."""
    return getattr(kernel, "precomputed", False)


def chunks(n: int, width: int) -> Iterator[slice]:
    """Runs of rows, so short that a block of `width` values a row stays small."""
    step = max(1, _VALUES // max(1, width))
    return (slice(start, min(n, start + step)) for start in range(0, n, step))


@dataclass(frozen=True)
class Basis:
    """Rows of a data set X, with their kernel.

    For a precomputed kernel X is the matrix of its values, and the rows' points are columns of it: nothing
    is kept but their numbers.
    """

    kernel: KernelLike
    rows: NDArray[np.intp]
    points: Rows | None

    @classmethod
    def of(cls, kernel: KernelLike, X: Rows | RowSet, rows: NDArray[np.intp]) -> Basis:
        return cls(kernel, rows, None if is_precomputed(kernel) else X[rows])

    def block(self, X: Rows) -> NDArray[np.float64]:
        """K(X, basis)."""
        if is_precomputed(self.kernel):
            return self.kernel.block(X[:, self.rows], None)
        return self.kernel.block(X, self.points)

    def apply(self, X: Rows, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """K(X, basis) V."""
        if is_precomputed(self.kernel):
            return self.kernel.apply(X[:, self.rows], self.points, V)
        return self.kernel.apply(X, self.points, V)

    def gram(self, X: Rows | RowSet) -> NDArray[np.float64]:
        """K(basis, basis), from the data set the basis was taken from."""
        return self.block(X[self.rows])


def diagonal(kernel: KernelLike, X: Rows | RowSet, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """k(x, x) of these rows."""
    return kernel.diag(inside(kernel, X, rows))


def inside(kernel: KernelLike, X: Rows | RowSet, rows: NDArray[np.intp]) -> Rows:
    """These rows as a data set of their own."""
    return X[rows][:, rows] if is_precomputed(kernel) else X[rows]


def greedy_pivots(
    kernel: KernelLike, X: Rows | RowSet, rows: NDArray[np.intp], rank: int
) -> NDArray[np.intp]:
    """Positions in `rows` of the pivots of a partial Cholesky factor of their Gram matrix.

    The first row is the first pivot, unless it is zero in feature space.
    """
    chosen = inside(kernel, X, rows)
    if hasattr(kernel, "source"):
        source = kernel.source(chosen)
    else:

        def block(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.ascontiguousarray(kernel.block(chosen[a], chosen[b]), dtype=np.float64)

        source = _core.FunctionSource(kernel.diag(chosen), 0.0, block, True)
    return _core.pivoted_cholesky(source, rank, first=0, n_threads=getattr(kernel, "n_threads", 1))[0]
