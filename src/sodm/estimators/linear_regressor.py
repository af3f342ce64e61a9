"""The linear machine for numbers instead of classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sodm.data.chunks import Chunk, chunk_factory, read_ahead
from sodm.estimators.kernel_machine import _scalar_if_one, unchanged_on_failure
from sodm.estimators.linear_rows import ROWS, finite_rows
from sodm.estimators.parameters import check_flag, check_integer, check_number
from sodm.estimators.progress import make_progress
from sodm.estimators.threads import threads_for
from sodm.estimators.weights import check_sample_weight
from sodm.problem.csr import check_sparse
from sodm.problem.linear import ChunkedRows, RowSums, core_rows
from sodm.problem.linear.targets import TargetRows
from sodm.problem.losses import TargetLoss
from sodm.solvers.linear_solver import LinearSettings, Start
from sodm.training.linear import LinearContext, LinearTrained, train_linear

Array = NDArray[np.float64]


class LinearODMRegressor(RegressorMixin, BaseEstimator):
    """Optimal margin distribution machine for regression with a linear function, solved exactly.

    Minimises, with f_i = <coef, x_i> + what the intercept has beyond the mean of the targets t_i,

        1/2 |w|^2 + lam / (2 W) * sum_i s_i [ (t_i-epsilon-f_i)_+^2 + upsilon (f_i-t_i-epsilon)_+^2 ]

    where s_i are weights, W = sum s_i, and w is `coef_` together with the weight of the constant feature that
    carries the intercept. Solved by Newton's method, in a few passes over the rows.

    Parameters
    ----------
    lam : float, default=10000
        Weight of the loss against the norm, > 0. Ridge regression calls W / lam alpha.
    upsilon : float, default=1.0
        Weight of predictions above the zone against predictions below it, > 0: 1 counts both the same,
        others give expectiles.
    epsilon : float, default=0.0
        Half-width of the zone around the targets without loss, >= 0, in the unit of the targets.
    fit_intercept : bool, default=True
        Take the mean of the targets, weighted, off before the fit and add it to predictions, and add a
        constant feature to every row. Its weight is part of the norm, as in `LinearSVR`.
    intercept_scaling : float, default=1
        Value of that feature; the larger, the less the intercept is held back by the norm.
    tol : float, default=1e-6
        Stop when the gradient is at most so much of the gradient at w = 0, and the relative duality gap at
        most tol.
    max_iter : int, default=1000
        Most Newton steps.
    time_limit : float or None, default=None
        Seconds after which the coefficients of the last finished step are taken.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if features and targets are as many.
    n_jobs : int or None, default=None
        Threads. None is all cores (or OMP_NUM_THREADS where set), -1 is all cores. The number of threads
        never changes a result.
    verbose : int, default=0
        1 shows the progress of the fit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
    intercept_ : ndarray of shape (n_targets,)
    n_iter_ : int
        Newton steps; of the target that took the most.
    objective_ : float or ndarray of shape (n_targets,)
        Value of the objective; with several targets here and below one number for each.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Relative duality gap: how far from optimal the objective can be at most.
    gradient_norm_ : float or ndarray of shape (n_targets,)
        Norm of the gradient relative to that at w = 0: what `tol` is compared with.
    history_ : list of dict
        One record per Newton step: ``epoch``, ``seconds``, ``objective`` (sum over the targets),
        ``gradient_norm`` and ``gap`` (the largest), ``passes`` over the rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from sodm import LinearODMRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> machine = LinearODMRegressor().fit(X, 3 * X[:, 0] - X[:, 1] + 5)
    >>> machine.coef_.round(2), machine.intercept_.round(2)
    (array([[ 3., -1.]]), array([5.]))
    """

    def __init__(
        self,
        *,
        lam: float = 10_000.0,
        upsilon: float = 1.0,
        epsilon: float = 0.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 1000,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.upsilon = upsilon
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    # --------------------------------------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearODMRegressor:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
        y : array-like, shape (n_samples,) or (n_samples, n_targets)
            Targets; several are solved together.
        sample_weight : array-like, shape (n_samples,), optional
            Non-negative. A row of weight k counts exactly as k rows; a row of weight 0 is left out.

        Returns
        -------
        self
            A fit that fails or is interrupted leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y = validate_data(self, check_sparse(X), y, multi_output=True, y_numeric=True, **ROWS)
            X = finite_rows(X, threads_for(self.n_jobs), type(self).__name__)
            weights = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
            y = np.asarray(y, dtype=np.float64)
            self._flat = y.ndim == 1
            targets = y.reshape(len(y), -1)
            mean = np.average(targets, axis=0, weights=weights)
            self._train(self._rows(X, targets, weights, mean), mean)
            return self

    def fit_chunks(
        self,
        chunks: Any,
        *,
        label: str | None = None,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        batch_rows: int = 65_536,
    ) -> LinearODMRegressor:
        """Fit to rows that do not fit into memory, going over them a handful of times.

        The solution is that of `fit` on all rows together. One pass over the targets finds their mean.

        Parameters
        ----------
        chunks : callable, pyarrow Dataset or Table, or path of Parquet files
            A callable takes nothing, starts anew at each call and returns an iterator of ``(X, y)`` or
            ``(X, y, sample_weight)``.
        label, features, weight : names of columns, optional
            For Arrow data: the column of the targets, those of the features (default: all others), that of
            the weights.
        batch_rows : int, default=65536
            Rows of a chunk of Arrow data.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            check_integer("batch_rows", batch_rows, ">= 1", lambda v: v >= 1)
            columns: Any = {"label": label, "weight": weight, "batch_rows": int(batch_rows)}
            passes = chunk_factory(chunks, features=features, **columns)
            only_targets = passes if callable(chunks) else chunk_factory(chunks, features=(), **columns)
            total, summed = 0.0, np.zeros(1)
            self._flat = True
            for chunk in only_targets():
                targets, weights = self._checked_targets(chunk)
                total, summed = total + weights.sum(), summed + weights @ targets
            if not total > 0:
                raise ValueError("there is no row with a weight > 0 in the chunks.")
            mean = summed / total
            first = True

            def rows() -> Iterator[TargetRows]:
                nonlocal first
                for chunk in read_ahead(passes()):
                    validate_data(self, chunk.X, skip_check_array=True, reset=first)
                    X = check_array(check_sparse(chunk.X), **ROWS)
                    X = finite_rows(X, threads_for(self.n_jobs), type(self).__name__)
                    targets, weights = self._checked_targets(chunk)
                    check_consistent_length(X, targets)
                    first = False
                    if weights.any():
                        yield self._rows(X, targets, weights, mean)

            self._train(ChunkedRows(rows), mean)  # type: ignore[arg-type]
            return self

    def _checked_targets(self, chunk: Chunk) -> tuple[Array, Array]:
        """Targets of shape (n, n_targets), and weights."""
        y = check_array(chunk.y, ensure_2d=False, dtype=np.float64, input_name="y")
        self._flat = y.ndim == 1
        if chunk.sample_weight is None:
            return y.reshape(len(y), -1), np.ones(len(y))
        weights = np.asarray(chunk.sample_weight, dtype=np.float64)
        return y.reshape(len(y), -1), check_sample_weight(weights, len(y)) if weights.any() else weights

    def _rows(self, X: Any, targets: Array, weights: Array | None, mean: Array) -> TargetRows:
        centred = targets - mean if self.fit_intercept else targets
        return TargetRows.of(X, centred, weights, self._loss(), self._bias(), threads_for(self.n_jobs))

    def _loss(self) -> TargetLoss:
        return TargetLoss(float(self.lam), float(self.upsilon), float(self.epsilon))

    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _train(self, source: RowSums, mean: Array) -> None:
        bias, centre = self._bias(), mean if self.fit_intercept else np.zeros_like(mean)
        start = np.zeros((len(mean), source.width))
        fitted: Any = self.__dict__
        if self.warm_start and "coef_" in fitted:
            before: Array = fitted["coef_"]
            if bias:
                before = np.hstack([before, (fitted["intercept_"] - centre)[:, None] / bias])
            start = before if before.shape == start.shape else start
        settings = LinearSettings(solver="newton", tol=float(self.tol), max_iter=int(self.max_iter))
        with make_progress(self.verbose, self.tol) as progress:
            context = LinearContext(None, progress.callback, self.time_limit)
            trained = train_linear(source, self._loss(), Start(start), settings, context)
            progress.done(trained.summary())
        result = trained.result
        self.coef_ = result.w[:, :-1].copy() if bias else result.w
        self.intercept_ = centre + (result.w[:, -1] * bias if bias else 0.0)
        self.n_iter_ = max(1, int(np.max(result.n_iter)))
        self.objective_ = _scalar_if_one(result.objective)
        self.dual_gap_ = _scalar_if_one(result.gap)
        self.gradient_norm_ = _scalar_if_one(result.gradient)
        self.history_ = trained.history
        self._warn(trained)

    # ------------------------------------------------------------------------------------------- values

    def predict(self, X: Any) -> Array:
        """The values <coef, x> + intercept.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_targets), as y was
        """
        check_is_fitted(self)
        n_threads = threads_for(self.n_jobs)
        X = validate_data(self, check_sparse(X), reset=False, **ROWS)
        X = finite_rows(X, n_threads, type(self).__name__)
        rows = core_rows(X, None, None, 0.0, n_threads)
        values = rows.decisions(np.ascontiguousarray(self.coef_, dtype=np.float64)).T + self.intercept_
        return values[:, 0] if self._flat else values

    # ------------------------------------------------------------------------------- checks and messages

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, naming the one."""
        for name in ("lam", "upsilon", "intercept_scaling", "tol"):
            check_number(name, getattr(self, name), "> 0", lambda v: v > 0)
        check_number("epsilon", self.epsilon, ">= 0", lambda v: v >= 0)
        check_integer("max_iter", self.max_iter, ">= 1", lambda v: v >= 1)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, ">= 0, or None", lambda v: v >= 0)
        for flag in ("fit_intercept", "warm_start"):
            check_flag(flag, getattr(self, flag))
        if self.n_jobs is not None:
            check_integer("n_jobs", self.n_jobs, "other than 0, or None", lambda v: v != 0)
        if not isinstance(self.verbose, bool | np.bool_):
            check_integer("verbose", self.verbose, ">= 0", lambda v: v >= 0)

    def _warn(self, trained: LinearTrained) -> None:
        result = trained.result
        if np.all(result.converged):
            return
        worst = int(np.argmax(np.where(result.converged, -np.inf, result.gradient)))
        which = f" for target {worst}" if len(result.gap) > 1 else ""
        advice = f"Raise {'time_limit' if trained.out_of_time else 'max_iter'} or tol"
        if result.at_rounding is not None and result.at_rounding[worst]:
            advice = "Rounding errors allow no more: raise tol"
        warnings.warn(
            f"{type(self).__name__} stopped after {result.n_iter[worst]} iterations{which} at a relative "
            f"gradient of {result.gradient[worst]:.2e} and a duality gap of {result.gap[worst]:.2e}, above "
            f"tol={self.tol:g}. {advice}, or scale the features (StandardScaler).",
            ConvergenceWarning,
            stacklevel=4,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags
