"""What all kernel machines share: from X and y to a training problem, and from its duals to predictions.

A machine differs from the next only in its trainer: a subclass has its own parameters and its own `_trainer`.
A fit checks what it is given, states the problem, trains, and copies what was trained into its attributes.
"""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sodm.engines.base import Engine
from sodm.estimators import defaults
from sodm.estimators.parameters import check_choice, check_flag, check_integer, check_number
from sodm.estimators.progress import make_progress
from sodm.estimators.seed import seed_for
from sodm.estimators.threads import threads_for
from sodm.estimators.weights import check_sample_weight, class_weights
from sodm.problem.array_rows import as_row_set
from sodm.problem.csr import check_sparse
from sodm.problem.evaluator import KernelEvaluator, Precision
from sodm.problem.fold import fold, row_hashes
from sodm.problem.kernels import KERNELS, Kernel, is_symmetric, resolve_gamma
from sodm.problem.losses import LOSSES, Loss, make_loss
from sodm.problem.problem import Problem
from sodm.problem.query_blocks import query_blocks
from sodm.problem.rows import canonical
from sodm.solvers.exact import violation_tolerance
from sodm.solvers.result import SolveResult
from sodm.training.context import Context, Evaluation, Progress
from sodm.training.trained import Trained, Trainer

FLOATS = [np.float64, np.float32]


class Handle:
    """Keeps something compiled beside an estimator. Pickles and copies of it are empty."""

    def __init__(self) -> None:
        self.value: Any = None

    def __reduce__(self) -> tuple[type[Handle], tuple[()]]:
        return Handle, ()


class KernelMachineClassifier(ClassifierMixin, BaseEstimator):
    """Base of the kernel machines: everything but the parameters of the trainer and the trainer itself."""

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = defaults.LAM,
        upsilon: float = defaults.UPSILON,
        theta: float = defaults.THETA,
        loss: Literal["odm", "hinge"] = "odm",
        tol: float = defaults.TOL,
        max_iter: int = defaults.MAX_ITER,
        fit_intercept: bool = False,
        class_weight: Any = None,
        cache_size: float = defaults.CACHE_SIZE,
        precision: Literal["single", "double"] = "single",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.upsilon = upsilon
        self.theta = theta
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.precision = precision
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _trainer(self) -> Trainer:
        """What solves the problem, with the parameters of the subclass."""

    # --------------------------------------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelMachineClassifier:
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

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        """Rows, labels and weights, checked together with the parameters."""
        self._check_parameters()
        X, y = validate_data(
            self, check_sparse(X), y, accept_sparse="csr", dtype=FLOATS, accept_large_sparse=True
        )
        check_classification_targets(y)
        X = self._check_kernel_matrix(canonical(X))
        return X, y, check_sample_weight(sample_weight, X.shape[0])

    def _fit_rows(
        self,
        rows: Any,
        labels: NDArray[Any],
        weights: NDArray[np.float64],
        *,
        engine: Engine | None = None,
        evaluation: Evaluation | None = None,
    ) -> Any:
        """Fit to rows that have been checked, wherever they are.

        Parameters
        ----------
        rows : ndarray, CSR matrix or RowSet
        labels, weights : ndarrays, shape (n,)
        engine : Engine, optional
            Where parts are solved, if not on the threads of this process.
        evaluation : Evaluation, optional
            Rows to be looked at after each level.
        """
        began = time.perf_counter()
        problem, kept = self._state_problem(rows, labels, weights)
        with make_progress(self.verbose, self.tol) as progress:
            context = self._context(progress.callback, engine, evaluation)
            trained = self._trainer().train(problem, context)
            self._set_fitted(problem, trained, kept)
            progress.done(self._summary(trained.result, time.perf_counter() - began))
        self._warn(trained.result)
        return self

    def _context(
        self, progress: Progress | None, engine: Engine | None, evaluation: Evaluation | None
    ) -> Context:
        """What the training may use, by the parameters."""
        return Context(
            n_threads=threads_for(self.n_jobs),
            precision=self.precision,
            cache_bytes=int(self.cache_size * 2**20),
            seed=seed_for(self.random_state),
            engine=engine,
            progress=progress,
            evaluation=evaluation,
        )

    def _state_problem(
        self, X: Any, y: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[Problem, NDArray[np.int64]]:
        """Leave out rows of weight zero and fold repeats; which rows of X are left is returned too."""
        kept = np.flatnonzero(weights)
        classes, codes = np.unique(y[kept], return_inverse=True)
        if len(classes) < 2:
            where = " where sample_weight > 0" if len(kept) < len(y) else ""
            raise ValueError(
                f"{type(self).__name__} needs two or more classes: y has one class only{where}, "
                f"{classes.tolist()[0]!r}."
            )
        weights = weights[kept]
        weights = weights * class_weights(self.class_weight, classes, codes, weights)[codes]
        rows = as_row_set(X)
        rows = rows if len(kept) == rows.shape[0] else rows.select(kept)
        if self.kernel == "precomputed":
            matrix = rows.gather()
            matrix = matrix if len(kept) == X.shape[1] else matrix[:, kept]
            rows = as_row_set(matrix)
            if not is_symmetric(matrix):
                raise ValueError("kernel='precomputed' needs a symmetric kernel matrix X; use (X + X.T) / 2.")
        else:
            folded = fold(rows, codes, weights, threads_for(self.n_jobs))
            rows, weights = rows.select(folded.first), folded.weights
            codes, kept = codes[folded.first], kept[folded.first]
        kernel = Kernel(
            self.kernel,
            gamma=resolve_gamma(self.gamma, rows, weights),
            degree=int(self.degree),
            coef0=float(self.coef0),
            offset=float(self.fit_intercept),
        )
        # Two classes are one problem, classes_[1] being +1; more are one problem each, one against the rest.
        positive = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
        signs = np.where(codes == positive[:, None], 1.0, -1.0)
        start = self._warm_duals(rows, signs, classes, kept) if self.warm_start else None
        return Problem(rows, signs, weights, kernel, self._loss(), start, classes), kept

    def _warm_duals(
        self, rows: Any, signs: NDArray[np.float64], classes: NDArray[Any], kept: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """The duals of the last fit, if its support vectors are where they were; None otherwise."""
        if not hasattr(self, "dual_coef_") or not np.array_equal(classes, self.classes_):
            return None
        place = {row: k for k, row in enumerate(kept.tolist())}
        at = np.array([place.get(row, -1) for row in self.support_.tolist()], dtype=np.int64)
        if np.any(at < 0):
            return None
        if self.kernel != "precomputed" and not _equal(rows[at], self.support_vectors_):
            return None
        start = np.zeros_like(signs)
        start[:, at] = self.dual_coef_ * signs[:, at]
        return start

    def _set_fitted(self, problem: Problem, trained: Trained, kept: NDArray[np.int64]) -> None:
        """Classes, support vectors and the numbers of the fit."""
        result = trained.result
        at = np.flatnonzero(np.any(result.duals != 0, axis=0))
        at = at[np.argsort(kept[at])]
        precomputed = self.kernel == "precomputed"
        self.classes_ = trained.classes
        self.support_ = kept[at]
        # Never a view of the caller's array, which may change after the fit.
        self.support_vectors_ = np.empty((0, 0)) if precomputed else problem.rows[at]
        self.dual_coef_ = (problem.signs * result.duals)[:, at]
        self.intercept_ = self.dual_coef_.sum(axis=1) * problem.kernel.offset
        if self.kernel == "linear":
            self.coef_ = np.asarray(
                safe_sparse_dot(self.dual_coef_, self.support_vectors_, dense_output=True)
            )
        elif hasattr(self, "coef_"):
            del self.coef_
        self.n_iter_ = _scalar_if_one(result.n_iter)
        self.dual_gap_ = _scalar_if_one(result.gap)
        self.violation_ = _scalar_if_one(result.violation)
        self.objective_ = _scalar_if_one(result.objective)
        self.n_kernel_evaluations_ = int(result.n_kernel_evaluations)
        # Coefficients that could not be found in single precision are of no use in it either.
        self._restore(replace(problem.kernel, offset=0.0), result.precision or self.precision)

    def _restore(self, kernel: Kernel, precision: Precision) -> None:
        """What deciding needs besides the public attributes; completes a machine read from a file."""
        self._fitted_kernel = kernel
        self._fitted_precision: Precision = precision
        self._prepared = Handle()

    def _evaluator(self) -> KernelEvaluator:
        """What computes kernel values with the support vectors."""
        return KernelEvaluator(self._fitted_kernel, self._fitted_precision, threads_for(self.n_jobs))

    # ---------------------------------------------------------------------------------------- decisions

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The values f(x) of the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            With ``kernel="precomputed"``, the kernel values of the samples and the rows of the fit.

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive for ``classes_[1]``; with more, one column per class, against the rest.
        """
        check_is_fitted(self)
        X = validate_data(
            self, check_sparse(X), accept_sparse="csr", dtype=FLOATS, accept_large_sparse=True, reset=False
        )
        values = self._decide(canonical(X)) + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,)
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)]

    def _decide(self, X: Any) -> NDArray[np.float64]:
        """sum_j dual_coef_[c, j] k(x_j, x), shape (n, n_problems), without the intercept."""
        kernel = self._evaluator()
        if kernel.kernel.name == "linear":
            return np.asarray(safe_sparse_dot(X, self.coef_.T, dense_output=True), dtype=np.float64)
        support: Any = self.support_vectors_
        coefficients, made_dense = self.dual_coef_.T, False
        if kernel.precomputed:
            # X has a column for every row of the fit; those that support nothing have coefficient zero.
            support, coefficients = None, np.zeros((self.n_features_in_, len(self.dual_coef_)))
            coefficients[self.support_] = self.dual_coef_.T
        elif kernel.kernel.compiled:
            support, order = self._prepare(kernel)
            coefficients, made_dense = coefficients[order], not support.sparse
        values = np.empty((X.shape[0], len(self.dual_coef_)))
        for block in query_blocks(X, dense=made_dense):
            values[block] = kernel.apply(X[block], support, coefficients)
        return values

    def _prepare(self, kernel: KernelEvaluator) -> tuple[Any, NDArray[np.int64]]:
        """Support vectors as the core takes them, once, and their order there.

        Sums in single precision depend on the order, so it is one by values alone, as in the fit.
        """
        if self._prepared.value is None:
            order = np.lexsort((self.dual_coef_[0], row_hashes(self.support_vectors_, kernel.n_threads)))
            self._prepared.value = kernel.points(self.support_vectors_[order]), order
        return self._prepared.value

    # ------------------------------------------------------------------------------- checks and messages

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, naming the one."""
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("scale", "auto"))
        else:
            check_number("gamma", self.gamma, ">= 0, or 'scale' or 'auto'", lambda v: v >= 0)
        check_integer("degree", self.degree, ">= 0", lambda v: v >= 0)
        check_number("coef0", self.coef0, "that is finite", lambda v: True)
        check_number("lam", self.lam, "> 0", lambda v: v > 0)
        check_number("upsilon", self.upsilon, "in (0, 1]", lambda v: 0 < v <= 1)
        check_number("theta", self.theta, "in [0, 1)", lambda v: 0 <= v < 1)
        check_choice("loss", self.loss, LOSSES)
        check_number("tol", self.tol, "> 0", lambda v: v > 0)
        check_integer("max_iter", self.max_iter, ">= 1", lambda v: v >= 1)
        check_number("cache_size", self.cache_size, "> 0", lambda v: v > 0)
        check_choice("precision", self.precision, ("single", "double"))
        for flag in ("fit_intercept", "warm_start"):
            check_flag(flag, getattr(self, flag))
        if self.n_jobs is not None:
            check_integer("n_jobs", self.n_jobs, "other than 0, or None", lambda v: v != 0)
        if not isinstance(self.verbose, bool | np.bool_):
            check_integer("verbose", self.verbose, ">= 0", lambda v: v >= 0)

    def _check_kernel_matrix(self, X: Any) -> Any:
        if self.kernel != "precomputed":
            return X
        if sparse.issparse(X):
            raise ValueError(
                "kernel='precomputed' needs a dense kernel matrix X, got a sparse one: use X.toarray()."
            )
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square kernel matrix X, n_samples x n_samples; got {X.shape}."
            )
        return X

    def _loss(self) -> Loss:
        return make_loss(self.loss, self.lam, self.upsilon, self.theta)

    def _summary(self, result: SolveResult, seconds: float) -> str:
        return (
            f"{result.solver}: {int(np.max(result.n_iter))} iterations, gap {np.max(result.gap):.2e}, "
            f"violation {np.max(result.violation):.2e}, {len(self.support_)} support vectors, {seconds:.2f} s"
        )

    def _warn(self, result: SolveResult) -> None:
        """Say what went less than well, with the numbers and what to do."""
        if result.ridge_shift > 0:
            warnings.warn(
                "The kernel matrix is not positive semidefinite: the coefficients are those of a kernel with "
                f"{result.ridge_shift:.3g} added to its diagonal, and dual_gap_ ({np.max(result.gap):.2g}), "
                "which is that of the kernel as it is, is no bound. Choose another kernel, gamma or coef0, "
                "or give a precomputed kernel in double precision.",
                UserWarning,
                stacklevel=4,
            )
        if np.all(result.converged):
            return
        worst = int(np.argmax(np.where(result.converged, -np.inf, result.gap)))
        which = f" for class {self.classes_.tolist()[worst]!r}" if len(result.gap) > 1 else ""
        remedy = "Raise max_iter or tol, or scale the features (for example with MinMaxScaler)"
        if result.n_iter[worst] < self.max_iter:
            remedy = (
                "Rounding allows no more: raise tol, or scale the features (for example with MinMaxScaler)"
            )
        warnings.warn(
            f"{type(self).__name__} stopped after {result.n_iter[worst]} iterations{which} at a relative "
            f"duality gap of {result.gap[worst]:.2e} and a violation of {result.violation[worst]:.2e}, "
            f"above tol={self.tol:g} or sqrt(10 tol)={violation_tolerance(self.tol):.2g}. {remedy}.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


@contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Puts all attributes back if the block raises, KeyboardInterrupt included."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def _scalar_if_one(values: NDArray[Any]) -> Any:
    """A plain number for two classes, an array with one entry per class for more."""
    return values[0].item() if len(values) == 1 else np.asarray(values)


def _equal(A: Any, B: Any) -> bool:
    """Whether two sets of rows are the same, values and shape."""
    if A.shape != B.shape or sparse.issparse(A) != sparse.issparse(B):
        return False
    return (A != B).nnz == 0 if sparse.issparse(A) else np.array_equal(A, B)
