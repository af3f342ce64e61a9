"""Kernels: their names, formulas, parameters and gamma rules.

    linear      <x, z>
    rbf         exp(-gamma |x - z|^2)
    poly        (gamma <x, z> + coef0)^degree
    sigmoid     tanh(gamma <x, z> + coef0)
    laplacian   exp(-gamma |x - z|_1)

or a stored matrix ("precomputed"), or a function of two sets of rows that returns the block of their values.
To all of them `offset` is added, a constant feature in kernel space, which is how a bias term enters. How the
values are computed, in which precision and by how many threads, is said elsewhere: see `evaluator`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.array_rows import as_row_set
from sodm.problem.chunks import chunks
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import Rows, is_sparse
from sodm.problem.rows import canonical

KERNELS = ("linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed")


def resolve_gamma(
    gamma: str | float, X: Rows | RowSet, weights: NDArray[np.float64] | None = None, n_threads: int = 1
) -> float:
    """The number that a gamma rule means for these rows.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float
        "scale" is 1 / (n_features * variance of all values of X), "auto" is 1 / n_features.
    X : ndarray, CSR matrix or RowSet
    weights : ndarray, optional
        A row of weight k counts as k rows.
    n_threads : int
        The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> resolve_gamma("scale", np.array([[0.0, 2.0], [2.0, 0.0]]))
    0.5
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        n = X.shape[0]
        shares = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        with np.errstate(over="ignore", invalid="ignore"):
            variance = as_row_set(X).variance(shares, n_threads)
        if not np.isfinite(variance):
            raise ValueError(
                "X has values too large to be squared: scale it first, or mend what is wrong in it."
            )
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    raise ValueError(f"gamma must be 'scale', 'auto' or a number, got {gamma!r}.")


def is_symmetric(K: NDArray[Any]) -> bool:
    """Whether a square matrix equals its transpose, up to rounding in single precision."""
    largest = max((float(np.abs(K[s]).max()) for s in chunks(*K.shape)), default=0.0)
    return all(float(np.abs(K[s] - K[:, s].T).max()) <= 1e-5 * largest for s in chunks(*K.shape))


@dataclass(frozen=True)
class Kernel:
    """A kernel with all its numbers.

    Parameters
    ----------
    name : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable
        A callable takes two sets of rows, (n_a, d) and (n_b, d), and returns their (n_a, n_b) kernel values.
    gamma : float
        In exp(-gamma |x - z|^2) of rbf, exp(-gamma |x - z|_1) of laplacian, (gamma <x, z> + coef0)^degree of
        poly and tanh(gamma <x, z> + coef0) of sigmoid; `resolve_gamma` makes a number of a rule.
    degree : int
        Of poly.
    coef0 : float
        Of poly and sigmoid.
    offset : float
        Added to all kernel values: a constant feature in kernel space.

    Examples
    --------
    >>> import numpy as np
    >>> Kernel("poly", gamma=1.0, degree=2, coef0=1.0).diag(np.array([[1.0], [2.0]])).tolist()
    [4.0, 25.0]
    """

    name: str | Callable[[Any, Any], Any] = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    offset: float = 0.0

    @property
    def compiled(self) -> bool:
        """Whether the core knows this kernel by name."""
        return not callable(self.name) and self.name != "precomputed"

    @property
    def definite(self) -> bool:
        """Whether it is positive semidefinite by its formula."""
        return self.name in ("linear", "rbf", "laplacian") or (self.name == "poly" and self.coef0 >= 0)

    def diag(self, A: Rows) -> NDArray[np.float64]:
        """The values k(x, x), in double precision."""
        if self.name == "precomputed":
            return np.diagonal(A).astype(np.float64) + self.offset
        if callable(self.name):
            # A block of 16 rows costs 16 times the values that are needed, and a 16th of the calls.
            parts = [np.diagonal(self.call(A[i : i + 16], A[i : i + 16])) for i in range(0, A.shape[0], 16)]
            return np.concatenate(parts) + self.offset
        if self.name in ("rbf", "laplacian"):
            return np.full(A.shape[0], 1.0 + self.offset)
        A = canonical(A)
        if is_sparse(A):
            A = A.astype(np.float64, copy=False)
            product = np.asarray(A.multiply(A).sum(axis=1)).ravel()
        else:
            product = np.einsum("ij,ij->i", A, A, dtype=np.float64)
        if self.name == "poly":
            product = (self.gamma * product + self.coef0) ** self.degree
        if self.name == "sigmoid":
            product = np.tanh(self.gamma * product + self.coef0)
        return product + self.offset

    def call(self, A: Any, B: Any) -> NDArray[np.float64]:
        """Values of a callable, checked; the matrix A itself for "precomputed". Without the offset."""
        if not callable(self.name):
            return np.asarray(A, dtype=np.float64)
        returned = self.name(A, B)
        if is_sparse(returned):  # a block of values, small enough to be dense
            returned = returned.toarray()
        values = np.asarray(returned, dtype=np.float64)
        if values.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"the kernel function returned an array of shape {values.shape} for {A.shape[0]} and "
                f"{B.shape[0]} rows; it must return one value per pair, shape {(A.shape[0], B.shape[0])}."
            )
        if not np.isfinite(values).all():
            raise ValueError("the kernel function returned NaN or infinite values.")
        return np.ascontiguousarray(values)
