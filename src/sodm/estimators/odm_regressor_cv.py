"""A regressor that chooses its own parameters."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from sodm.estimators import defaults
from sodm.estimators.odm_regressor import ODMRegressor
from sodm.estimators.search_base import KernelSearch, Stated
from sodm.estimators.shared_parameters import SEARCH, SearchParameters, shows_all_parameters
from sodm.estimators.sodm_regressor import SODMRegressor
from sodm.problem.losses import TargetLoss
from sodm.problem.row_types import MatrixLike, Rows
from sodm.problem.targets import root_mean_squares, units_of
from sodm.search.grid import LAMS_OF_NUMBERS
from sodm.search.numbers import NumberTarget, score_of
from sodm.search.settings import Setting
from sodm.search.task import Array


@shows_all_parameters(SEARCH)
class ODMRegressorCV(RegressorMixin, KernelSearch):
    """`ODMRegressor` with gamma and lam chosen by cross-validation.

    One kernel matrix for each gamma serves all folds and all lam, which are solved one from the other. Where
    rows are many, all settings are tried on 1,000 of them, what is around the best on more, and lam is
    carried to all rows by what was seen on two sizes. The search centres targets by their mean over all rows.

    Scale the features first: put this behind a scaler in a pipeline.

    Parameters
    ----------
    lams : "auto" or sequence of floats, default="auto"
        Candidates. "auto" begins with powers of four around the number of rows, and goes on between and
        beyond them.
    upsilon : float, default=1.0
    epsilon : float, default=0.0
        Both as for `ODMRegressor`.
    fit_intercept : bool, default=True
    refit : {"auto", "exact", "scalable"} or False, default="auto"
        The machine that is fitted to all rows: `ODMRegressor` or `SODMRegressor`. "auto" is the exact one
        below 50,000 rows, and where a kernel is no kernel by name. False searches only: there is no
        machine then.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn's for values; None is R^2, the mean of several targets'.
    time_limit : float or None, default=None
        Seconds. The search takes the best it has found when six tenths of them are over (all, if `refit` is
        False); the fit of all rows has no limit.

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
        upsilon: float = 1.0,
        epsilon: float = 0.0,
        fit_intercept: bool = True,
        **shared: Unpack[SearchParameters],
    ) -> None:
        super().__init__(upsilon=upsilon, **shared)
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> ODMRegressorCV:
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
        if len(y) < 2:
            raise ValueError(f"{type(self).__name__} needs two or more rows to search on, got n_samples = 1.")
        values = y.reshape(len(y), -1).T
        centre = np.average(values, axis=1, weights=weights) if self.fit_intercept else np.zeros(len(values))
        unit = units_of(root_mean_squares(values - centre[:, None], weights), self.epsilon)
        scorer = self._scorer()
        score = None if scorer is None else score_of(scorer, X, y, centre, unit, score_params)
        target = NumberTarget((values - centre[:, None]) / unit[:, None], weights, score)
        # What theta is to the search of classes, epsilon is here: the half-width of the zone without loss.
        epsilon = float(self.epsilon / unit.max())
        lams = tuple(len(y) * k for k in LAMS_OF_NUMBERS)
        grid = self._candidates(X, weights, {epsilon: lams}, (False,))
        return Stated(target, y, lambda width, lam: TargetLoss(lam, float(self.upsilon), width), grid)

    def _chosen(self, best: Setting) -> dict[str, Any]:
        return {"gamma": best.gamma, "lam": best.lam}

    def _machine(
        self, chosen: dict[str, Any], n_rows: int, seconds: float | None
    ) -> ODMRegressor | SODMRegressor:
        by_name = not callable(self.kernel) and self.kernel != "precomputed"
        many = self.refit == "auto" and by_name and n_rows >= defaults.SCALABLE_FROM
        machine = SODMRegressor if many or self.refit == "scalable" else ODMRegressor
        return machine(**self._shared("epsilon", "fit_intercept"), **chosen)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
