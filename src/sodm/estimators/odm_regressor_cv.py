"""A regressor that chooses its own parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from sodm.estimators import defaults
from sodm.estimators.kernel_machine import unchanged_on_failure
from sodm.estimators.odm_cv import (
    FIRST_ROWS,
    FOLDS,
    GROWTH,
    HELD_ROWS,
    MANY,
    MOST_ROWS,
    SHARE_OF_TIME,
    _given,
)
from sodm.estimators.odm_regressor import ODMRegressor
from sodm.estimators.parameters import check_choice, check_number
from sodm.estimators.seed import seed_for
from sodm.estimators.sodm_regressor import SODMRegressor
from sodm.estimators.threads import threads_for
from sodm.problem.kernels import Kernel, resolve_gamma
from sodm.problem.losses import TargetLoss
from sodm.problem.targets import unit_of
from sodm.search.evaluate import Field
from sodm.search.grid import GAMMAS, LAMS, Grid
from sodm.search.halving import search
from sodm.search.numbers import NumberTarget, score_of
from sodm.search.results import cv_results
from sodm.search.stage import Stage, cross_validation, halves, hold_out, nested_order, sizes


class ODMRegressorCV(RegressorMixin, BaseEstimator):
    """`ODMRegressor` with gamma and lam chosen by cross-validation.

    One kernel matrix for each gamma serves all folds and all lam, which are solved one from the other. Where
    rows are many, all settings are tried on 1,000 of them, what is around the best on more, and lam is
    carried to all rows by what was seen on two sizes. The search centres targets by their mean over all rows.

    Scale the features first: put this behind a scaler in a pipeline.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="rbf"
    degree : int, default=3
        Of the poly kernel.
    coef0 : float, default=0.0
        Of the poly and sigmoid kernels.
    gammas : "auto" or sequence of floats, default="auto"
        Candidates. "auto" begins with powers of four around ``gamma="scale"`` and goes on between and beyond
        them.
    lams : "auto" or sequence of floats, default="auto"
        Candidates. "auto" begins with powers of four around the number of rows, and goes on between and
        beyond them.
    upsilon : float, default=1.0
    epsilon : float, default=0.0
        Both as for `ODMRegressor`.
    fit_intercept : bool, default=True
    cv : int, splitter, iterable or None, default=None
        None is five folds, or, where rows are three times those of a stage and more, rows held out. A number
        of folds or a splitter is used on the rows of each stage; an iterable of splits on all rows.
    refit : {"auto", "exact", "scalable"} or False, default="auto"
        The machine that is fitted to all rows: `ODMRegressor` or `SODMRegressor`. "auto" is the exact one
        below 50,000 rows, and where a kernel is no kernel by name. False searches only: there is no
        machine then.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn's for values; None is R^2, the mean of several targets'.
    tol : float, default=1e-3
        Of the machine fitted to all rows; the search itself is content with 1e-2.
    cache_size : float, default=1000
        Megabytes of kernel values that may be kept.
    time_limit : float or None, default=None
        Seconds. The search takes the best it has found when six tenths of them are over (all, if `refit` is
        False); the fit of all rows has no limit.
    random_state : int, RandomState instance or None, default=None
        Choice of rows and folds. None is the seed of 0.
    n_jobs : int or None, default=None
        Threads; None is all cores. They never change a result.
    verbose : int, default=0
        1 tells what each stage found.

    Attributes
    ----------
    best_estimator_ : ODMRegressor or SODMRegressor
        The machine fitted to all rows.
    best_params_ : dict
        Its gamma and lam.
    best_score_ : float
        Mean score of the best setting on the rows held out, on the rows of the last stage.
    cv_results_ : dict of arrays
        One entry for each setting and stage, as of scikit-learn's halving searches. `param_lam` is for all
        rows; `lam_tried` is what was used on the rows of the stage.
    search_path_ : list of dict
        What each stage found.
    stop_reason_ : {"last stage", "time limit"}
        Whether the search came to its end.
    exponent_ : float
        lam was carried from the last stage to all rows as (rows)^exponent_.
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X had names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sodm import ODMRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), ODMRegressorCV()).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.3
    True
    """

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        gammas: Literal["auto"] | Sequence[float] = "auto",
        lams: Literal["auto"] | Sequence[float] = "auto",
        upsilon: float = 1.0,
        epsilon: float = 0.0,
        fit_intercept: bool = True,
        cv: Any = None,
        refit: Literal["auto", "exact", "scalable", False] = "auto",
        scoring: Any = None,
        tol: float = defaults.TOL,
        cache_size: float = defaults.CACHE_SIZE,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.gammas = gammas
        self.lams = lams
        self.upsilon = upsilon
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.refit = refit
        self.scoring = scoring
        self.tol = tol
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> ODMRegressorCV:
        """Search, and fit the machine with the best parameters.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            With ``kernel="precomputed"``, the symmetric kernel matrix.
        y : array-like, shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like, shape (n_samples,), optional
            For training, and for R^2; other scorers count all rows of weight > 0 alike.
        groups : array-like, shape (n_samples,), optional
            Handed to the splitter.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            return self._fit(X, y, sample_weight, groups)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> ODMRegressorCV:
        began = time.monotonic()
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, "> 0, or None", lambda v: v > 0)
        X_given, y_given = X, y
        if self.refit is not False:
            check_choice("refit", self.refit, ("auto", "exact", "scalable"))
        X, y, weights = self._machine({}, 0)._check_data(X, y, sample_weight)
        validate_data(self, X_given, skip_check_array=True)
        kept = np.flatnonzero(weights)
        if len(kept) < 2:
            raise ValueError(f"{type(self).__name__} needs two or more rows to search on, got n_samples = 1.")
        if len(kept) < len(y):
            X = X[np.ix_(kept, kept)] if self._precomputed() else X[kept]
        y, weights = y[kept], weights[kept]
        values = y.reshape(len(y), -1).T
        centre = np.average(values, axis=1, weights=weights) if self.fit_intercept else np.zeros(len(values))
        unit = unit_of(values - centre[:, None], weights)
        if self.epsilon > 0:
            unit[:] = unit.max()
        target = NumberTarget((values - centre[:, None]) / unit[:, None], weights)
        if self.scoring is not None:
            target._score = score_of(get_scorer(self.scoring), X, y, centre, unit)
        seed = seed_for(self.random_state)
        stages = self._stages(y, None if groups is None else np.asarray(groups)[kept], kept, seed)
        limit = self.time_limit
        field = Field(
            X,
            Kernel(self.kernel, degree=int(self.degree), coef0=float(self.coef0)),
            target,
            lambda epsilon, lam: TargetLoss(lam, float(self.upsilon), epsilon),
            seed,
            threads_for(self.n_jobs),
            None if limit is None else began + (1.0 if self.refit is False else SHARE_OF_TIME) * limit,
        )
        outcome = search(
            field, self._grid(X, weights, float(self.epsilon / unit.max())), stages, self._report
        )
        self.best_params_ = {"gamma": outcome.best.gamma, "lam": outcome.best.lam}
        if self.refit is not False:
            machine = self._machine(self.best_params_, len(kept))
            started = time.perf_counter()
            self.best_estimator_ = machine.fit(X_given, y_given, sample_weight)
            self.refit_time_ = time.perf_counter() - started
            self._report(
                f"fitted to {len(kept):,} rows: lam {outcome.best.lam:.4g}, {self.refit_time_:.1f} s"
            )
        self.exponent_, self.search_path_ = outcome.exponent, outcome.path
        self.stop_reason_ = "time limit" if outcome.cut else "last stage"
        self.cv_results_ = _without_constants(cv_results(outcome.trials, stages))
        self.best_score_ = outcome.trial.score if outcome.trial is not None else float("nan")
        return self

    def _machine(self, chosen: dict[str, Any], n_rows: int) -> ODMRegressor | SODMRegressor:
        names = ("kernel", "degree", "coef0", "upsilon", "epsilon", "fit_intercept", "tol", "cache_size")
        shared = {name: getattr(self, name) for name in (*names, "random_state", "n_jobs")}
        by_name = not callable(self.kernel) and self.kernel != "precomputed"
        many = self.refit == "auto" and by_name and n_rows >= defaults.SCALABLE_FROM
        machine = SODMRegressor if many or self.refit == "scalable" else ODMRegressor
        return machine(**shared, **chosen)

    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _grid(self, rows: Any, weights: NDArray[np.float64], epsilon: float) -> Grid:
        """The candidates, checked."""
        scaled = not callable(self.kernel) and self.kernel in ("rbf", "poly", "sigmoid", "laplacian")
        gammas: tuple[float, ...] = (1.0,)
        if scaled:
            base = resolve_gamma("scale", rows, weights)
            gammas = _given("gammas", self.gammas, "> 0", lambda v: v > 0) or tuple(base * g for g in GAMMAS)
        given = _given("lams", self.lams, "> 0", lambda v: v > 0)
        lams = given or tuple(float(len(weights)) * k for k in LAMS)
        return Grid(gammas, lams, (epsilon,), (False,), scaled and isinstance(self.gammas, str), not given)

    def _stages(self, y: NDArray[Any], groups: Any, kept: NDArray[np.int64], seed: int) -> list[Stage]:
        """Growing samples of the rows, and what is held out of each."""
        n = len(y)
        splitter = KFold(min(FOLDS, n), shuffle=True, random_state=seed % 2**32)
        if self.cv is not None:
            splitter = check_cv(self.cv)
            if not (isinstance(self.cv, int | np.integer) or hasattr(self.cv, "split")):
                among = [[np.searchsorted(kept, np.intersect1d(p, kept)) for p in pair] for pair in self.cv]
                return [cross_validation(np.arange(n), check_cv(among), y, groups, n)]
        largest = min(MOST_ROWS, int(np.sqrt(self.cache_size * 2**20 / 2 / 4)))
        if self.cv is None and n >= MANY * FIRST_ROWS:
            largest = min(largest, n // MANY)  # rows enough to hold some out of every stage
        order = nested_order(y, False, seed)
        stages = []
        for m in sizes(n, FIRST_ROWS, GROWTH, largest):
            rows = np.sort(order[:m])
            if self.cv is None and n >= MANY * m:
                held = np.sort(order[m : m + min(HELD_ROWS, 4 * m)])
                both = m == n // MANY  # as many to look at as to train on
                stages.append((halves if both else hold_out)(rows, held, n))
            else:
                stages.append(cross_validation(rows, splitter, y, groups, n))
        return stages

    def _report(self, line: str) -> None:
        if self.verbose:
            print(f"[sodm] {line}", flush=True)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The values f(x) for each row of X."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed()
        tags.input_tags.pairwise = self._precomputed()
        tags.target_tags.multi_output = True
        return tags


def _without_constants(results: dict[str, Any]) -> dict[str, Any]:
    """The table without what is the same for all settings."""
    names = ("gamma", "lam")
    kept = {k: v for k, v in results.items() if k not in ("param_theta", "param_fit_intercept")}
    return kept | {"params": [{name: own[name] for name in names} for own in results["params"]]}
