"""What every partitioner takes and gives."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from sodm.problem.array_rows import as_row_set
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import Rows

RandomState = int | np.random.RandomState | None


class KernelLike(Protocol):
    """Kernel values, as far as partitions need them; `sodm.problem.evaluator.KernelEvaluator` gives them."""

    def block(self, A: Any, B: Any) -> NDArray[np.float64]:
        """The matrix K(A, B)."""

    def apply(self, A: Any, B: Any, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product K(A, B) V."""

    def diag(self, A: Rows) -> NDArray[np.float64]:
        """The values k(x, x)."""


class Partitioner(BaseEstimator):
    """Divides rows into partitions. Subclasses say how, in `_split`."""

    def split(
        self,
        X: Any,
        y: ArrayLike | None,
        n_partitions: int,
        kernel: Kernel | KernelLike | None = None,
        random_state: RandomState = None,
    ) -> NDArray[np.intp]:
        """The number of the partition of each row.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, n_features), or RowSet
            The rows; for a precomputed kernel, the matrix of its values.
        y : array of shape (n,) or None
            Class labels, of any kind. None: rows have no class.
        n_partitions : int
            K, from 1 to n.
        kernel : Kernel or KernelLike, optional
            What distances are measured with; partitioners in input space do without. The values of a Kernel
            are computed in single precision by one thread, those of a KernelEvaluator as it says.
        random_state : int, RandomState or None
            The same number gives the same partitions, whatever the number of threads.

        Returns
        -------
        assignment : int array of shape (n,)
            Values from 0 to K - 1.
        """
        X = as_row_set(X)
        n = X.shape[0]
        check_n_partitions(n_partitions, n)
        rng = check_random_state(random_state)
        values = None if kernel is None else evaluator_of(kernel)
        return self._split(X, class_codes(y, n), int(n_partitions), values, rng)

    @abstractmethod
    def _split(
        self,
        X: RowSet,
        classes: NDArray[np.intp],
        n_partitions: int,
        kernel: KernelLike | None,
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]: ...


def check_n_partitions(n_partitions: Any, n: int) -> None:
    if check_at_least_one(n_partitions, "n_partitions") > n:
        raise ValueError(f"n_partitions={n_partitions} is more than the {n} rows of X; use at most {n}.")


def class_codes(y: ArrayLike | None, n: int) -> NDArray[np.intp]:
    """Class numbers 0, 1, ... for labels of any kind; all 0 where there are none."""
    if y is None:
        return np.zeros(n, dtype=np.intp)
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must have one label for each of the {n} rows of X; its shape is {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp, copy=False)


def evaluator_of(kernel: Kernel | KernelLike) -> KernelLike:
    """What computes the values of a kernel."""
    return KernelEvaluator(kernel) if isinstance(kernel, Kernel) else kernel


def require_kernel(kernel: KernelLike | None, owner: object) -> KernelLike:
    if kernel is None:
        raise ValueError(f"{type(owner).__name__} works in the feature space of a kernel: pass kernel=.")
    return kernel


def check_at_least_one(value: Any, name: str) -> int:
    if not isinstance(value, Integral) or int(value) < 1:
        raise ValueError(f"{name} must be a whole number from 1 on, got {value!r}.")
    return int(value)
