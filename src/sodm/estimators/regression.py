"""What all regressors with a kernel share: from targets to a training problem, and from its duals to f."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from sodm.estimators import defaults
from sodm.estimators.kernel_machine import FLOATS, Checked, KernelMachine, KernelName, unchanged_on_failure
from sodm.estimators.parameters import check_number
from sodm.estimators.threads import threads_for
from sodm.estimators.weights import check_sample_weight
from sodm.problem.csr import check_sparse
from sodm.problem.problem import Problem
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import MatrixLike, Rows
from sodm.problem.rows import canonical
from sodm.problem.targets import FoldedTargets, TargetProblem, fold_targets, target_problem
from sodm.problem.text_columns import refuse_text_targets
from sodm.solvers.result import SolveResult
from sodm.training.trained import Trained

Array = NDArray[np.float64]


class KernelMachineRegressor(RegressorMixin, KernelMachine):
    """Base of the regressors with a kernel: everything but the trainer and its parameters."""

    def __init__(
        self,
        *,
        lam: float = defaults.REGRESSION_LAM,
        upsilon: float = 1.0,
        epsilon: float = 0.0,
        fit_intercept: bool = True,
        **shared: Any,
    ) -> None:
        super().__init__(lam=lam, upsilon=upsilon, fit_intercept=fit_intercept, **shared)
        self.epsilon = epsilon

    # --------------------------------------------------------------------------------------------- fit

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> KernelMachineRegressor:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            float32 and float64 are used as they are, without a copy. With ``kernel="precomputed"``, the
            symmetric kernel matrix of shape (n_samples, n_samples).
        y : array-like, shape (n_samples,) or (n_samples, n_targets)
            Targets. Several are solved together, on the same kernel values.
        sample_weight : array-like, shape (n_samples,), optional
            Non-negative. A row of weight k counts exactly as k rows; a row of weight 0 is left out.

        Returns
        -------
        self
            A fit that fails or is interrupted leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            return self._fit_rows(*self._check_data(X, y, sample_weight))

    def _check_data(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Checked:
        """Rows, targets of shape (n,) or (n, n_targets), weights and kernel, checked with the parameters."""
        self._check_parameters()
        X, kernel = self._rows_and_kernel(X)
        X, y = validate_data(
            self,
            check_sparse(X),
            refuse_text_targets(y, type(self).__name__),
            accept_sparse="csr",
            dtype=FLOATS,
            accept_large_sparse=True,
            multi_output=True,
            y_numeric=True,
        )
        X = self._check_kernel_matrix(canonical(X))
        return X, np.asarray(y, dtype=np.float64), check_sample_weight(sample_weight, X.shape[0]), kernel

    def _state_problem(
        self, X: Rows | RowSet, y: NDArray[Any], weights: Array, kernel: KernelName
    ) -> tuple[TargetProblem, NDArray[np.int64]]:
        """Leave out rows of weight zero and fold repeats; which rows of X are left is returned too."""
        kept = np.flatnonzero(weights)
        weights, rows = weights[kept], self._with_weight(X, kept)
        values = np.ascontiguousarray(y[kept].reshape(len(kept), -1).T)
        if self.kernel != "precomputed":
            means = self.epsilon == 0 and self.upsilon == 1
            folded = fold_targets(rows, values, weights, threads_for(self.n_jobs), means=means)
            rows, kept = rows.select(folded.kept), kept[folded.kept]
        else:
            folded = FoldedTargets(kept, values, weights, np.zeros(len(values)))
        problem = target_problem(
            rows,
            folded,
            self._kernel_for(kernel, rows, folded.weights, 0.0),
            lam=float(self.lam),
            upsilon=self.upsilon,
            epsilon=self.epsilon,
            centred=bool(self.fit_intercept),
        )
        start = self._warm_duals(problem, kept) if self.warm_start else None
        return replace(problem, start=start, flat=y.ndim == 1), kept

    def _warm_duals(self, problem: TargetProblem, kept: NDArray[np.int64]) -> Array | None:
        """The duals of the last fit, if its support vectors are where they were; None otherwise."""
        at = self._support_places(problem.rows, kept)
        if at is None or len(self.dual_coef_) != len(problem.signs):
            return None
        start = np.zeros_like(problem.signs)
        start[:, at] = self.dual_coef_ / problem.unit[:, None]
        return start

    def _set_fitted(self, problem: Problem, trained: Trained, kept: NDArray[np.int64]) -> None:
        """Support vectors and the numbers of the fit, in the units of the targets."""
        assert isinstance(problem, TargetProblem)
        coefficients = trained.result.duals * problem.unit[:, None]
        self._set_expansion(problem, self._in_units(problem, trained.result), kept, coefficients)
        self.intercept_, self._flat = problem.centre, problem.flat

    @staticmethod
    def _in_units(problem: TargetProblem, result: SolveResult) -> SolveResult:
        """The numbers of the fit as they are in the units of the targets, with what folding left out."""
        unit = problem.unit
        left_out = problem.loss.lam / (2 * problem.weights.sum()) * problem.spread / unit / unit
        whole = result.objective + left_out
        gap = result.gap * result.objective / np.maximum(whole, np.finfo(float).tiny)
        return replace(result, objective=whole * unit * unit, gap=gap, violation=result.violation * unit)

    # ------------------------------------------------------------------------------------------- values

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many support vectors there are, as of scikit-learn's SVR: an array of one number."""
        return np.array([len(self.support_)], dtype=np.int32)

    def predict(self, X: MatrixLike) -> Array:
        """The values f(x) for each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            With ``kernel="precomputed"``, the kernel values of the samples and the rows of the fit.

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_targets), as y was
        """
        values = self._values(X)
        return values[:, 0] if self._flat else values

    # ------------------------------------------------------------------------------- checks and messages

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("upsilon", self.upsilon, "> 0", lambda v: v > 0)
        check_number("epsilon", self.epsilon, ">= 0", lambda v: v >= 0)

    def _name_of(self, problem: int) -> str:
        return f"target {problem}"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
