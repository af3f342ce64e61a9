"""The search for good parameters: shared kernel values, halving, and the machine that comes of it."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer, log_loss, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale

from sodm import ODMClassifier, ODMClassifierCV, ODMRegressorCV, SearchDisplay, _core, load, save
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss, make_loss
from sodm.search.calibrate import Sigmoid, coupled, fit_calibrator
from sodm.search.classes import ClassTarget
from sodm.search.evaluate import AT_ONCE, evaluate
from sodm.search.field import TOL, Field
from sodm.search.grid import GAMMAS, LAMS, Grid
from sodm.search.halving import choose, measured_exponent, search
from sodm.search.ladder import Ladder, Solved
from sodm.search.path import Chain, Gram, solve_paths
from sodm.search.plan import plan
from sodm.search.scoring import Decided
from sodm.search.settings import Setting, Trial
from sodm.search.stage import Stage, cross_validation, halves, hold_out, nested_order
from sodm.search.surface import surface
from sodm.search.task import Task
from sodm.solvers.exact import solve


def noisy(n: int, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, class_sep=1.0, random_state=seed
    )
    return minmax_scale(X), y


def field(X: np.ndarray, y: np.ndarray, n_threads: int = 1, pairs: bool = False) -> Field:
    target = ClassTarget(y, int(y.max()) + 1, np.ones(len(y)), pairs)
    return Field(X, Kernel("rbf"), target, lambda theta, lam: make_loss("odm", lam, 0.5, theta), 0, n_threads)


def test_rows_of_a_stored_matrix_are_a_problem_of_their_own() -> None:
    X, y = noisy(90)
    K = X @ X.T
    rows = np.random.default_rng(0).permutation(90)[:50]
    signs, weights, loss = np.where(y[rows] > 0, 1.0, -1.0)[None], np.ones(50), OdmLoss(30.0, 0.5, 0.3)
    whole = solve(_core.MatrixSource(K[np.ix_(rows, rows)], 1.0, True), signs, weights, loss, tol=1e-10)
    for definite in (False, True):
        source = _core.MatrixSource(K, 1.0, True, rows, definite)
        part = solve(source, signs, weights, loss, tol=1e-10)
        assert_allclose(part.objective, whole.objective, rtol=1e-9)
        assert_allclose(part.decision, whole.decision, atol=1e-5)
    with pytest.raises(ValueError, match="rows must be rows"):
        _core.MatrixSource(K, 1.0, True, np.array([90]), True)


def chequered(n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.random((n, 2))
    return X, (np.floor(8 * X).sum(axis=1) % 2).astype(int) ^ (random.random(n) < 0.05)


def test_a_trial_at_a_large_lam_decides_as_the_machine_does() -> None:
    X, y = chequered(3000)
    setting, stage = (
        Setting(100.0, True, 0.6, 64 * 1500.0),
        hold_out(np.arange(1500), np.arange(1500, 3000), 1500),
    )
    [trial] = evaluate(field(X, y), stage, [setting])
    assert trial.decisions is not None
    machine = ODMClassifier(gamma=100.0, lam=setting.lam, fit_intercept=True, tol=1e-5)
    machine.fit(X[stage.rows], y[stage.rows])
    assert np.mean((trial.decisions[0][:, 0] > 0) != machine.predict(X[stage.held])) < 0.05


def test_a_large_lam_is_come_up_to_and_gone_on_from() -> None:
    easy = Setting(1.0, True, 0.6, 10.0)
    large = Ladder([easy.with_lam(640.0), easy.with_lam(2560.0)])
    assert [setting.lam for setting in large.rungs(easy.lam)] == [40.0, 160.0]
    assert Ladder([easy.with_lam(40.0)]).rungs(easy.lam) == []
    known = {easy.with_lam(0.0): Solved(160.0, [])}
    large.begin(known)
    assert large.last is not None and large.rungs(easy.lam) == []
    smaller = Ladder([easy.with_lam(20.0)])
    smaller.begin(known)
    assert smaller.last is None  # the way is upwards only
    large.last = Solved(2560.0, [])
    large.leave(known)
    assert known[easy.with_lam(0.0)].lam == 2560.0


def test_what_is_known_of_a_stage_changes_no_more_than_the_gap_allows() -> None:
    X, y = noisy(600)
    stage, known = hold_out(np.arange(300), np.arange(300, 600), 300), {}
    settings = [Setting(1.0, True, 0.6, lam * 300.0) for lam in (8.0, 32.0)]
    evaluate(field(X, y), stage, settings[:1], known=known)
    [solved] = known.values()
    assert solved.lam == settings[0].lam
    [gone_on] = evaluate(field(X, y), stage, settings[1:], known=known)
    [alone] = evaluate(field(X, y), stage, settings[1:])
    assert gone_on.score == pytest.approx(alone.score, abs=0.02)


@pytest.mark.parametrize("share", [0.05, 0.8])  # of the rows: a task of a few, and one that sweeps cannot do
def test_machines_along_lam_are_solved_and_go_on_from_each_other(share: float) -> None:
    X, y = noisy(900)
    K = np.exp(-20 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    rows, held = np.arange(0, int(900 * share)), np.arange(700, 900)
    signs, weights, offset = np.where(y > 0, 1.0, -1.0)[None, rows], np.linspace(0.5, 1.5, len(rows)), 1.0
    gram = Gram(K.astype(np.float32), True)
    task = Task(rows, signs, weights, np.array([0]), share=0.5)
    losses = [OdmLoss(lam, 0.5, 0.6) for lam in (20.0, 200.0, 2e3, 2e5)]
    settings = {"tol": TOL, "seed": 0, "n_threads": 1, "stop": None}
    [[path]] = solve_paths([Chain(gram, [task], [held], losses, offset)], **settings)
    for loss, coefficients, values in zip(losses, path.coefficients[:, 0], path.held[:, 0], strict=True):
        f = (K + offset)[:, rows] @ coefficients
        own = OdmLoss(0.5 * loss.lam, 0.5, 0.6)  # a row costs the same in a machine of half the weight
        margins, duals = signs[0] * f[rows], signs[0] * coefficients
        gap = float(own.young(margins, duals, weights).sum())
        assert gap <= 1.1 * TOL * (duals @ margins / 2 + own.primal(margins, weights))
        assert_allclose(values, f[held], atol=1e-3 * np.abs(f).max())
    [first] = solve_paths([Chain(gram, [task], [None], losses[:2], offset)], **settings)
    [[second]] = solve_paths([Chain(gram, [task], [held], losses[2:], offset, first)], **settings)
    assert_allclose(second.held, path.held[2:], atol=0.1)  # up to the gap


@pytest.mark.parametrize("intercept", [False, True])
def test_trials_are_the_scores_of_cross_validation(intercept: bool) -> None:
    X, y = noisy(300)
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    stage = cross_validation(np.arange(300), folds, y, None, 300)
    settings = [Setting(gamma, intercept, 0.6, lam) for gamma in (1.0, 4.0) for lam in (50.0, 500.0)]
    certain = replace(field(X, y), tol=1e-5)  # at the usual gap some decisions differ
    for trial in evaluate(certain, stage, settings):
        s = trial.setting
        machine = ODMClassifier(gamma=s.gamma, lam=s.lam, fit_intercept=intercept, tol=1e-5)
        assert_allclose(trial.scores, cross_val_score(machine, X, y, cv=folds), atol=1e-12)


def test_rows_held_out_may_be_outside_the_matrix() -> None:
    X, y = noisy(400)
    rows, held = np.arange(250), np.arange(250, 400)
    [trial] = evaluate(field(X, y), hold_out(rows, held, 250), [Setting(2.0, True, 0.6, 100.0)])
    machine = ODMClassifier(gamma=2.0, lam=100.0, fit_intercept=True, tol=1e-5).fit(X[rows], y[rows])
    assert trial.decisions is not None
    assert_allclose(trial.decisions[0][:, 0], machine.decision_function(X[held]), atol=0.1)
    assert abs(trial.score - machine.score(X[held], y[held])) <= 2 / 150


def test_several_classes_in_pairs_vote() -> None:
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    stage = cross_validation(np.arange(150), StratifiedKFold(5), y, None, 150)
    pairs, rest = (
        evaluate(field(X, y, pairs=p), stage, [Setting(2.0, True, 0.6, 100.0)])[0] for p in (True, False)
    )
    assert pairs.decisions is not None and pairs.decisions[0].shape == (30, 3)
    assert pairs.score > 0.93 and rest.score > 0.93


def test_gammas_that_are_behind_go_on_to_no_larger_lam() -> None:
    X, y = noisy(400)
    stage = cross_validation(np.arange(400), StratifiedKFold(4), y, None, 400)
    lams = [10.0 * 4**k for k in range(6)]
    settings = [Setting(gamma, True, 0.6, lam) for gamma in (2.0, 500.0) for lam in lams]
    trials, all_of_them = (evaluate(field(X, y), stage, settings, whole=w) for w in (False, True))
    assert len(all_of_them) == 12
    good, bad = ([t for t in trials if t.setting.gamma == gamma] for gamma in (2.0, 500.0))
    best = max(trials, key=lambda t: t.score)
    assert len(bad) == AT_ONCE < len(good)  # all lams that are tried before the first look
    assert bad[-1].score < best.score - best.error


def trials_of(scores: Any, error: float = 0.01, theta: float = 0.6) -> list[Trial]:
    """One for each gamma (rows) and lam (columns), powers of two and of four."""
    return [
        Trial(Setting(2.0**g, True, theta, 4.0**k), 0, 100, np.array([score]), np.zeros(1), error)
        for g, own in enumerate(scores)
        for k, score in enumerate(own)
    ]


def test_the_surface_is_nearer_the_truth_than_scores_are() -> None:
    g, k = np.mgrid[0:6, 0:6]
    truth = 0.9 - 0.002 * (g - 2) ** 2 - 0.003 * (k - 3) ** 2 - 0.002 * (g - 2) * (k - 3)
    exact = surface(trials_of(truth)).reshape(6, 6)
    assert_allclose(exact, truth, atol=2e-4)
    lost = []
    for seed in range(40):
        trials = trials_of(truth + np.random.default_rng(seed).normal(0, 0.01, (6, 6)))
        highest = int(np.argmax([t.score for t in trials]))
        chosen = trials.index(choose(trials, {0.6: 4.0**3}))
        lost.append([0.9 - truth.flat[highest], 0.9 - truth.flat[chosen]])
    by_score, by_surface = np.mean(lost, axis=0)
    assert by_surface < by_score / 2


def test_a_surface_of_few_settings_and_of_other_kinds() -> None:
    assert_allclose(surface(trials_of([[0.7]])), [0.7])
    assert_allclose(surface(trials_of([[0.7, 0.8]], error=0.0)), [0.8, 0.8], atol=0.11)
    low, high = trials_of([[0.5, 0.5]], theta=0.3), trials_of([[0.8, 0.9]])
    assert_allclose(surface(low + high)[2:], surface(high))  # of another theta: no neighbours
    assert choose(low + high, {0.3: 1.0, 0.6: 1.0}) is high[1]
    spoilt = trials_of([[0.7, 0.8, 0.9], [0.7, 0.8, -1e9]])  # as logarithms of a loss may be
    assert choose(spoilt, {0.6: 1.0}) is spoilt[2]


def test_what_is_far_below_the_best_is_not_chosen_whatever_the_surface() -> None:
    # A rare class: where lam is small it is never found, and beyond a border always. No quadratic has a step.
    step = np.full((6, 8), 0.98)
    step[2:, 5:] = 1.0
    for error in (0.0, 1e-3):
        assert choose(trials_of(step, error), {0.6: 4.0**3}).score == 1.0


def test_the_search_goes_where_scores_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid(GAMMAS, {0.6: LAMS}, (True,), True, True)
    stage = Stage(np.arange(100), [], 1.0)

    def score(setting: Setting, top: tuple[float, float]) -> float:
        away = np.log2([setting.gamma, setting.lam]) - top
        return 0.9 - 0.001 * float(away @ away)

    for top in ((-3.0, 8.0), (5.0, -6.0), (-6.0, 4.0)):

        def trials(
            field: Any, stage: Stage, settings: Any, *args: Any, top: tuple[float, float] = top, **more: Any
        ) -> list[Trial]:
            found = [(s, np.array([score(s, top)])) for s in settings]
            return [Trial(s, 0, 100, own, np.zeros(1), 0.001) for s, own in found]

        monkeypatch.setattr("sodm.search.halving.evaluate", trials)
        best = search(field(*noisy(100)), grid, [stage]).best
        assert_allclose(np.log2([best.gamma, best.lam]), top)


def test_matrices_beyond_the_memory_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = noisy(300)
    lams = [10.0 * 4**k for k in range(6)]
    settings = [Setting(gamma, True, 0.6, lam) for gamma in (1.0, 2.0, 4.0) for lam in lams]
    stage = halves(np.arange(150), np.arange(150, 300), 300)
    found = []
    for most in (1 << 20, 400_000, 1):
        monkeypatch.setattr("sodm.search.evaluate.MATRIX_BYTES", most)
        found.append(evaluate(field(X, y, n_threads=2), stage, settings, whole=False))
    for other in found[1:]:
        assert [t.setting for t in other] == [t.setting for t in found[0]]
        assert_array_equal([t.scores for t in other], [t.scores for t in found[0]])


@pytest.mark.parametrize(("n", "folds"), [(900, 5), (1100, 3)])
def test_three_folds_do_from_a_thousand_rows_on(n: int, folds: int) -> None:
    _, y = noisy(n)
    given = {"kept": np.arange(n), "n_given": n, "largest": 5000, "seed": 0}
    [stage] = plan(y, None, None, classes=True, **given)
    assert len(stage.folds) == folds and len(stage.rows) == n
    [of_numbers] = plan(y.astype(float), None, None, classes=False, **given)
    assert len(of_numbers.folds) == 5  # nothing says that three do there
    [asked_for] = plan(y, 4, None, classes=True, **given)
    assert len(asked_for.folds) == 4


def test_lam_is_carried_by_what_two_sizes_say() -> None:
    small, large = (Stage(np.arange(m), [], m / 16_000) for m in (1000, 4000))
    # Seen at the same number on both sizes, which in terms of all rows is a fall by 4^(1/2): "lam stays".
    assert measured_exponent([(small, 7.0), (large, 6.0)]) == 0.0
    assert measured_exponent([(small, 7.0), (large, 8.0)]) == 1.0
    assert measured_exponent([(small, 7.0), (large, 7.0)]) == 0.5
    assert measured_exponent([(small, 7.0), (large, 0.0)]) == 0.0
    assert measured_exponent([(large, 7.0)]) == 0.5


def test_every_beginning_of_the_order_is_a_sample() -> None:
    y = np.repeat([0, 1, 2], [600, 300, 100])
    order = nested_order(y, True, 3)
    assert_array_equal(np.sort(order), np.arange(1000))
    for m in (20, 100, 500):
        assert_allclose(np.bincount(y[order[:m]]) / m, [0.6, 0.3, 0.1], atol=1.5 / m)


def test_chooses_well_and_says_how() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    model = ODMClassifierCV().fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.96
    results = model.cv_results_
    n = len(results["params"])
    assert n >= 20 and all(len(column) == n for column in results.values())
    splits = np.array([results[f"split{k}_test_score"] for k in range(5)])
    assert_allclose(splits.mean(axis=0), results["mean_test_score"])
    assert results["rank_test_score"].min() == 1
    assert model.best_score_ in results["mean_test_score"]
    assert model.best_params_ in results["params"]
    for name, value in model.best_params_.items():
        assert getattr(model.best_estimator_, name) == value
    assert model.search_path_[0]["rows"] == 400


def test_same_result_for_any_number_of_threads() -> None:
    X, y = noisy(3500)
    one, two = (ODMClassifierCV(n_jobs=n, random_state=1).fit(X[:3200], y[:3200]) for n in (1, 2))
    assert one.best_params_ == two.best_params_
    assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert_array_equal(one.predict_proba(X[3200:]), two.predict_proba(X[3200:]))
    tried = [(stage["rows"], stage["folds"]) for stage in one.search_path_]
    assert tried == [(1000, 1), (1600, 2)]  # few rows, then both halves


def test_few_tasks_share_the_threads_and_are_solved_alike() -> None:
    X, y = noisy(1200)
    stage = halves(np.arange(600), np.arange(600, 1200), 1200)
    settings = [Setting(2.0, True, 0.6, lam) for lam in (50.0, 5e4)]  # the larger is Newton's
    one, five = (evaluate(field(X, y, n_threads=n), stage, settings) for n in (1, 5))
    for a, b in zip(one, five, strict=True):
        assert a.decisions is not None and b.decisions is not None
        for left, right in zip(a.decisions, b.decisions, strict=True):
            assert_array_equal(left, right)


def test_given_candidates_are_kept_to() -> None:
    X, y = noisy(2000)
    model = ODMClassifierCV(
        gammas=[0.5, 2.0], lams=[10.0, 1000.0], thetas=[0.3], intercepts=[False, True], cv=3
    ).fit(X, y)
    assert set(model.cv_results_["param_gamma"]) <= {0.5, 2.0}
    assert set(model.cv_results_["param_lam"]) <= {10.0, 1000.0}
    assert model.best_params_["lam"] in (10.0, 1000.0) and model.best_params_["theta"] == 0.3
    with pytest.raises(ValueError, match="each of lams must be a number > 0"):
        ODMClassifierCV(lams=[1.0, -1.0]).fit(X, y)
    with pytest.raises(ValueError, match="gammas must have one value or more"):
        ODMClassifierCV(gammas=[]).fit(X, y)


def test_margins_are_free_to_grow_where_classes_are_clear() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = np.abs(X.sum(axis=1)) < 3
    X = minmax_scale(X)
    wide, narrow = (
        ODMClassifierCV(thetas=thetas, random_state=0).fit(X[:2000], y[:2000]) for thetas in ("auto", [0.6])
    )
    assert wide.best_params_["theta"] == 0.9
    assert wide.score(X[2000:], y[2000:]) > narrow.score(X[2000:], y[2000:]) + 0.02


def test_candidates_for_lam_weigh_a_row_alike_whatever_theta() -> None:
    X, y = noisy(300)
    tried: dict[float, set[float]] = {}
    for params in ODMClassifierCV(thetas=[0.0, 0.6], refit=False, cv=2).fit(X, y).cv_results_["params"]:
        tried.setdefault(params["theta"], set()).add(params["lam"] / (1 - params["theta"]) ** 2)
    coarse = [min(own) for own in tried.values()]
    assert_allclose(coarse[0], coarse[1])


@pytest.mark.parametrize("kernel", ["linear", "laplacian", "poly"])
def test_other_kernels(kernel: str) -> None:
    X, y = noisy(200)
    model = ODMClassifierCV(kernel=kernel, coef0=1.0).fit(X, y)
    assert model.best_score_ > 0.6 and model.predict_proba(X).shape == (200, 2)


def test_precomputed_kernels_and_functions_agree() -> None:
    X, y = noisy(200)
    K = X @ X.T
    model = ODMClassifierCV(kernel="precomputed", cv=3).fit(K[:150, :150], y[:150])
    twin = ODMClassifierCV(kernel=lambda A, B: A @ B.T, cv=3).fit(X[:150], y[:150])
    assert_allclose(model.cv_results_["mean_test_score"], twin.cv_results_["mean_test_score"], atol=0.021)
    assert model.predict(K[150:, :150]).shape == (50,)


def test_groups_and_scorers() -> None:
    X, y = noisy(240)
    groups = np.repeat(np.arange(12), 20)
    model = ODMClassifierCV(cv=GroupKFold(3), lams=[10.0, 100.0], gammas=[1.0]).fit(X, y, groups=groups)
    assert np.isfinite(model.best_score_)
    for scoring in ("roc_auc", "neg_log_loss", "f1", make_scorer(lambda a, b: float(np.mean(a == b)))):
        scored = ODMClassifierCV(scoring=scoring, cv=KFold(3), lams=[100.0], gammas=[1.0]).fit(X, y)
        assert np.isfinite(scored.best_score_)
    plain = ODMClassifierCV(cv=KFold(3), lams=[100.0], gammas=[1.0]).fit(X, y)
    assert_allclose(plain.best_score_, scored.best_score_)
    splits = list(KFold(3).split(X))
    listed = ODMClassifierCV(cv=splits, lams=[100.0], gammas=[1.0]).fit(X, y)
    assert_allclose(listed.best_score_, plain.best_score_)


def test_balanced_accuracy_finds_rare_classes() -> None:
    X, y = make_classification(600, 6, weights=[0.93], flip_y=0.02, class_sep=0.6, random_state=0)
    model = ODMClassifierCV(scoring="balanced_accuracy", class_weight="balanced").fit(minmax_scale(X), y)
    assert model.best_score_ > 0.7


def test_probabilities_are_calibrated() -> None:
    X, y = noisy(1200, seed=3)
    model = ODMClassifierCV().fit(X[:600], y[:600])
    p = model.predict_proba(X[600:])
    assert_allclose(p.sum(axis=1), 1)
    rates = np.bincount(y[:600]) / 600
    assert log_loss(y[600:], p) < 0.8 * log_loss(y[600:], np.tile(rates, (600, 1)))
    sure = p[:, 1] > 0.5
    assert abs(p[sure, 1].mean() - y[600:][sure].mean()) < 0.06
    assert abs(p[~sure, 1].mean() - y[600:][~sure].mean()) < 0.06


def test_probabilities_of_several_classes() -> None:
    X, y = noisy(900, n_classes=3, seed=1)
    model = ODMClassifierCV().fit(X[:600], np.array(["b", "c", "a"])[y[:600]])
    assert_array_equal(model.classes_, ["a", "b", "c"])
    p = model.predict_proba(X[600:])
    truth = np.array(["b", "c", "a"])[y[600:]]
    assert_allclose(p.sum(axis=1), 1)
    assert log_loss(truth, p, labels=model.classes_) < 0.8 * np.log(3)
    assert np.mean(model.classes_[p.argmax(axis=1)] == model.predict(X[600:])) > 0.9


def test_the_sigmoid_finds_the_truth() -> None:
    rng = np.random.default_rng(0)
    f = rng.normal(size=40_000)
    positive = rng.random(40_000) < 1 / (1 + np.exp(-(2.0 * f - 0.5)))
    fitted = Sigmoid.fit(f, positive, np.ones(len(f)), shifted=True)
    assert_allclose([fitted.below, fitted.above, fitted.shift], [2.0, 2.0, -0.5], atol=0.06)
    positive = rng.random(40_000) < 1 / (1 + np.exp(-np.where(f > 0, 3.0, 1.0) * f))
    fitted = Sigmoid.fit(f, positive, np.ones(len(f)))
    assert_allclose([fitted.below, fitted.above, fitted.shift], [1.0, 3.0, 0.0], atol=0.12)


def test_coupling_gives_back_probabilities_that_agree() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(4), size=5)
    r = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    r[:, np.arange(4), np.arange(4)] = 0
    assert_allclose(coupled(r), p, atol=1e-6)


def test_a_machine_that_never_errs_is_not_sure_of_everything() -> None:
    codes = np.arange(30) % 3
    right = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    pairs = [(0, 1), (0, 2), (1, 2)]
    votes = np.column_stack([right[:, a] - right[:, b] for a, b in pairs])
    for decisions, own in ((right, []), (votes, pairs)):
        p = fit_calibrator(decisions, codes, np.ones(30), 3, own)(decisions)
        # Of 10 rows and one of each class besides: 11 of 13.
        assert_allclose(p[np.arange(30), codes], 11 / 13, atol=0.02)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_not_scored_on_rows_they_were_calibrated_on(n_classes: int) -> None:
    rng, rows, losses = np.random.default_rng(0), np.arange(20), []
    for _ in range(50):
        codes = rng.permutation(rows % n_classes)
        target = ClassTarget(codes, n_classes, np.ones(20), pairs=True)
        nothing = rng.normal(size=(20, target.n_outputs))
        decided = Decided(target, np.arange(n_classes), nothing, rows)
        losses.append(log_loss(codes, decided.predict_proba(None), labels=np.arange(n_classes)))
    assert np.mean(losses) >= np.log(n_classes)  # who knows nothing does no better than to say so


def test_a_search_without_a_machine_says_so() -> None:
    X, y = noisy(60)
    model = ODMClassifierCV(cv=3).fit(X, y).set_params(refit=False).fit(X, y)
    for ask in (model.predict, model.decision_function, model.predict_proba):
        with pytest.raises(NotFittedError, match="has searched only, for refit=False"):
            ask(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ODMClassifierCV(refit=False).predict(X)
    with pytest.raises(ValueError, match="or False, got True"):
        ODMClassifierCV(refit=True).fit(X, y)


def test_weights_and_rows_without_any() -> None:
    X, y = noisy(300)
    weights = np.ones(300)
    weights[::3] = 0
    kept = weights > 0
    a = ODMClassifierCV(cv=3).fit(X, y, sample_weight=weights)
    b = ODMClassifierCV(cv=3).fit(X[kept], y[kept])
    assert a.best_params_ == b.best_params_
    assert_array_equal(a.predict(X), b.predict(X))


def test_a_time_limit_ends_the_search() -> None:
    X, y = noisy(6000)
    model = ODMClassifierCV(time_limit=0.5).fit(X, y)
    assert model.predict_proba(X[:5]).shape == (5, 2)
    assert len(model.search_path_) < 3 and model.stop_reason_ == "time limit"


def test_ctrl_c_ends_the_search_and_leaves_the_estimator() -> None:
    X, y = noisy(9000)
    model = ODMClassifierCV(lams=[1e6, 1e7], gammas=[20.0])
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
        time.sleep(5)
    assert not hasattr(model, "classes_")


def test_clones_and_reports(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = noisy(200)
    model = clone(ODMClassifierCV(verbose=1)).fit(X, y)
    out = capsys.readouterr().out
    assert "settings on 200 rows" in out and f"lam {model.best_params_['lam']:.4g}" in out


def test_the_picture_shows_the_chosen_point() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    X, y = noisy(200)
    model = ODMClassifierCV(cv=3).fit(X, y)
    display = SearchDisplay.from_estimator(model)
    assert display.chosen_.get_xdata()[0] == model.best_params_["lam"]
    assert len(display.lines_) == len(np.unique(model.cv_results_["param_gamma"]))
    assert 1 <= display.within_an_error <= len(model.cv_results_["params"])
    assert display.ax_.get_xscale() == "log"
    in_pipeline = SearchDisplay.from_estimator(make_pipeline(MinMaxScaler(), ODMRegressorCV(cv=3)).fit(X, y))
    assert (display.scoring, in_pipeline.scoring) == ("accuracy", "R²")
    with pytest.raises(ValueError, match="nothing to draw"):
        SearchDisplay.from_estimator(ODMClassifierCV(time_limit=1e-9).fit(X, y))
    with pytest.raises(ValueError, match="one entry for each trial"):
        SearchDisplay([1.0], [1.0, 2.0], [0.5], [0.1], [10], {"gamma": 1.0, "lam": 1.0})


def test_the_machine_that_was_chosen_is_saved(tmp_path: Path) -> None:
    X, y = noisy(200)
    model = ODMClassifierCV(cv=3).fit(X, y)
    save(model, tmp_path / "best.sodm")
    loaded = load(tmp_path / "best.sodm")
    assert type(loaded).__name__ == "ODMClassifier" and loaded.lam == model.best_params_["lam"]
    assert_array_equal(loaded.predict(X), model.predict(X))


def test_groups_without_a_splitter_that_looks_at_them_are_refused() -> None:
    X, y = noisy(60)
    with pytest.raises(ValueError, match="groups are given, but cv=None does not look at them"):
        ODMClassifierCV().fit(X, y, groups=np.arange(60) % 6)


@pytest.mark.parametrize("search", [ODMClassifierCV, ODMRegressorCV])
def test_splits_name_rows_as_they_were_given_also_beside_rows_without_weight(search: type) -> None:
    X, y = noisy(120)
    weights = np.ones(120)
    weights[::4] = 0
    splits = [
        (np.flatnonzero(np.arange(120) % 3 != k), np.flatnonzero(np.arange(120) % 3 == k)) for k in (0, 1)
    ]
    kept = np.flatnonzero(weights)
    among = [[np.searchsorted(kept, np.intersect1d(part, kept)) for part in split] for split in splits]
    folds = np.where(np.arange(120) % 3 == 2, -1, np.arange(120) % 3)  # the same splits by number
    settings = {"gammas": [1.0], "lams": [10.0, 100.0], "refit": False}
    one = search(cv=splits, **settings).fit(X, y, weights).cv_results_["mean_test_score"]
    two = search(cv=PredefinedSplit(folds), **settings).fit(X, y, weights).cv_results_["mean_test_score"]
    alone = search(cv=among, **settings).fit(X[kept], y[kept]).cv_results_["mean_test_score"]
    assert_allclose(one, alone)
    assert_allclose(two, alone)


def test_scores_that_are_no_numbers_come_last() -> None:
    X, y = make_classification(120, 5, random_state=0)

    def of_small_lams(machine: Any, X: Any, y: Any) -> float:
        return float(machine.score(X, y)) if np.abs(machine.decision_function(X)).max() < 0.9 else np.nan

    with pytest.warns(UserWarning, match="no number for"):
        model = ODMClassifierCV(scoring=of_small_lams, lams=[1.0, 1e4], gammas=[0.1]).fit(X, y)
    assert model.best_params_["lam"] == 1.0
    assert model.cv_results_["rank_test_score"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="no setting has a score"):
        ODMClassifierCV(scoring=lambda machine, X, y: np.nan).fit(X, y)


@pytest.mark.parametrize("found", [None, {"a": 1.0}, [0.5, 0.5], "good"])
def test_scores_are_one_number(found: Any) -> None:
    X, y = make_classification(60, 5, random_state=0)
    with pytest.raises(TypeError, match="scoring must give one number, not"):
        ODMClassifierCV(scoring=lambda machine, X, y: found).fit(X, y)


def test_a_class_that_is_not_in_every_fold_is_named_to_who_scores_probabilities() -> None:
    X, y = make_classification(60, 5, random_state=0)
    names = np.where(y == 1, "yes", "no").astype(object)
    names[:2] = "rare"
    with pytest.raises(ValueError, match="none of class 'rare', which has 2: fewer folds"):
        ODMClassifierCV(scoring="neg_log_loss").fit(X, names)
    assert ODMClassifierCV(scoring="neg_log_loss", cv=2).fit(X, names).best_score_ < 0


def test_a_side_that_no_row_was_on_is_as_sure_as_the_other() -> None:
    f = np.linspace(0.001, 0.002, 40)
    fitted = Sigmoid.fit(f, np.arange(40) % 2 == 1, np.ones(40))
    assert fitted.below == fitted.above
    mirrored = Sigmoid.fit(-f, np.arange(40) % 2 == 1, np.ones(40))
    assert mirrored.below == mirrored.above


def test_metadata_through_a_pipeline() -> None:
    """Groups for the splitter, weights for the machine, and both across an outer cross-validation."""
    X, y = noisy(120)
    groups, weights = np.arange(120) % 6, np.linspace(0.1, 1.0, 120)
    with config_context(enable_metadata_routing=True):
        search = ODMClassifierCV(cv=GroupKFold(3)).set_fit_request(sample_weight=True)
        search.set_score_request(sample_weight=True)
        model = make_pipeline(MinMaxScaler(), search).fit(X, y, groups=groups, sample_weight=weights)
        assert 0.5 < model.score(X, y) <= 1
        params = {"groups": groups, "sample_weight": weights}
        outer = cross_validate(model, X, y, cv=GroupKFold(2), params=params, error_score="raise")
    assert len(outer["test_score"]) == 2
    alone = ODMClassifierCV(cv=GroupKFold(3)).fit(MinMaxScaler().fit_transform(X), y, weights, groups=groups)
    assert alone.best_params_ == model[-1].best_params_


def test_a_scorer_that_asks_for_weights_gets_those_of_the_fit() -> None:
    X, y = noisy(120)
    weights = np.where(np.arange(120) % 3 == 0, 5.0, 0.1)
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        search = ODMClassifierCV(scoring=scorer, lams=[100.0], gammas=[1.0], cv=KFold(3))
        weighted = search.fit(X, y, weights).best_score_
    found = []
    for train, test in KFold(3).split(X):
        own = ODMClassifier(lam=100.0, gamma=1.0, fit_intercept=True).fit(X[train], y[train], weights[train])
        found.append(own.score(X[test], y[test], weights[test]))
    assert weighted == pytest.approx(np.mean(found), abs=0.02)
    plain = ODMClassifierCV(scoring="accuracy", lams=[100.0], gammas=[1.0], cv=KFold(3)).fit(X, y, weights)
    assert weighted != plain.best_score_


@pytest.mark.parametrize(
    ("given", "fit", "message"),
    [
        ({"cv": GroupKFold(3)}, {"groups": np.zeros(7)}, "groups has 7 entries, X has 60 rows"),
        ({"cv": []}, {}, "cv has no split"),
        ({"intercepts": "yes"}, {}, "intercepts must be"),
        ({"intercepts": []}, {}, "intercepts must have one value"),
    ],
)
def test_what_cannot_be_searched_with_is_told_so(given: Any, fit: Any, message: str) -> None:
    X, y = noisy(60)
    with pytest.raises(ValueError, match=message):
        ODMClassifierCV(**given).fit(X, y, **fit)


@pytest.mark.slow
def test_a_scalable_machine_of_several_classes_is_searched_in_pairs() -> None:
    """Where it finds regions, which take each class against the rest, lam grows with the classes, and
    probabilities are calibrated on decisions of that kind."""
    rng = np.random.RandomState(0)
    X = rng.rand(13_000, 2)
    y = np.floor(12 * X).astype(int).sum(axis=1) % 3
    model = ODMClassifierCV(gammas=[100.0], refit="scalable", cv=2, random_state=0).fit(
        X[:12_000], y[:12_000]
    )
    assert model.best_estimator_.stop_reason_ == "regions"
    assert model.best_estimator_.lam == model.best_params_["lam"]
    tried = model.cv_results_["param_lam"]
    assert tried[-1] == max(tried) and model.best_score_ == model.cv_results_["mean_test_score"][-1]
    p = model.predict_proba(X[12_000:])
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(p.argmax(axis=1), model.predict(X[12_000:]))
    assert log_loss(y[12_000:], p) < 0.35 and model.score(X[12_000:], y[12_000:]) > 0.93


def test_a_scalable_machine_of_smooth_classes_stays_in_pairs() -> None:
    X = np.random.RandomState(0).randn(12_000, 4)
    y = np.digitize((X**2).sum(axis=1), [1.92, 3.36, 5.39])
    model = ODMClassifierCV(gammas=[0.05], refit="scalable", cv=2, random_state=0).fit(X[:10_500], y[:10_500])
    assert model.best_estimator_._one_against_one
    assert model.score(X[10_500:], y[10_500:]) > 0.95
    assert log_loss(y[10_500:], model.predict_proba(X[10_500:])) < 0.2
