"""Neighbourhoods as the last stage of a search."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss

from sodm import ODMClassifierCV, ODMRegressorCV
from sodm.search.classes import ClassTarget
from sodm.search.near import near_samples, together
from sodm.search.numbers import NumberTarget
from sodm.search.pool import OutOfTime
from sodm.search.stage import hold_out

SIZE = 500  # rows of a neighbourhood here


def waves(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of the unit square, and a function of them whose fine waves no sample of 1,000 shows."""
    X = np.random.default_rng(seed).random((n, 2))
    coarse, fine = np.sin(3 * X[:, 0] + 2 * X[:, 1]), np.sin(70 * X[:, 0]) * np.sin(70 * X[:, 1])
    return X, 0.6 * coarse + fine


def borders(n: int, seed: int = 0, cuts: tuple[float, ...] = (0.0,)) -> tuple[np.ndarray, np.ndarray]:
    X, f = waves(n, seed)
    return X, np.digitize(f, cuts)


def smooth(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    return X, (X.sum(axis=1) + rng.normal(scale=0.5, size=n) > 2).astype(int)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages of 1,000 rows at the most, and neighbourhoods of few."""
    monkeypatch.setattr("sodm.search.plan.MOST_ROWS", 1000)
    monkeypatch.setattr("sodm.search.near.REGION_ROWS", SIZE)


def without(monkeypatch: pytest.MonkeyPatch, search: Any, X: Any, y: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr("sodm.estimators.search_base.look_near", lambda *args: None)
        return search.fit(X, y)


@pytest.mark.usefixtures("small")
def test_borders_that_a_sample_does_not_show_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    (X, y), (X_test, y_test) = borders(6000), borders(2000, seed=1)
    by_samples = without(monkeypatch, ODMClassifierCV(random_state=0), X, y)
    model = ODMClassifierCV(random_state=0).fit(X, y)
    assert model.best_params_["gamma"] > 3 * by_samples.best_params_["gamma"]
    assert model.score(X_test, y_test) > by_samples.score(X_test, y_test) + 0.05
    losses = [log_loss(y_test, machine.predict_proba(X_test)) for machine in (model, by_samples)]
    assert losses[0] < losses[1] - 0.05  # what probabilities are made of are decisions of neighbourhoods
    # The stage is one of the search: in its path, its table and its picture.
    last, results = model.search_path_[-1], model.cv_results_
    assert last["gamma"] == model.best_params_["gamma"] and last["rows"] == results["n_resources"].max()
    near = results["iter"] == len(model.search_path_) - 1
    assert near.sum() == last["settings"]
    assert model.best_score_ in results["mean_test_score"][near]
    # lam of a neighbourhood is such that a row costs there what it costs among all.
    shares = results["lam_tried"][near] / results["param_lam"][near]
    assert_allclose(shares, shares[0])
    assert 0.5 * SIZE / 6000 < shares[0] < 1.5 * SIZE / 6000


@pytest.mark.usefixtures("small")
def test_what_samples_chose_stays_where_near_rows_tell_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = smooth(6000)
    model = ODMClassifierCV(random_state=0).fit(X, y)
    other = without(monkeypatch, ODMClassifierCV(random_state=0), X, y)
    assert model.best_params_ == other.best_params_
    assert len(model.search_path_) == len(other.search_path_)
    assert_array_equal(model.predict_proba(X[:100]), other.predict_proba(X[:100]))


@pytest.mark.usefixtures("small")
def test_the_same_for_any_number_of_threads() -> None:
    X, y = borders(6000)
    one, two = (ODMClassifierCV(random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.best_params_ == two.best_params_ and len(one.search_path_) == 2
    assert_array_equal(one.decision_function(X[:200]), two.decision_function(X[:200]))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "given", [{"cv": 3}, {"gammas": [1.0, 16.0]}, {"lams": [3000.0]}, {"kernel": "poly"}, {"cache_size": 1}]
)
def test_who_says_what_is_tried_is_not_overruled(given: dict[str, Any]) -> None:
    X, y = borders(4000)
    model = ODMClassifierCV(random_state=0, refit=False, **given).fit(X, y)
    assert max(model.cv_results_["n_resources"]) <= 1000


@pytest.mark.usefixtures("small")
@pytest.mark.slow
def test_regions_of_several_classes_are_tried_against_the_rest() -> None:
    cuts = (-0.3, 0.3)
    (X, y), (X_test, y_test) = borders(6000, cuts=cuts), borders(2000, 1, cuts)
    model = ODMClassifierCV(random_state=0, refit="scalable", scoring="balanced_accuracy").fit(X, y)
    assert len(model.search_path_) == 2 and model.best_estimator_.multi_class == "ovr"
    assert model.best_estimator_.lam == model.best_params_["lam"]
    assert model.score(X_test, y_test) > 0.6
    assert model.predict_proba(X_test).shape == (2000, 3)
    exact = ODMClassifierCV(random_state=0, refit="exact").fit(X, y)
    assert exact.best_estimator_.multi_class == "auto"
    assert exact.score(X_test, y_test) > 0.6


@pytest.mark.usefixtures("small")
def test_numbers_too() -> None:
    X, f = waves(6000)
    y = f + np.random.default_rng(1).normal(scale=0.1, size=6000)
    model = ODMRegressorCV(random_state=0).fit(X[:5000], y[:5000])
    assert len(model.search_path_) == 2
    assert model.score(X[5000:], y[5000:]) > 0.8


@pytest.mark.usefixtures("small")
def test_when_time_is_up_samples_have_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(*args: Any) -> Any:
        raise OutOfTime

    X, y = borders(4000)
    other = without(monkeypatch, ODMClassifierCV(random_state=0, refit=False), X, y)
    monkeypatch.setattr("sodm.search.near.evaluate", too_late)
    model = ODMClassifierCV(random_state=0, refit=False).fit(X, y)
    assert model.best_params_ == other.best_params_


@pytest.mark.usefixtures("small")
def test_rows_held_out_are_near_and_have_been_seen_by_no_machine() -> None:
    X, _ = borders(5000)
    last = hold_out(np.arange(0, 5000, 5), np.arange(1, 5000, 5), 5000)
    stage = together(near_samples(X, last, 6, seed=0, n_threads=2))
    assert len(stage.parts) == 6 and stage.pooled
    for part in stage.parts:
        [fold] = part.folds
        assert len(np.intersect1d(fold.held, part.rows)) == 0
        assert len(np.intersect1d(fold.held, last.rows)) == 0
        assert np.ptp(X[part.rows], axis=0).max() < 0.8  # of a square of length 1
    assert_array_equal(stage.held, np.concatenate([part.folds[0].held for part in stage.parts]))


def test_what_rows_cost_is_what_the_score_says() -> None:
    rng = np.random.default_rng(0)
    rows, codes = np.arange(40, 90), rng.integers(0, 3, 100)
    classes = ClassTarget(codes, 3, np.ones(100), pairs=False)
    decisions = rng.normal(size=(50, 3))
    costs = classes.costs(decisions, rows)
    assert costs is not None
    assert_allclose(1 - costs.mean(), classes.score(decisions, rows))
    weights = rng.random(100)
    numbers = NumberTarget(rng.normal(size=(2, 100)), weights)
    costs = numbers.costs(decisions[:, :2], rows)
    assert costs is not None
    assert_allclose(1 - costs.sum() / weights[rows].sum(), numbers.score(decisions[:, :2], rows))


def test_scores_of_no_single_rows_have_no_costs() -> None:
    classes = ClassTarget(np.array([0, 1]), 2, np.ones(2), pairs=True, score=lambda *args: 0.5)
    assert classes.costs(np.ones((2, 1)), np.arange(2)) is None
    numbers = NumberTarget(np.ones((1, 2)), np.ones(2), score=lambda *args: 0.5)
    assert numbers.costs(np.ones((2, 1)), np.arange(2)) is None
