"""What all classifiers with a kernel share: from labels to a training problem, and from its duals to labels.

A machine differs from the next only in its trainer: a subclass has its own parameters and its own `_trainer`.
"""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from sodm import _core
from sodm.estimators import defaults
from sodm.estimators.kernel_machine import FLOATS, Checked, KernelMachine, KernelName, unchanged_on_failure
from sodm.estimators.labels import check_labels, classes_and_codes
from sodm.estimators.parameters import check_choice, check_number
from sodm.estimators.shared_parameters import MachineParameters
from sodm.estimators.threads import threads_for
from sodm.estimators.weights import ClassWeight, check_sample_weight, class_weights
from sodm.problem.csr import check_sparse
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.fold import fold
from sodm.problem.losses import LOSSES, Loss, make_loss
from sodm.problem.pairs import pair_signs, pair_sums, pairs_of, row_sums, sums_of_pairs, votes
from sodm.problem.problem import Problem
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import MatrixLike, Rows
from sodm.problem.rows import canonical
from sodm.training.trained import Trained

FEW_VALUES = 2**18  # of X: read before a second thread is awake


class KernelMachineClassifier(ClassifierMixin, KernelMachine):
    """Base of the classifiers with a kernel: everything but the trainer and its parameters."""

    _chooses_lam = True

    def __init__(
        self,
        *,
        lam: float | Literal["auto"] = "auto",
        theta: float = defaults.THETA,
        loss: Literal["odm", "hinge"] = "odm",
        fit_intercept: bool | Literal["auto"] = "auto",
        class_weight: ClassWeight = None,
        multi_class: Literal["auto", "ovo", "ovr"] = "auto",
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        **shared: Unpack[MachineParameters],
    ) -> None:
        super().__init__(lam=lam, fit_intercept=fit_intercept, **shared)
        self.theta = theta
        self.loss = loss
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape

    # --------------------------------------------------------------------------------------------- fit

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> KernelMachineClassifier:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            float32 and float64 are used as they are, without a copy. With ``kernel="precomputed"``, the
            symmetric kernel matrix of shape (n_samples, n_samples).
        y : array-like, shape (n_samples,)
            Class labels, two or more different ones.
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
        """Rows, labels, weights and kernel, checked together with the parameters."""
        self._check_parameters()
        X, kernel = self._rows_and_kernel(X)
        rows, labels = validate_data(
            self,
            check_sparse(X),
            y,
            accept_sparse="csr",
            dtype=FLOATS,
            accept_large_sparse=True,
        )
        if labels.dtype.kind not in "iub":  # whole numbers are labels
            check_labels(labels)
        rows = self._check_kernel_matrix(canonical(rows))
        return rows, labels, check_sample_weight(sample_weight, rows.shape[0]), kernel

    def _state_problem(
        self, X: Rows | RowSet, y: NDArray[Any], weights: NDArray[np.float64], kernel: KernelName
    ) -> tuple[Problem, NDArray[np.int64]]:
        """Leave out rows of weight zero and fold repeats; which rows of X are left is returned too."""
        kept = np.flatnonzero(weights)
        classes, codes = classes_and_codes(y[kept])
        if len(classes) < 2:
            where = " where sample_weight > 0" if len(kept) < len(y) else ""
            raise ValueError(
                f"{type(self).__name__} needs two or more classes: y has one class only{where}, "
                f"{classes.tolist()[0]!r}."
            )
        weights = weights[kept]
        pairs = len(classes) > 2 and self.multi_class != "ovr"
        loss = self._loss(float(weights.sum()), 2 if pairs else len(classes))
        weights = weights * class_weights(self.class_weight, classes, codes, weights)[codes]
        rows = self._with_weight(X, kept)
        if self.kernel != "precomputed":
            few = rows.shape[0] * rows.shape[1] < FEW_VALUES
            threads = 1 if few else threads_for(self.n_jobs)
            folded = fold(rows, codes, weights, threads)
            rows, weights = rows.select(folded.first, threads), folded.weights
            codes, kept = codes[folded.first], kept[folded.first]
        made = self._kernel_for(kernel, rows, weights, float(self._has_intercept()))
        # Two classes are one problem, classes_[1] being +1; more are one for each pair, or one for each class
        # against the rest.
        if pairs:
            signs = pair_signs(codes, len(classes))
        else:
            positive = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
            signs = np.where(codes == positive[:, None], 1.0, -1.0)
        start = self._warm_duals(rows, signs, classes, kept) if self.warm_start else None
        problem = Problem(rows, signs, weights, made, loss, start, classes, pairs=pairs)
        return problem, kept

    def _warm_duals(
        self, rows: RowSet, signs: NDArray[np.float64], classes: NDArray[Any], kept: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """The duals of the last fit, if its support vectors are where they were; None otherwise."""
        at = self._support_places(rows, kept)
        if at is None or not np.array_equal(classes, self.classes_):
            return None
        if len(signs) != len(self.dual_coef_):  # pairs now and not then, or the other way round
            return None
        start = np.zeros_like(signs)
        start[:, at] = self.dual_coef_ * signs[:, at]
        return start

    def _set_fitted(self, problem: Problem, trained: Trained, kept: NDArray[np.int64]) -> None:
        """Classes, support vectors and the numbers of the fit."""
        self.classes_ = trained.classes
        self.lam_ = float(problem.loss.lam)
        self._set_expansion(problem, trained.result, kept, problem.signs * trained.result.duals)
        support = trained.result.duals.any(axis=0)
        counts = np.bincount(problem.codes[support], minlength=len(self.classes_))
        self.n_support_ = counts.astype(np.int32)
        sums = pair_sums(self.dual_coef_, self.n_support_) if problem.pairs else row_sums(self.dual_coef_)
        self.intercept_ = sums * problem.kernel.offset

    # ---------------------------------------------------------------------------------------- decisions

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """The values f(x) of the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            With ``kernel="precomputed"``, the kernel values of the samples and the rows of the fit.

        Returns
        -------
        ndarray, shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            With two classes, positive for ``classes_[1]``. With more, by `decision_function_shape`: one
            column per class, its votes and the margins that break ties (or f of the class, fitted against
            the rest); or one per pair (0, 1), (0, 2), ..., (1, 2), ... of classes, positive for the first.
        """
        values = self._values(X)
        if values.shape[1] == 1:
            return values[:, 0]
        if self._one_against_one:
            return values if self.decision_function_shape == "ovo" else votes(values, len(self.classes_))
        if self.decision_function_shape == "ovo":
            raise ValueError(
                "decision_function_shape='ovo' needs a machine for each pair of classes, and this one has "
                "one for each class against the rest: fit it with multi_class='ovo'."
            )
        return values

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The class of each row of X; one against one, that of most votes, ties broken by margins.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,)
        """
        values = self._values(X)
        if values.shape[1] == 1:
            return self.classes_[(values[:, 0] > 0).astype(np.intp)]
        if self._one_against_one:
            values = votes(values, len(self.classes_))
        return self.classes_[values.argmax(axis=1)]

    @property
    def _one_against_one(self) -> bool:
        """Whether there is a machine for each pair of classes."""
        return 2 < len(self.classes_) == len(self.dual_coef_) + 1

    @property
    def _n_problems(self) -> int:
        return len(pairs_of(len(self.classes_))) if self._one_against_one else len(self.dual_coef_)

    def _sums(
        self,
        kernel: KernelEvaluator,
        X: Rows,
        support: Rows | _core.Points,
        coefficients: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        if not self._one_against_one:
            return super()._sums(kernel, X, support, coefficients)
        return sums_of_pairs(kernel.apply_parts(X, support, coefficients, self.n_support_)).T

    def _order_keys(self, kernel: KernelEvaluator) -> list[NDArray[Any]]:
        keys = super()._order_keys(kernel)
        if self._one_against_one:  # they stay class by class
            keys.append(np.repeat(np.arange(len(self.classes_)), self.n_support_))
        return keys

    # ------------------------------------------------------------------------------- checks and messages

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("upsilon", self.upsilon, "in (0, 1]", lambda v: 0 < v <= 1)
        check_number("theta", self.theta, "in [0, 1)", lambda v: 0 <= v < 1)
        check_choice("loss", self.loss, LOSSES)
        check_choice("multi_class", self.multi_class, ("auto", "ovo", "ovr"))
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))

    def _name_of(self, problem: int) -> str:
        labels = self.classes_.tolist()
        if not self._one_against_one:
            return f"class {labels[problem]!r}"
        first, second = pairs_of(len(labels))[problem].tolist()
        return f"classes {labels[first]!r} and {labels[second]!r}"

    def _loss(self, total_weight: float, n_classes: int) -> Loss:
        """The loss with the lam that "auto" means for rows of this weight."""
        lam = auto_lam(self.loss, total_weight, n_classes) if isinstance(self.lam, str) else self.lam
        return make_loss(self.loss, lam, self.upsilon, self.theta)

    def _has_intercept(self) -> bool:
        """ "auto": with the lam that is chosen here, unless classes are weighted (docs/defaults.md)."""
        if isinstance(self.fit_intercept, str):
            return isinstance(self.lam, str) and self.class_weight is None
        return bool(self.fit_intercept)


def auto_lam(loss: str, total_weight: float, n_classes: int) -> float:
    """The lam of a fit to rows of this weight: a quarter of it, times the classes where they are taken one
    against the rest; of the hinge loss all of it, which is C = 1.

    Examples
    --------
    >>> auto_lam("odm", 1000.0, 2)
    250.0
    """
    if loss == "hinge":
        return total_weight
    return defaults.LAM_PER_ROW * total_weight * (n_classes if n_classes > 2 else 1)
