"""A machine that chooses its own parameters, and knows how sure it is."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, check_cv
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from sodm.estimators import defaults
from sodm.estimators.base import unchanged_on_failure
from sodm.estimators.memory import cache_bytes
from sodm.estimators.odm import ODMClassifier
from sodm.estimators.parameters import check_choice, check_number
from sodm.estimators.seed import seed_for
from sodm.estimators.sodm import SODMClassifier
from sodm.estimators.threads import threads_for
from sodm.estimators.weights import class_weights
from sodm.problem.kernels import Kernel, resolve_gamma
from sodm.problem.losses import make_loss
from sodm.search.calibrate import Calibrator, first_is, fit_calibrator
from sodm.search.classes import ClassTarget
from sodm.search.evaluate import Field, evaluate
from sodm.search.grid import GAMMAS, LAMS, Grid
from sodm.search.halving import EXPONENT, Outcome, search
from sodm.search.results import cv_results
from sodm.search.scoring import score_of
from sodm.search.stage import Stage, cross_validation, halves, hold_out, nested_order, sizes

FOLDS = 5
FIRST_ROWS, GROWTH, MOST_ROWS = 1000, 2.5, 6250  # of the stages
HELD_ROWS = 10_000  # most rows looked at where rows are many
MANY = 2  # times the rows of a stage: so many rows hold some out for it, instead of folds
SHARE_OF_TIME = 0.6  # of time_limit, for the search


class ODMClassifierCV(ClassifierMixin, BaseEstimator):
    """The kernel machine with its parameters chosen by cross-validation, and with calibrated probabilities.

    `fit` searches gamma and lam, fits the machine with the best of them to all rows, and makes probabilities
    of the decisions that the search has made on rows held out. Below 2,000 rows all settings are tried on all
    rows; where rows are more, first on 1,000 of them, then what is around the best on more, and lam is
    carried to all rows by what was seen on two sizes. A gamma's largest lams are left out once scores have
    turned down along lam, unless `lams` are given.

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
        Candidates. "auto" begins with powers of four around half the rows of a machine, and goes on between
        and beyond them.
    thetas : "auto" or sequence of floats, default="auto"
        Candidates. "auto" is 0.6 alone, for theta does little that lam does not.
    intercepts : "auto" or sequence of bools, default="auto"
        Candidates for `fit_intercept`. "auto" is True alone, False alone where there is a `class_weight`.
    upsilon : float, default=0.5
    loss : {"odm", "hinge"}, default="odm"
    cv : int, splitter, iterable or None, default=None
        None is five stratified folds, or, where there are twice the rows of a stage and more, rows held
        out. A number of folds or a splitter is used on the rows of each stage; an iterable of splits on all
        rows.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn's; None is accuracy. With rare classes choose "balanced_accuracy", or the
        machine that never finds them may be the best. Scorers that want probabilities get calibrated ones.
    refit : {"auto", "exact", "scalable"} or False, default="auto"
        The machine that is fitted to all rows: `ODMClassifier` or `SODMClassifier`. "auto" is the exact one
        below 50,000 rows, unless there is a time limit. False searches only: there is no machine then.
    class_weight : dict or "balanced", default=None
    tol : float, default=1e-3
        Of the machine fitted to all rows; the search itself is content with 1e-2.
    cache_size : float, default=1000
        Megabytes of kernel values that may be kept.
    time_limit : float or None, default=None
        Seconds. The search takes the best it has found when six tenths of them are over.
    random_state : int, RandomState instance or None, default=None
        Choice of rows and folds. None is the seed of 0.
    n_jobs : int or None, default=None
        Threads; None is all cores. They never change a result.
    verbose : int, default=0
        1 tells what each stage found.

    Attributes
    ----------
    best_estimator_ : ODMClassifier or SODMClassifier
        The machine fitted to all rows.
    best_params_ : dict
        Its gamma, lam, theta and fit_intercept.
    best_score_ : float
        Mean score of the best setting on the rows held out, on the rows of the last stage.
    cv_results_ : dict of arrays
        One entry for each setting and stage, as of scikit-learn's halving searches: params, mean, std and
        rank of the test score, those of the splits, times, `iter` and `n_resources` (rows). `param_lam` is
        for all rows; `lam_tried` is what was used on the rows of the stage.
    search_path_ : list of dict
        What each stage found: rows, folds, settings, gamma, lam (there), score, its standard error, seconds.
    stop_reason_ : {"last stage", "time limit"}
        Whether the search came to its end.
    exponent_ : float
        lam was carried from the last stage to all rows as (rows)^exponent_, between 0 (lam stays) and 1 (lam
        / rows, which is C, stays).
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X had names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sodm import ODMClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), ODMClassifierCV()).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.95
    True
    >>> sorted(model[-1].best_params_)
    ['fit_intercept', 'gamma', 'lam', 'theta']
    >>> model.predict_proba(X_test).shape
    (143, 2)
    """

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        gammas: Literal["auto"] | Sequence[float] = "auto",
        lams: Literal["auto"] | Sequence[float] = "auto",
        thetas: Literal["auto"] | Sequence[float] = "auto",
        intercepts: Literal["auto"] | Sequence[bool] = "auto",
        upsilon: float = defaults.UPSILON,
        loss: Literal["odm", "hinge"] = "odm",
        cv: Any = None,
        scoring: Any = None,
        refit: Literal["auto", "exact", "scalable", False] = "auto",
        class_weight: Any = None,
        tol: float = defaults.TOL,
        cache_size: float | str = defaults.CACHE_SIZE,
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
        self.thetas = thetas
        self.intercepts = intercepts
        self.upsilon = upsilon
        self.loss = loss
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # --------------------------------------------------------------------------------------------- fit

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any
    ) -> ODMClassifierCV:
        """Search, fit the machine with the best parameters, and calibrate its probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            With ``kernel="precomputed"``, the symmetric kernel matrix.
        y : array-like, shape (n_samples,)
            Class labels, two or more different ones.
        sample_weight : array-like, shape (n_samples,), optional
            For training; scores count all rows of weight > 0 alike.
        groups : array-like, shape (n_samples,), optional
            Handed to the splitter.
        **params : dict
            What else scorer and splitter ask for, by metadata routing.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            return self._fit(X, y, sample_weight, groups, params)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, params: dict[str, Any]
    ) -> ODMClassifierCV:
        began = time.monotonic()
        if groups is not None:
            params = {"groups": groups, **params}
        X_given, y_given = X, y
        probe = self._machine({}, 0, None)
        X, y, weights = probe._check_data(X, y, sample_weight)
        validate_data(self, X_given, skip_check_array=True)
        routed = process_routing(self, "fit", **params) if params else None
        kept = np.flatnonzero(weights)
        classes, codes = np.unique(y[kept], return_inverse=True)
        self._check_classes(classes, len(kept) < len(y))
        rows = X if len(kept) == len(y) else (X[np.ix_(kept, kept)] if self._precomputed() else X[kept])
        own = weights[kept] * class_weights(self.class_weight, classes, codes, weights[kept])[codes]
        seed = seed_for(self.random_state)
        target = ClassTarget(codes, len(classes), own, pairs=not self._is_scalable(len(kept)))
        if self.scoring is not None:
            score_params = dict(routed.scorer.score) if routed is not None else {}
            score_params = {name: np.asarray(value)[kept] for name, value in score_params.items()}
            target._score = score_of(get_scorer(self.scoring), target, rows, y[kept], classes, score_params)
        grid = self._grid(rows, own, target)
        split = dict(routed.splitter.split) if routed is not None else {}
        chosen_groups = np.asarray(split["groups"])[kept] if split.get("groups") is not None else None
        stages = self._stages(codes, chosen_groups, seed)
        limit = self.time_limit
        field = Field(
            rows,
            Kernel(self.kernel, degree=int(self.degree), coef0=float(self.coef0)),
            target,
            lambda theta, lam: make_loss(self.loss, lam, self.upsilon, theta),
            seed,
            threads_for(self.n_jobs),
            None if limit is None else began + (1.0 if self.refit is False else SHARE_OF_TIME) * limit,
        )
        outcome = search(field, grid, stages, self._report)
        left = None if limit is None else max(0.05, limit - (time.monotonic() - began))
        best = outcome.best
        self.best_params_ = {
            "gamma": best.gamma,
            "lam": best.lam,
            "theta": best.theta,
            "fit_intercept": best.intercept,
        }
        if self.refit is not False:
            machine = self._machine(self.best_params_, len(kept), left)
            started = time.perf_counter()
            self.best_estimator_ = machine.fit(X_given, y_given, sample_weight)
            self.refit_time_ = time.perf_counter() - started
            self._report(f"fitted to {len(kept):,} rows: lam {best.lam:.4g}, {self.refit_time_:.1f} s")
        self.classes_ = classes
        self.exponent_ = outcome.exponent
        self.search_path_ = outcome.path
        self.stop_reason_ = "time limit" if outcome.cut else "last stage"
        self.cv_results_ = cv_results(outcome.trials, stages)
        self.best_score_ = outcome.trial.score if outcome.trial is not None else float("nan")
        self._calibrator = _calibrated(field, stages, outcome, weights[kept], self.class_weight is not None)
        return self

    def _check_classes(self, classes: NDArray[Any], weighted: bool) -> None:
        if len(classes) < 2:
            where = " where sample_weight > 0" if weighted else ""
            raise ValueError(
                f"{type(self).__name__} needs two or more classes: y has one class only{where}, "
                f"{classes.tolist()[0]!r}."
            )

    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _machine(self, chosen: dict[str, Any], n_rows: int, seconds: float | None) -> Any:
        """The machine that is fitted to all rows."""
        if self.refit is not False:
            check_choice("refit", self.refit, ("auto", "exact", "scalable"))
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, "> 0, or None", lambda v: v > 0)
        shared: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("kernel", "degree", "coef0", "upsilon", "loss", "class_weight", "tol")
        }
        shared |= {name: getattr(self, name) for name in ("cache_size", "random_state", "n_jobs")}
        if self._is_scalable(n_rows):
            refine = self.refit == "auto" and seconds is not None
            return SODMClassifier(**shared, **chosen, multi_class="ovr", time_limit=seconds, refine=refine)
        return ODMClassifier(**shared, **chosen, multi_class="ovo")

    def _is_scalable(self, n_rows: int) -> bool:
        """Whether the machine for all rows is the scalable one, which takes classes one against the rest."""
        if self.refit == "auto":
            return self.time_limit is not None or n_rows >= defaults.SCALABLE_FROM
        return self.refit == "scalable"

    def _grid(self, rows: Any, weights: NDArray[np.float64], target: ClassTarget) -> Grid:
        """The candidates, checked."""
        scaled = not callable(self.kernel) and self.kernel in ("rbf", "poly", "sigmoid", "laplacian")
        gammas: tuple[float, ...] = (1.0,)
        if scaled:
            base = resolve_gamma("scale", rows, weights)
            gammas = _given("gammas", self.gammas, "> 0", lambda v: v > 0) or tuple(base * g for g in GAMMAS)
        middle = auto_lam(len(weights), target)
        lams = _given("lams", self.lams, "> 0", lambda v: v > 0) or tuple(middle * k for k in LAMS)
        thetas = _given("thetas", self.thetas, "in [0, 1)", lambda v: 0 <= v < 1) or (defaults.THETA,)
        intercepts: tuple[bool, ...] = (self.class_weight is None,)
        if not isinstance(self.intercepts, str):
            intercepts = tuple(dict.fromkeys(bool(v) for v in self.intercepts))
        free_gamma = scaled and isinstance(self.gammas, str)
        return Grid(gammas, lams, thetas, intercepts, free_gamma, isinstance(self.lams, str))

    def _stages(self, codes: NDArray[np.int64], groups: Any, seed: int) -> list[Stage]:
        """Growing samples of the rows, and what is held out of each."""
        n = len(codes)
        everything = np.arange(n)
        largest = min(MOST_ROWS, int(np.sqrt(cache_bytes(self.cache_size) / 2 / 4)))
        if self.cv is not None and (not hasattr(self.cv, "split") or isinstance(self.cv, PredefinedSplit)):
            splitter = check_cv(self.cv, codes, classifier=True)
            if not isinstance(self.cv, int | np.integer):
                return [cross_validation(everything, splitter, codes, groups, n)]
        else:
            splitter = self.cv if self.cv is not None else _default_folds(codes, seed)
        if self.cv is None and n >= MANY * FIRST_ROWS:
            largest = min(largest, n // MANY)  # rows enough to hold some out of every stage
        order = nested_order(codes, True, seed)
        stages = []
        for m in sizes(n, FIRST_ROWS, GROWTH, largest):
            rows = np.sort(order[:m])
            if self.cv is None and n >= MANY * m:
                held = np.sort(order[m : m + min(HELD_ROWS, 4 * m)])
                both = m == n // MANY  # as many to look at as to train on
                stages.append((halves if both else hold_out)(rows, held, n))
                continue
            with warnings.catch_warnings():
                if self.cv is None:  # classes with fewer rows than folds are left to chance
                    warnings.simplefilter("ignore", UserWarning)
                stages.append(cross_validation(rows, splitter, codes, groups, n))
        return stages

    def _report(self, line: str) -> None:
        if self.verbose:
            print(f"[sodm] {line}", flush=True)

    # ---------------------------------------------------------------------------------------- decisions

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The values f(x) of the machine, see `ODMClassifier.decision_function`."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Calibrated probabilities of the classes, shape (n_samples, n_classes), in the order of `classes_`.

        The most probable class is the one that `predict` gives, unless there is a `class_weight`: then
        probabilities are those of the rows as they are, and decisions those of the weights.
        """
        check_is_fitted(self, "best_estimator_")
        values = self._calibrator(self.best_estimator_._values(X))
        if self.class_weight is None and len(self.classes_) > 2:
            first_is(values, np.searchsorted(self.classes_, self.predict(X)))
        return values

    def get_metadata_routing(self) -> MetadataRouter:
        """What the splitter and the scorer ask for."""
        router = MetadataRouter(owner=type(self).__name__)
        splitter = check_cv(self.cv, classifier=True) if self.cv is not None else StratifiedKFold(FOLDS)
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scoring is not None:
            router.add(
                scorer=get_scorer(self.scoring),
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed()
        tags.input_tags.pairwise = self._precomputed()
        return tags


def auto_lam(n_rows: int, target: ClassTarget) -> float:
    """Half the rows; one against the rest, times the classes."""
    return n_rows / 2 if target.n_classes == 2 or target.pairs else n_rows * target.n_classes / 2


def _given(name: str, values: Any, must_be: str, holds: Callable[[Any], bool]) -> tuple[float, ...]:
    """Candidates of a user's, checked and without repeats; empty for "auto"."""
    if isinstance(values, str):
        check_choice(name, values, ("auto",))
        return ()
    listed = tuple(dict.fromkeys(np.atleast_1d(np.asarray(values)).tolist()))
    if not listed:
        raise ValueError(f"{name} must have one value or more, or be 'auto'.")
    for value in listed:
        check_number(f"each of {name}", value, must_be, holds)
    return tuple(float(value) for value in sorted(listed))


def _default_folds(codes: NDArray[np.int64], seed: int) -> StratifiedKFold:
    most = int(np.bincount(codes).max())
    if most < 2:
        raise ValueError("each class has one row only: a search needs two or more rows per class.")
    return StratifiedKFold(min(FOLDS, most), shuffle=True, random_state=seed % 2**32)


def _calibrated(
    field: Field, stages: list[Stage], outcome: Outcome, weights: NDArray[np.float64], shifted: bool
) -> Calibrator:
    """Probabilities from the decisions of the best trial, made again where they were not kept."""
    trial, target = outcome.trial, field.target
    stage = stages[0 if trial is None else trial.stage]
    decisions = None if trial is None else trial.decisions
    if decisions is None:
        setting = outcome.best if trial is None else trial.setting
        decisions = evaluate(replace(field, deadline=None), stage, [setting], EXPONENT)[0].decisions
    assert decisions is not None and isinstance(target, ClassTarget)
    held = np.concatenate([fold.held for fold in stage.all_folds])
    return fit_calibrator(
        np.concatenate(decisions), target.codes[held], weights[held], target.n_classes, target.pairs, shifted
    )
