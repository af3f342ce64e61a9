"""What all kernel machines share, whatever they predict: parameters, training, and f(x) from coefficients.

A machine differs from the next in what it makes of y (`_state_problem`, `_set_fitted`) and in its trainer.
A fit checks what it is given, states the problem, trains, and copies what was trained into its attributes.
"""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from sodm import _core
from sodm.engines.base import Engine
from sodm.estimators import defaults
from sodm.estimators.memory import cache_bytes
from sodm.estimators.parameters import check_choice, check_flag, check_integer, check_number
from sodm.estimators.progress import make_progress
from sodm.estimators.seed import RandomState, seed_for
from sodm.estimators.threads import threads_for
from sodm.problem.array_rows import as_row_set
from sodm.problem.csr import check_sparse
from sodm.problem.evaluator import KernelEvaluator, Precision
from sodm.problem.fold import row_hashes
from sodm.problem.kernels import KERNELS, Kernel, is_symmetric, resolve_gamma
from sodm.problem.linear import core_rows
from sodm.problem.objects import ObjectKernel, as_rows, numbered, objects_of
from sodm.problem.pairs import linear_coefficients
from sodm.problem.problem import Problem
from sodm.problem.query_blocks import query_blocks
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import MatrixLike, Rows
from sodm.problem.rows import canonical
from sodm.solvers.exact import violation_tolerance
from sodm.solvers.result import SolveResult
from sodm.training.context import Context, Evaluation, Progress
from sodm.training.local_machines import LocalMachines
from sodm.training.trained import Trained, Trainer

FLOATS = [np.float64, np.float32]

KernelName = str | Callable[[Any, Any], Any]
Checked = tuple[Rows, NDArray[Any], NDArray[np.float64], KernelName]  # rows, y, weights, kernel


class Handle:
    """Keeps something compiled beside an estimator. Pickles and copies of it are empty."""

    def __init__(self) -> None:
        self.value: Any = None

    def __reduce__(self) -> tuple[type[Handle], tuple[()]]:
        return Handle, ()


class KernelMachine(BaseEstimator):
    """Base of the kernel machines: everything but what y means, the trainer and its parameters."""

    _chooses_lam = False  # whether lam and fit_intercept may be "auto"
    _machines: LocalMachines | None = None  # those of regions, where there are some
    _in_parts = False  # whether rows are solved part by part

    def __init__(
        self,
        *,
        kernel: KernelName = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float | Literal["auto"] = "auto",
        upsilon: float = defaults.UPSILON,
        tol: float = defaults.TOL,
        max_iter: int = defaults.MAX_ITER,
        fit_intercept: bool | Literal["auto"] = "auto",
        cache_size: float | str = "auto",
        precision: Literal["single", "double"] = "single",
        warm_start: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.upsilon = upsilon
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.cache_size = cache_size
        self.precision = precision
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _trainer(self) -> Trainer:
        """What solves the problem, with the parameters of the subclass."""

    @abstractmethod
    def _state_problem(
        self, X: Rows | RowSet, y: NDArray[Any], weights: NDArray[np.float64], kernel: KernelName
    ) -> tuple[Problem, NDArray[np.int64]]:
        """The training problem, and which rows of X are left in it."""

    @abstractmethod
    def _set_fitted(self, problem: Problem, trained: Trained, kept: NDArray[np.int64]) -> None:
        """The attributes of the fitted machine."""

    @abstractmethod
    def _name_of(self, problem: int) -> str:
        """What a message calls one of several problems."""

    # --------------------------------------------------------------------------------------------- fit

    def _fit_rows(
        self,
        rows: Rows | RowSet,
        y: NDArray[Any],
        weights: NDArray[np.float64],
        kernel: KernelName | None = None,
        *,
        engine: Engine | None = None,
        evaluation: Evaluation | None = None,
    ) -> Self:
        """Fit to rows that have been checked, wherever they are.

        Parameters
        ----------
        rows : ndarray, CSR matrix or RowSet
        y, weights : ndarrays, one entry for each row
        kernel : str or callable, optional
            Of these rows, if it is not the parameter: that of objects, which rows are the numbers of.
        engine : Engine, optional
            Where parts are solved, if not on the threads of this process.
        evaluation : Evaluation, optional
            Rows to be looked at after each level.
        """
        began = time.perf_counter()
        problem, kept = self._state_problem(rows, y, weights, self.kernel if kernel is None else kernel)
        with make_progress(self.verbose, self.tol) as progress:
            context = self._context(progress.callback, engine, evaluation, problem.rows.shape[0])
            trained = self._trainer().train(problem, context)
            self._set_fitted(trained.problem or problem, trained, kept)
            if progress.callback is not None:
                progress.done(self._summary(trained.result, time.perf_counter() - began))
        self._warn(trained.result)
        return self

    def _context(
        self, progress: Progress | None, engine: Engine | None, evaluation: Evaluation | None, n_rows: int
    ) -> Context:
        """What the training may use, by the parameters."""
        return Context(
            n_threads=threads_for(self.n_jobs),
            precision=self.precision,
            cache_bytes=cache_bytes(self.cache_size, self._in_parts, n_rows),
            seed=seed_for(self.random_state),
            engine=engine,
            progress=progress,
            evaluation=evaluation,
        )

    def _rows_and_kernel(self, X: Any) -> tuple[MatrixLike, KernelName]:
        """X and the kernel; where rows are objects for a kernel that is a function, their numbers and a
        kernel that knows them."""
        objects = objects_of(self.kernel, X)
        if objects is None:
            return X, self.kernel
        assert callable(self.kernel)
        return numbered(len(objects)), ObjectKernel(self.kernel, objects)

    def __getstate__(self) -> dict[str, Any]:
        """All attributes, in types that pickles, skops and MLflow know."""
        state = dict(super().__getstate__())
        state.pop("_prepared", None)
        if isinstance(state.get("_fitted_kernel"), Kernel):
            state["_fitted_kernel"] = dict(vars(state["_fitted_kernel"]))
        if isinstance(state.get("_machines"), LocalMachines):
            state["_machines"] = state["_machines"].plain()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        kernel = self.__dict__.get("_fitted_kernel")
        if isinstance(kernel, dict):
            kernel = Kernel(**kernel)
        if kernel is not None:
            self._restore(kernel, self._fitted_precision)
        if isinstance(self._machines, dict):
            self._machines = LocalMachines.of_plain(self._machines)

    def _with_weight(self, X: Rows | RowSet, kept: NDArray[np.int64]) -> RowSet:
        """The rows that have weight; of a precomputed kernel, its matrix among them, checked."""
        rows = as_row_set(X)
        rows = rows if len(kept) == rows.shape[0] else rows.select(kept)
        if self.kernel != "precomputed":
            return rows
        matrix = rows.gather()
        matrix = matrix if len(kept) == X.shape[1] else matrix[:, kept]
        if not is_symmetric(matrix):
            raise ValueError("kernel='precomputed' needs a symmetric kernel matrix X; use (X + X.T) / 2.")
        return as_row_set(matrix)

    def _kernel_for(
        self, kernel: KernelName, rows: RowSet, weights: NDArray[np.float64], offset: float
    ) -> Kernel:
        return Kernel(
            kernel,
            gamma=resolve_gamma(self.gamma, rows, weights, threads_for(self.n_jobs)),
            degree=int(self.degree),
            coef0=float(self.coef0),
            offset=offset,
        )

    def _support_places(self, rows: RowSet, kept: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Where the support vectors of the last fit are among these rows; None if they are not there."""
        if not hasattr(self, "dual_coef_") or self._machines is not None:
            return None  # where regions correct a machine, its coefficients are no start for theirs
        place = {row: k for k, row in enumerate(kept.tolist())}
        at = np.array([place.get(row, -1) for row in self.support_.tolist()], dtype=np.int64)
        if np.any(at < 0):
            return None
        if self.kernel != "precomputed" and not _equal(rows[at], self.support_vectors_):
            return None
        return at

    def _set_expansion(
        self,
        problem: Problem,
        result: SolveResult,
        kept: NDArray[np.int64],
        coefficients: NDArray[np.float64],
    ) -> None:
        """Support vectors with these coefficients (of all rows), and the numbers of the fit."""
        at = np.flatnonzero(result.duals.any(axis=0))
        keys = (kept[at], problem.codes[at]) if problem.pairs else (kept[at],)
        at = at[np.lexsort(keys)]  # those of pairs class by class, as in SVC
        precomputed = self.kernel == "precomputed"
        self.support_ = kept[at]
        # Never a view of the caller's array, which may change after the fit.
        self.support_vectors_ = np.empty((0, 0)) if precomputed else problem.rows[at]
        self.dual_coef_ = coefficients[:, at]
        if self.kernel == "linear" and problem.pairs:
            self.coef_ = linear_coefficients(self.dual_coef_, problem.codes[at], self.support_vectors_)
        elif self.kernel == "linear":
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
        kernel = problem.kernel
        own = Kernel(kernel.name, kernel.gamma, kernel.degree, kernel.coef0)  # without an offset
        self._restore(own, result.precision or self.precision)

    def _restore(self, kernel: Kernel, precision: Precision) -> None:
        """What deciding needs besides the public attributes; completes a machine read from a file."""
        self._fitted_kernel = kernel
        self._fitted_precision: Precision = precision
        self._prepared = Handle()

    def _evaluator(self) -> KernelEvaluator:
        """What computes kernel values with the support vectors."""
        return KernelEvaluator(self._fitted_kernel, self._fitted_precision, threads_for(self.n_jobs))

    # ------------------------------------------------------------------------------------------- values

    def _values(self, X: Any) -> NDArray[np.float64]:
        """f(x) of each problem, shape (n, n_problems), of rows that are checked here."""
        check_is_fitted(self)
        if isinstance(self._fitted_kernel.name, ObjectKernel):
            return self._decide(as_rows(list(X))) + self.intercept_
        X = validate_data(
            self, check_sparse(X), accept_sparse="csr", dtype=FLOATS, accept_large_sparse=True, reset=False
        )
        return self._decide(canonical(X)) + self.intercept_

    def _decide(self, X: Rows) -> NDArray[np.float64]:
        """f(x) of each problem without the intercept, shape (n, n_problems)."""
        kernel = self._evaluator()
        if kernel.kernel.name == "linear":
            linear = core_rows(X, None, None, 0.0, kernel.n_threads)  # a row's bits depend on no other row
            return linear.decisions(np.ascontiguousarray(self.coef_, dtype=np.float64)).T
        if len(self.support_) == 0:  # all targets were in the zone around their mean
            return np.zeros((X.shape[0], self._n_problems))
        support, coefficients, made_dense = self.support_vectors_, self.dual_coef_, False
        if kernel.kernel.compiled:
            support, order = self._prepare(kernel)
            coefficients, made_dense = coefficients[:, order], not support.sparse
        values = np.empty((X.shape[0], self._n_problems))
        for block in query_blocks(X, dense=made_dense):
            # Of a precomputed kernel X has a column for every row of the fit.
            rows = X[block][:, self.support_] if kernel.precomputed else X[block]
            values[block] = self._sums(kernel, rows, support, coefficients)
        return values

    @property
    def _n_problems(self) -> int:
        """How many f there are."""
        return len(self.dual_coef_)

    def _sums(
        self,
        kernel: KernelEvaluator,
        X: Rows,
        support: Rows | _core.Points,
        coefficients: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """sum_j coefficients[c, j] k(x_j, x), shape (n, n_problems), of all support vectors."""
        return kernel.apply(X, support, coefficients.T)

    def _prepare(self, kernel: KernelEvaluator) -> tuple[_core.Points, NDArray[np.int64]]:
        """Support vectors as the core takes them, once, and their order there.

        Sums in single precision depend on the order, so it is one by values alone, as in the fit.
        """
        if self._prepared.value is None:
            order = np.lexsort(self._order_keys(kernel))
            self._prepared.value = kernel.points(self.support_vectors_[order]), order
        return self._prepared.value

    def _order_keys(self, kernel: KernelEvaluator) -> list[NDArray[Any]]:
        """What the support vectors are put in order by, the most important last."""
        return [self.dual_coef_[0], row_hashes(self.support_vectors_, kernel.n_threads)]

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
        if not (self._chooses_lam and isinstance(self.lam, str) and self.lam == "auto"):
            or_auto = ", or 'auto'" if self._chooses_lam else ""
            check_number("lam", self.lam, f"> 0{or_auto}", lambda v: v > 0)
        check_number("tol", self.tol, "> 0", lambda v: v > 0)
        check_integer("max_iter", self.max_iter, ">= 1", lambda v: v >= 1)
        if self.cache_size != "auto":
            check_number("cache_size", self.cache_size, "> 0, or 'auto'", lambda v: v > 0)
        check_choice("precision", self.precision, ("single", "double"))
        if not (self._chooses_lam and isinstance(self.fit_intercept, str) and self.fit_intercept == "auto"):
            check_flag("fit_intercept", self.fit_intercept)
        check_flag("warm_start", self.warm_start)
        if self.n_jobs is not None:
            check_integer("n_jobs", self.n_jobs, "other than 0, or None", lambda v: v != 0)
        if not isinstance(self.verbose, bool | np.bool_):
            check_integer("verbose", self.verbose, ">= 0", lambda v: v >= 0)

    def _check_kernel_matrix(self, X: Rows) -> Rows:
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
        if result.converged.all():
            return
        worst = int(np.argmax(np.where(result.converged, -np.inf, result.gap)))
        which = f" for {self._name_of(worst)}" if len(result.gap) > 1 else ""
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
    """A plain number for one problem, an array with one entry for each for more."""
    return values[0].item() if len(values) == 1 else np.asarray(values)


def _equal(A: Rows, B: Rows) -> bool:
    """Whether two sets of rows are the same, values and shape."""
    if A.shape != B.shape or sparse.issparse(A) != sparse.issparse(B):
        return False
    return (A != B).nnz == 0 if sparse.issparse(A) else np.array_equal(A, B)
