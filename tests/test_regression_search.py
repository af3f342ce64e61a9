"""ODMRegressorCV: a search that finds what a grid search finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import sodm
from sodm import ODMRegressor, ODMRegressorCV, SODMRegressor


def task(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 100 + 30 * np.sin(2 * X[:, 0]) + 10 * X[:, 1] + 5 * rng.normal(size=n)


def test_given_candidates_score_as_in_a_grid_search():
    X, y = task()
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    gammas, lams = [0.1, 0.5], [30.0, 300.0, 3000.0]
    own = ODMRegressorCV(gammas=gammas, lams=lams, cv=folds, epsilon=1.0).fit(X, y)
    theirs = GridSearchCV(ODMRegressor(epsilon=1.0, tol=1e-6), {"gamma": gammas, "lam": lams}, cv=folds)
    found = theirs.fit(X, y).cv_results_
    pairs = zip(found["params"], found["mean_test_score"], strict=True)
    scores = {(p["gamma"], p["lam"]): score for p, score in pairs}
    for p, s in zip(own.cv_results_["params"], own.cv_results_["mean_test_score"], strict=True):
        assert abs(scores[p["gamma"], p["lam"]] - s) < 0.01
    best = own.best_params_
    assert scores[best["gamma"], best["lam"]] > max(scores.values()) - 0.01


@pytest.mark.parametrize("n", [300, 1200])
def test_the_search_beats_the_defaults(n):
    X, y = task(n=n)
    X_test, y_test = task(n=2000, seed=1)
    own = ODMRegressorCV().fit(X, y)
    assert own.score(X_test, y_test) >= ODMRegressor().fit(X, y).score(X_test, y_test) - 0.002
    assert own.score(X_test, y_test) > 0.9 and abs(own.best_score_ - own.score(X_test, y_test)) < 0.05
    again = ODMRegressorCV(n_jobs=1).fit(X, y)
    assert again.best_params_ == own.best_params_
    np.testing.assert_array_equal(again.predict(X_test), own.predict(X_test))


def test_a_search_without_a_machine_and_a_machine_saved_from_a_search(tmp_path):
    X, y = task(n=100)
    few = {"gammas": [0.3], "lams": [100.0, 1000.0]}
    searched, own = ODMRegressorCV(refit=False, **few).fit(X, y), ODMRegressorCV(**few).fit(X, y)
    assert searched.best_params_ == own.best_params_
    with pytest.raises(NotFittedError):
        searched.predict(X)
    sodm.save(own, tmp_path / "m.sodm")
    np.testing.assert_array_equal(sodm.load(tmp_path / "m.sodm").predict(X), own.predict(X))


def test_scorers_weights_several_targets_and_sparse_rows():
    X, y = task(n=200)
    small = {"gammas": [0.3], "lams": [100.0, 1000.0]}
    both = np.column_stack([y, 1e-4 * X[:, 0]])
    own = ODMRegressorCV(scoring="neg_mean_absolute_error", **small).fit(sparse.csr_matrix(X), both)
    assert own.predict(X).shape == both.shape and own.best_score_ < 0
    weights = np.r_[np.zeros(20), np.ones(180)]
    weighted = ODMRegressorCV(**small).fit(X, y, weights)
    left_out = ODMRegressorCV(**small).fit(X[20:], y[20:])
    np.testing.assert_array_equal(weighted.predict(X), left_out.predict(X))
    scalable = ODMRegressorCV(refit="scalable", **small).fit(X[20:], y[20:])
    assert isinstance(scalable.best_estimator_, SODMRegressor)
    np.testing.assert_array_equal(scalable.predict(X), left_out.predict(X))  # few rows are solved exactly
    precomputed = ODMRegressorCV(kernel="precomputed", lams=[10.0, 100.0]).fit(np.exp(X @ X.T / 9), y)
    assert precomputed.best_params_["lam"] in (10.0, 100.0)


@parametrize_with_checks([ODMRegressorCV(gammas=[0.1, 1.0], lams=[10.0, 1000.0], cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
