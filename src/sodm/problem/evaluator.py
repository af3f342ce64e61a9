"""Kernel values, computed: in which precision, and by how many threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm import _core
from sodm.problem.chunks import chunks
from sodm.problem.kernels import Kernel
from sodm.problem.row_types import Rows
from sodm.problem.rows import canonical, csr_parts

Precision = Literal["single", "double"]
Source = _core.Points | _core.MatrixSource | _core.FunctionSource  # where the core takes kernel values from


@dataclass(frozen=True)
class KernelEvaluator:
    """The operations on a kernel.

    Parameters
    ----------
    kernel : Kernel
    precision : {"single", "double"}
        Of kernel values. Sums over them are always kept in double.
    n_threads : int
        No result depends on it.

    Examples
    --------
    >>> import numpy as np
    >>> evaluator = KernelEvaluator(Kernel("poly", gamma=1.0, degree=2, coef0=1.0), "double")
    >>> evaluator.block(np.array([[1.0], [2.0]]), np.array([[3.0]])).tolist()
    [[16.0], [49.0]]
    >>> evaluator.apply(np.array([[1.0], [2.0]]), np.array([[3.0]]), np.array([10.0])).tolist()
    [160.0, 490.0]
    """

    kernel: Kernel
    precision: Precision = "single"
    n_threads: int = 1

    @property
    def precomputed(self) -> bool:
        """Whether rows are rows of the kernel matrix."""
        return self.kernel.name == "precomputed"

    def in_double(self) -> KernelEvaluator:
        """The same in double precision."""
        return KernelEvaluator(self.kernel, "double", self.n_threads)

    def block(self, A: Any, B: Any) -> NDArray[np.float64]:
        """The matrix K(A, B) of two sets of rows or prepared points; of a "precomputed" kernel, A itself."""
        if not self.kernel.compiled:
            return self.kernel.call(A, B) + self.kernel.offset
        a, b = self._pair(A, B)
        return _core.block(a, b, self.n_threads)

    def two_smallest(
        self, A: Any, B: Any, shift: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Which rows of B have the two smallest values of K(A, B) + shift, for each row of A, and these
        values, both of shape (n_a, 2); of equal ones the first. If B has one row, that is the second too, at
        infinity. Of compiled kernels.

        Examples
        --------
        >>> evaluator = KernelEvaluator(Kernel("linear"), "double")
        >>> which, values = evaluator.two_smallest(
        ...     np.ones((1, 1)), np.array([[3.0], [1.0], [1.0]]), np.zeros(3)
        ... )
        >>> which.tolist(), values.tolist()
        ([[1, 2]], [[1.0, 1.0]])
        """
        a, b = self._pair(A, B)
        return _core.two_smallest(a, b, np.ascontiguousarray(shift, dtype=np.float64), self.n_threads)

    def apply(self, A: Any, B: Any, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product K(A, B) V for one or several columns V, without ever storing K."""
        columns = np.ascontiguousarray(np.asarray(V, dtype=np.float64).reshape(len(V), -1).T)
        if self.kernel.compiled:
            a, b = self._pair(A, B)
            unit = _units(columns)
            product = _core.apply(b, a, columns / unit[:, None], self.n_threads).T * unit
        else:
            product = np.empty((A.shape[0], columns.shape[0]))
            for rows in chunks(A.shape[0], columns.shape[1]):
                product[rows] = self.kernel.call(A[rows], B) @ columns.T
            product += self.kernel.offset * columns.sum(axis=1)
        return product if np.ndim(V) == 2 else product[:, 0]

    def apply_parts(self, A: Any, B: Any, V: NDArray[np.float64], sizes: NDArray[Any]) -> NDArray[np.float64]:
        """The products K(A, B_c) V_c of parts B_0, B_1, ... of B that follow each other.

        Parameters
        ----------
        A, B : as for `apply`
        V : ndarray, shape (n_columns, n_b)
        sizes : ndarray of int
            How many rows of B each part has.

        Returns
        -------
        ndarray, shape (n_parts, n_columns, n_a)
        """
        if self.kernel.compiled:
            a, b = self._pair(A, B)
            bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            product = _core.apply_parts(
                b, a, np.ascontiguousarray(V, dtype=np.float64), bounds, self.n_threads
            )
            return product.reshape(len(sizes), len(V), A.n if isinstance(A, _core.Points) else A.shape[0])
        product = np.zeros((len(sizes), len(V), A.shape[0]))
        first = 0
        for part, size in enumerate(np.asarray(sizes).tolist()):
            own = slice(first, first + size)
            if size and self.precomputed:
                product[part] = self.apply(A[:, own], None, V[:, own].T).T
            elif size:
                product[part] = self.apply(A, B[own], V[:, own].T).T
            first += size
        return product

    def diag(self, A: Rows) -> NDArray[np.float64]:
        """The values k(x, x)."""
        return self.kernel.diag(A)

    # ------------------------------------------------------------------------------------ for the core

    def points(self, X: Rows, like: _core.Points | None = None) -> _core.Points:
        """Rows prepared for the core, laid out like other points they will be paired with."""
        kernel = self.kernel
        if callable(kernel.name) or not kernel.compiled:
            raise ValueError(f"kernel {kernel.name!r} has no points, only values.")
        function = _core.KernelFunction(kernel.name, kernel.gamma, kernel.coef0, kernel.degree, kernel.offset)
        X, twice = canonical(X), self.precision == "double"
        if not sparse.issparse(X):
            return _core.Points.dense(X, function, twice, like)
        if X.shape[1] > np.iinfo(np.int32).max:
            raise ValueError(f"X has {X.shape[1]} columns; kernels take at most 2**31 - 1.")
        return _core.Points.csr(*csr_parts(X), X.shape[1], function, twice, like)

    def source(self, X: Rows) -> Source:
        """Where a solver takes kernel values from; for "precomputed", X is the matrix itself."""
        kernel, X, twice = self.kernel, canonical(X), self.precision == "double"
        if self.precomputed:
            return _core.MatrixSource(X, kernel.offset, twice)
        if callable(kernel.name):

            def values(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
                return kernel.call(X[rows], X[columns])

            return _core.FunctionSource(kernel.diag(X) - kernel.offset, kernel.offset, values, twice)
        return self.points(X)

    def _pair(self, A: Any, B: Any) -> tuple[_core.Points, _core.Points]:
        """Both sides prepared alike; a side that is prepared already decides the layout."""
        if A is B:
            A = B = A if isinstance(A, _core.Points) else self.points(A)
        elif isinstance(A, _core.Points):
            B = B if isinstance(B, _core.Points) else self.points(B, like=A)
        else:
            B = B if isinstance(B, _core.Points) else self.points(B)
            A = self.points(A, like=B)
        return A, B


def _units(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Powers of two, by which coefficients that single precision has no numbers for are divided; 1 of
    others."""
    size = np.max(np.abs(columns), axis=1, initial=0.0)
    power = np.round(np.log2(np.where(size > 0, size, 1.0)))
    return np.exp2(np.where(np.abs(power) > 60, power, 0.0))
