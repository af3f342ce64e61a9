"""A machine that chooses its own parameters, and knows how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from sodm.estimators import defaults
from sodm.estimators.odm import ODMClassifier
from sodm.estimators.parameters import check_choice
from sodm.estimators.search_base import KernelSearch, Stated, given
from sodm.estimators.shared_parameters import SEARCH, SearchParameters, shows_all_parameters
from sodm.estimators.sodm import SODMClassifier
from sodm.estimators.weights import ClassWeight, class_weights
from sodm.problem.losses import Loss, make_loss
from sodm.problem.row_types import MatrixLike, Rows
from sodm.search.calibrate import Calibrator, first_is, fit_calibrator
from sodm.search.classes import ClassTarget
from sodm.search.evaluate import evaluate
from sodm.search.field import Field
from sodm.search.grid import LAMS
from sodm.search.halving import Outcome
from sodm.search.near import Local
from sodm.search.scoring import score_of
from sodm.search.settings import Setting
from sodm.search.stage import Stage
from sodm.search.task import Array, Target

# Of a narrow zone the upper end keeps margins from growing where classes are clear (docs/parameters.md).
THETA = 0.9
CERTAIN = 3e-3  # relative duality gap of a trial that probabilities are made of


@shows_all_parameters(SEARCH)
class ODMClassifierCV(ClassifierMixin, KernelSearch):
    """The kernel machine with its parameters chosen by cross-validation, and with calibrated probabilities.

    `fit` searches gamma and lam, fits the machine with the best of them to all rows, and makes probabilities
    of the decisions that the search has made on rows held out. Below 2,000 rows settings are tried on all
    rows; where rows are more, first on 1,000 of them, then what is around the best on more, and lam is
    carried to all rows by what was seen on two sizes. Where rows are many, neighbourhoods, as dense as all
    rows are, tell whether a finer kernel is wanted than samples show. A gamma's largest lams are left out
    once its scores have turned down along lam or are a standard error below the best of all, unless `lams`
    are given.

    Scale the features first: put this behind a scaler in a pipeline.

    Parameters
    ----------
    lams : "auto" or sequence of floats, default="auto"
        Candidates. "auto" begins with powers of four around half the rows of a machine, and goes on between
        and beyond them.
    upsilon : float, default=0.5
    thetas : "auto" or sequence of floats, default="auto"
        Candidates. "auto" is 0.9 alone: with it lam and gamma can do what a smaller theta could, and more.
    intercepts : "auto" or sequence of bools, default="auto"
        Candidates for `fit_intercept`. "auto" is True alone, False alone where there is a `class_weight`.
    loss : {"odm", "hinge"}, default="odm"
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn's; None is accuracy. With rare classes choose "balanced_accuracy", or the
        machine that never finds them may be the best. Scorers that want probabilities get calibrated ones:
        each half of the rows held out by the other.
    refit : {"auto", "exact", "scalable"} or False, default="auto"
        The machine that is fitted to all rows: `ODMClassifier` or `SODMClassifier`. "auto" is the exact one
        below 50,000 rows, unless there is a time limit. False searches only: there is no machine then.
    time_limit : float or None, default=None
        Seconds. The search takes the best it has found when six tenths of them are over.
    class_weight : dict or "balanced", default=None

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
        upsilon: float = defaults.UPSILON,
        thetas: Literal["auto"] | Sequence[float] = "auto",
        intercepts: Literal["auto"] | Sequence[bool] = "auto",
        loss: Literal["odm", "hinge"] = "odm",
        class_weight: ClassWeight = None,
        **shared: Unpack[SearchParameters],
    ) -> None:
        super().__init__(upsilon=upsilon, **shared)
        self.thetas = thetas
        self.intercepts = intercepts
        self.loss = loss
        self.class_weight = class_weight

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        **params: Any,
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
        return self._search(X, y, sample_weight, groups, params)

    def _state(
        self, X: Rows, y: NDArray[Any], weights: Array, weighted_out: bool, score_params: dict[str, Any]
    ) -> Stated:
        classes, codes = np.unique(y, return_inverse=True)
        self._check_classes(classes, weighted_out)
        own = weights * class_weights(self.class_weight, classes, codes, weights)[codes]
        scorer = self._scorer()
        score = None if scorer is None else score_of(scorer, X, y, classes, score_params)
        target = ClassTarget(codes, len(classes), own, pairs=True, score=score)
        thetas = given("thetas", self.thetas, "in [0, 1)", lambda v: 0 <= v < 1) or (THETA,)
        intercepts: tuple[bool, ...] = (self.class_weight is None,)
        if isinstance(self.intercepts, str):
            check_choice("intercepts", self.intercepts, ("auto",))
        else:
            intercepts = tuple(dict.fromkeys(bool(v) for v in np.atleast_1d(self.intercepts)))
            if not intercepts:
                raise ValueError("intercepts must have one value or more, or be 'auto'.")

        def loss_of(theta: float, lam: float) -> Loss:
            return make_loss(self.loss, lam, self.upsilon, theta)

        # At the same lam / (1 - theta)^2 a row weighs the same: docs/parameters.md, "theta".
        usual = loss_of(defaults.THETA, len(y) / 2).scale(1.0)
        lams = {theta: tuple(k * usual / loss_of(theta, 1.0).scale(1.0) for k in LAMS) for theta in thetas}
        self.classes_ = classes
        return Stated(target, codes, loss_of, self._candidates(X, own, lams, intercepts))

    def _check_classes(self, classes: NDArray[Any], weighted: bool) -> None:
        if len(classes) < 2:
            where = " where sample_weight > 0" if weighted else ""
            raise ValueError(
                f"{type(self).__name__} needs two or more classes: y has one class only{where}, "
                f"{classes.tolist()[0]!r}."
            )

    def _chosen(self, best: Setting) -> dict[str, Any]:
        return {"gamma": best.gamma, "lam": best.lam, "theta": best.theta, "fit_intercept": best.intercept}

    def _machine(self, chosen: dict[str, Any], n_rows: int, seconds: float | None) -> Any:
        shared = self._shared("loss", "class_weight")
        if self._is_scalable(n_rows):
            refine = self.refit == "auto" and seconds is not None
            return SODMClassifier(**shared, **chosen, time_limit=seconds, refine=refine)
        return ODMClassifier(**shared, **chosen)

    def _is_scalable(self, n_rows: int) -> bool:
        """Whether the machine for all rows is the scalable one."""
        if self.refit == "auto":
            return self.time_limit is not None or n_rows >= defaults.SCALABLE_FROM
        return self.refit == "scalable"

    def _set_fitted(self, field: Field, stages: list[Stage], outcome: Outcome, weights: Array) -> None:
        self._calibrator = _calibrated(field, stages, outcome, weights, self.class_weight is not None)

    def _local(self, target: Target, n_rows: int) -> Local:
        """Regions take each class against the rest, with a lam that is larger by the number of classes."""
        assert isinstance(target, ClassTarget)
        if not (target.pairs and self._is_scalable(n_rows)):
            return Local(target)
        return Local(target.against_the_rest(), target.n_classes)

    def _suits(self, target: Target) -> dict[str, Any]:
        assert isinstance(target, ClassTarget)
        return {} if target.pairs or target.n_classes == 2 else {"multi_class": "ovr"}

    def _better_suited(
        self, field: Field, stages: list[Stage], outcome: Outcome
    ) -> tuple[Field, Outcome, dict[str, Any]] | None:
        """Trials are in pairs of classes, and regions take each class against the rest, which asks for a lam
        that is larger by the number of classes (docs/defaults.md)."""
        machine, trial = self.best_estimator_, outcome.trial
        assert isinstance(field.target, ClassTarget)
        if not field.target.pairs or machine._one_against_one:
            return None
        factor = len(self.classes_) if isinstance(self.lams, str) else 1
        # Probabilities are made of one trial: at a large lam a gap of the search's size, which is a share of
        # 1/2 |w|^2, may leave rows to chance.
        field = replace(field, target=field.target.against_the_rest(), deadline=None, tol=CERTAIN)
        best = outcome.best.with_lam(factor * outcome.best.lam)
        changes = {"lam": best.lam, "multi_class": "ovr"} if factor > 1 else {}
        if trial is None:
            return field, replace(outcome, best=best), changes
        setting = trial.setting.with_lam(factor * trial.setting.lam)
        (again,) = evaluate(field, stages[trial.stage], [setting], trial.stage)
        return field, replace(outcome, best=best, trial=again, trials=[*outcome.trials, again]), changes

    # ---------------------------------------------------------------------------------------- decisions

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """The values f(x) of the machine, see `ODMClassifier.decision_function`."""
        return self._fitted_machine().decision_function(X)

    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Calibrated probabilities of the classes, shape (n_samples, n_classes), in the order of `classes_`.

        The most probable class is the one that `predict` gives, unless there is a `class_weight`: then
        probabilities are those of the rows as they are, and decisions those of the weights.
        """
        machine = self._fitted_machine()
        values = self._calibrator(machine._values(X))
        if self.class_weight is None and len(self.classes_) > 2:
            first_is(values, np.searchsorted(self.classes_, self.predict(X)))
        return values


def _calibrated(
    field: Field, stages: list[Stage], outcome: Outcome, weights: NDArray[np.float64], shifted: bool
) -> Calibrator:
    """Probabilities from the decisions of the best trial, made again where they were not kept."""
    trial, target = outcome.trial, field.target
    stage = stages[0 if trial is None else trial.stage]
    decisions = None if trial is None else trial.decisions
    if decisions is None:
        setting = outcome.best if trial is None else trial.setting
        decisions = evaluate(replace(field, deadline=None), stage, [setting])[0].decisions
    assert decisions is not None and isinstance(target, ClassTarget)
    held = stage.held
    return fit_calibrator(
        np.concatenate(decisions), target.codes[held], weights[held], target.n_classes, target.pairs, shifted
    )
