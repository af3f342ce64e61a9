"""What the linear machines share, whatever they predict: parameters, checks, training, <coef, x> + intercept.

A machine differs from the next in what it makes of y, and so in the rows of its problem and its loss.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from sodm.data.chunks import Chunk, chunk_factory
from sodm.estimators.kernel_machine import _scalar_if_one
from sodm.estimators.linear_rows import ROWS, finite_rows
from sodm.estimators.parameters import check_flag, check_integer, check_number
from sodm.estimators.progress import make_progress
from sodm.estimators.threads import threads_for
from sodm.problem.csr import check_sparse
from sodm.problem.linear import RowSums, core_rows
from sodm.problem.losses import Loss
from sodm.problem.row_types import MatrixLike, Rows
from sodm.solvers.linear_solver import LinearSettings, Start
from sodm.training.linear import LinearContext, LinearTrained, train_linear

Array = NDArray[np.float64]
Passes = Callable[[], Iterable[Chunk]]


class LinearMachine(BaseEstimator):
    """Base of the linear machines: everything but what y means."""

    def __init__(
        self,
        *,
        upsilon: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 1000,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.upsilon = upsilon
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _loss(self) -> Loss:
        """The loss that the parameters state."""

    @abstractmethod
    def _name_of(self, problem: int) -> str:
        """What a message calls one of several problems."""

    # ----------------------------------------------------------------------------------------- training

    @property
    def _bias(self) -> float:
        """Value of the constant feature that carries the intercept; 0 for none."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _run_solver(
        self, source: RowSums, loss: Loss, start: Start, settings: LinearSettings, **watched: Any
    ) -> LinearTrained:
        """Train on these rows, here or elsewhere; `watched` goes into the context."""
        with make_progress(self.verbose, self.tol) as progress:
            context = LinearContext(progress=progress.callback, time_limit=self.time_limit, **watched)
            trained = train_linear(source, loss, start, settings, context)
            progress.done(trained.summary())
        return trained

    def _set_numbers(self, trained: LinearTrained) -> None:
        """What is said of a fit besides its coefficients."""
        result = trained.result
        self.n_iter_ = max(1, int(np.max(result.n_iter)))
        self.objective_ = _scalar_if_one(result.objective)
        self.dual_gap_ = _scalar_if_one(result.gap)
        self.gradient_norm_ = _scalar_if_one(result.gradient)
        self.history_ = trained.history

    # ------------------------------------------------------------------------------------------- values

    def _values(self, X: MatrixLike) -> Array:
        """<coef, x> + intercept, shape (n, n_problems)."""
        check_is_fitted(self)
        X = self._finite(validate_data(self, check_sparse(X), reset=False, **ROWS))
        rows = core_rows(X, None, None, 0.0, threads_for(self.n_jobs))
        return rows.decisions(np.ascontiguousarray(self.coef_, dtype=np.float64)).T + self.intercept_

    # ------------------------------------------------------------------------------- checks and messages

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, naming the one."""
        for name in ("intercept_scaling", "tol"):
            check_number(name, getattr(self, name), "> 0", lambda v: v > 0)
        check_integer("max_iter", self.max_iter, ">= 1", lambda v: v >= 1)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, ">= 0, or None", lambda v: v >= 0)
        for flag in ("fit_intercept", "warm_start"):
            check_flag(flag, getattr(self, flag))
        if self.n_jobs is not None:
            check_integer("n_jobs", self.n_jobs, "other than 0, or None", lambda v: v != 0)
        if not isinstance(self.verbose, bool | np.bool_):
            check_integer("verbose", self.verbose, ">= 0", lambda v: v >= 0)

    def _passes(
        self,
        chunks: Any,
        features: Sequence[str] | None,
        *,
        label: str | None,
        weight: str | None,
        batch_rows: int,
    ) -> tuple[Passes, Passes]:
        """What goes over the chunks, and what goes over their labels, without the features if it can."""
        check_integer("batch_rows", batch_rows, ">= 1", lambda v: v >= 1)
        columns: Any = {"label": label, "weight": weight, "batch_rows": int(batch_rows)}
        passes = chunk_factory(chunks, features=features, **columns)
        return passes, passes if callable(chunks) else chunk_factory(chunks, features=(), **columns)

    def _check_chunk(self, X: MatrixLike, first: bool) -> Rows:
        """The rows of a chunk, which may be few, as the core takes them."""
        validate_data(self, X, skip_check_array=True, reset=first)
        return self._finite(check_array(check_sparse(X), **ROWS))

    def _finite(self, X: MatrixLike) -> Rows:
        """X as the core takes it; refuses NaN and infinity."""
        return finite_rows(X, threads_for(self.n_jobs), type(self).__name__)

    def _warn(self, trained: LinearTrained) -> None:
        """Say what went less than well, with the numbers and what to do."""
        result = trained.result
        if np.all(result.converged):
            return
        smooth = self._loss().smooth
        worst = int(np.argmax(np.where(result.converged, -np.inf, result.gradient)))
        which = f" for {self._name_of(worst)}" if len(result.gap) > 1 else ""
        measure, value = "relative gradient", result.gradient[worst]
        if not smooth or value <= self.tol:
            measure, value = "relative duality gap", result.gap[worst]
        knob = "time_limit" if trained.out_of_time else result.patience
        other = "" if result.solver == "newton" or not smooth else ", use solver='newton'"
        advice = f"Raise {knob} or tol{other}"
        if result.at_rounding is not None and result.at_rounding[worst]:
            advice = "Rounding errors allow no more: raise tol"
        warnings.warn(
            f"{type(self).__name__} with solver {result.solver!r} stopped after {result.n_iter[worst]} "
            f"iterations{which} at a {measure} of {value:.2e}, above tol={self.tol:g} "
            f"(duality gap {result.gap[worst]:.2e}). "
            f"{advice}, or scale the features (MinMaxScaler).",
            ConvergenceWarning,
            stacklevel=4,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
