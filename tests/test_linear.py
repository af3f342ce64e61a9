"""LinearODMClassifier: exact against the oracles, the same for every form of the data, clear about errors."""

from __future__ import annotations

import pickle
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import linear_reference as reference
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import quadratic_program
from problems import FORMS, exact_in_single, rows_and_labels, weights_for
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC, LinearSVR

from sodm import LinearODMClassifier
from sodm.problem.losses import HingeLoss, OdmLoss


def loss_of(machine: LinearODMClassifier) -> OdmLoss:
    return OdmLoss(machine.lam, machine.upsilon, machine.theta)


def weights_of(machine: LinearODMClassifier) -> np.ndarray:
    """coef_ and the weight of the constant feature."""
    if not machine.fit_intercept:
        return machine.coef_
    return np.hstack([machine.coef_, machine.intercept_[:, None] / machine.intercept_scaling])


def true_objective(
    machine: LinearODMClassifier, X: Any, y: np.ndarray, s: np.ndarray | None = None
) -> np.ndarray:
    """p at the fitted coefficients, in plain NumPy, for each problem."""
    full = reference.rows_with_bias(X, machine.intercept_scaling if machine.fit_intercept else 0.0)
    s = np.ones(len(full)) if s is None else s
    classes = machine.classes_[1:] if len(machine.classes_) == 2 else machine.classes_
    pairs = zip(classes, weights_of(machine), strict=True)
    return np.array(
        [reference.objective(full, np.where(y == c, 1.0, -1.0), s, w, loss_of(machine)) for c, w in pairs]
    )


# ------------------------------------------------------------------------------------------------- oracles


@pytest.mark.parametrize("theta", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("lam", [0.1, 100.0, 1e5])
def test_linear_svr_is_the_case_upsilon_one(lam: float, theta: float) -> None:
    X, y = rows_and_labels(400, 6, seed=1)
    sign = np.where(y == 1, 1.0, -1.0)
    C = lam / (2 * len(y) * (1 - theta) ** 2)
    oracle = LinearSVR(
        loss="squared_epsilon_insensitive",
        epsilon=theta,
        C=C,
        fit_intercept=False,
        dual=False,
        tol=1e-14,
        max_iter=100_000,
    ).fit(X * sign[:, None], np.ones(len(y)))
    machine = LinearODMClassifier(lam=lam, upsilon=1.0, theta=theta, fit_intercept=False, tol=1e-12).fit(X, y)
    best = reference.objective(X, sign, np.ones(len(y)), oracle.coef_, loss_of(machine))
    assert machine.objective_ <= best * (1 + 1e-10)
    assert machine.objective_ == pytest.approx(best, rel=1e-7)
    np.testing.assert_allclose(machine.coef_[0], oracle.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("lam", [1.0, 1e3, 1e6])
def test_ridge_is_the_case_upsilon_one_theta_zero(lam: float) -> None:
    X, y = rows_and_labels(300, 5, seed=2)
    sign, n = np.where(y == 1, 1.0, -1.0), len(y)
    full = np.hstack([X, np.ones((n, 1))])
    w = np.linalg.solve(full.T @ full + n / lam * np.eye(6), full.T @ sign)
    machine = LinearODMClassifier(lam=lam, upsilon=1.0, theta=0.0, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(weights_of(machine)[0], w, rtol=1e-9)


def test_linear_svc_is_the_limit_of_small_upsilon() -> None:
    X, y = rows_and_labels(300, 5, seed=3)
    lam, theta = 200.0, 0.4
    C = lam / (2 * len(y) * (1 - theta) ** 2)
    svc = LinearSVC(loss="squared_hinge", C=C, fit_intercept=False, dual=False, tol=1e-12).fit(X, y)
    machine = LinearODMClassifier(lam=lam, upsilon=1e-9, theta=theta, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(machine.coef_, (1 - theta) * svc.coef_, rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_quadratic_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rows_and_labels(150, 4, seed=seed)
    loss = OdmLoss(10.0 ** rng.uniform(0, 3), rng.uniform(0.05, 1), rng.uniform(0, 0.8))
    weights = weights_for(150, seed)
    machine = LinearODMClassifier(
        lam=loss.lam, upsilon=loss.upsilon, theta=loss.theta, intercept_scaling=2.0, tol=1e-12
    ).fit(X, y, weights)
    best, _ = quadratic_program(X @ X.T + 4.0, np.where(y == 1, 1.0, -1.0), weights, loss)
    assert machine.objective_ == pytest.approx(best, rel=1e-9)


def test_hinge_is_svc() -> None:
    X, y = rows_and_labels(200, 5, seed=4)
    machine = LinearODMClassifier(loss="hinge", lam=50.0, tol=1e-8, max_iter=100_000, random_state=0).fit(
        X, y
    )
    sign, s = np.where(y == 1, 1.0, -1.0), np.ones(200)
    best, f = quadratic_program(X @ X.T + 1.0, sign, s, HingeLoss(50.0))
    assert machine.solver_ == "dcd"
    assert machine.objective_ == pytest.approx(best, rel=1e-6)
    assert machine.dual_gap_ <= 1e-8
    np.testing.assert_allclose(machine.decision_function(X), f, atol=1e-3)
    kernel = SVC(kernel="precomputed", C=50.0 / 200).fit(X @ X.T + 1.0, y)
    agree = kernel.predict(X @ X.T + 1.0) == machine.predict(X)
    assert agree.mean() > 0.9  # SVC has an intercept of its own besides


@pytest.mark.parametrize("d", [3, 40, 60, 300])
def test_newton_by_matrix_and_by_products(d: int) -> None:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(400, d)) / np.sqrt(d)
    y = (X @ rng.normal(size=d) + 0.3 * rng.normal(size=400) > 0).astype(int)
    for form in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        machine = LinearODMClassifier(lam=1e4, theta=0.5, tol=1e-10).fit(form, y)
        full = reference.rows_with_bias(np.asarray(form.todense() if sparse.issparse(form) else form), 1.0)
        s, sign = np.ones(400), np.where(y == 1, 1.0, -1.0)
        w = reference.solve(full, sign, s, loss_of(machine))
        best = reference.objective(full, sign, s, w, loss_of(machine))
        assert machine.objective_ == pytest.approx(best, rel=1e-10)
        assert true_objective(machine, form, y)[0] == pytest.approx(best, rel=1e-10)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_products_only_for_many_features(sparse_rows: bool) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(600, 3000, density=0.02, format="csr", random_state=1)
    y = np.asarray(X @ rng.normal(size=3000)).ravel() + 0.1 * rng.normal(size=600) > 0
    rows = X if sparse_rows else X.toarray()
    machine = LinearODMClassifier(lam=1e4, theta=0.5, tol=1e-9).fit(rows, y)
    # In the dual there are only 600 variables, so the exact solution is that of a small problem.
    full = reference.rows_with_bias(X, 1.0)
    K = full @ full.T
    values, vectors = np.linalg.eigh(K)
    R = vectors * np.sqrt(np.maximum(values, 0))
    sign, s = np.where(y, 1.0, -1.0), np.ones(600)
    best = reference.objective(R, sign, s, reference.solve(R, sign, s, loss_of(machine)), loss_of(machine))
    assert machine.objective_ == pytest.approx(best, rel=1e-10)
    assert max(r["passes"] for r in machine.history_) > len(machine.history_)  # products were counted


# --------------------------------------------------------------------------------- the same data in any form


def test_every_form_gives_the_same_machine(tmp_path: Path) -> None:
    X, y = rows_and_labels(500, 7, seed=5)
    X = exact_in_single(X)
    weights = weights_for(500)
    expected = LinearODMClassifier(tol=1e-11).fit(X, y, weights)
    for name, form in FORMS.items():
        rows = form(X, tmp_path)
        machine = LinearODMClassifier(tol=1e-11).fit(rows, y, weights)
        np.testing.assert_allclose(
            weights_of(machine), weights_of(expected), rtol=1e-7, atol=1e-9, err_msg=name
        )
        np.testing.assert_allclose(
            machine.decision_function(rows), expected.decision_function(X), rtol=1e-6, atol=1e-8
        )


def test_threads_never_change_a_result() -> None:
    X, y = rows_and_labels(3000, 7, seed=6)
    for solver in ("newton", "svrg", "dsvrg", "csvrg", "dcd"):
        machine = LinearODMClassifier(solver=solver, lam=10.0, random_state=0, tol=1e-4)
        one, two = (clone(machine).set_params(n_jobs=k).fit(X, y) for k in (1, 3))
        assert np.array_equal(one.coef_, two.coef_), solver


def test_a_start_on_few_rows_does_not_change_the_solution() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 4))
    y = np.sort((X[:, 0] + rng.normal(size=50_000) > 0).astype(int))  # one class first, then the other
    machine = LinearODMClassifier(lam=100.0, theta=0.3, tol=1e-10).fit(X, y)
    full, sign, s = reference.rows_with_bias(X, 1.0), np.where(y == 1, 1.0, -1.0), np.ones(50_000)
    w = reference.solve(full, sign, s, loss_of(machine))
    np.testing.assert_allclose(weights_of(machine)[0], w, rtol=1e-7, atol=1e-9)


def test_badly_scaled_single_precision() -> None:
    """Products in single precision do not carry these features; the solver notices."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(2000, 3)), 1e4 + rng.normal(size=(2000, 2))]).astype(np.float32)
    y = (X[:, 0] + X[:, 3] - 1e4 > 0).astype(int)
    machine = LinearODMClassifier(lam=1e3, theta=0.5, tol=1e-9).fit(X, y)
    exact = LinearODMClassifier(lam=1e3, theta=0.5, tol=1e-12).fit(X.astype(np.float64), y)
    assert machine.objective_ == pytest.approx(exact.objective_, rel=1e-9)


# --------------------------------------------------------------------------------------- weights and classes


def test_weights_are_copies() -> None:
    X, y = rows_and_labels(120, 4, seed=7)
    copies = np.random.default_rng(0).integers(0, 4, 120)
    copies[:2] = 1
    weighted = LinearODMClassifier(tol=1e-13).fit(X, y, copies)
    repeated = LinearODMClassifier(tol=1e-13).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(weights_of(weighted), weights_of(repeated), rtol=1e-9)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-12)


def test_a_class_without_weight_is_no_class() -> None:
    X, y = rows_and_labels(100, 4)
    y[5] = 7
    weights = np.ones(100)
    weights[5] = 0
    assert LinearODMClassifier().fit(X, y, weights).classes_.tolist() == [0, 1]


def test_flipped_labels_flip_the_machine() -> None:
    X, y = rows_and_labels(200, 4)
    one, other = LinearODMClassifier(tol=1e-12).fit(X, y), LinearODMClassifier(tol=1e-12).fit(X, 1 - y)
    np.testing.assert_allclose(one.coef_, -other.coef_, rtol=1e-8)


def test_class_weights() -> None:
    X, y = rows_and_labels(300, 4)
    y[:100] = 0
    by_hand = np.where(y == 0, len(y) / (2 * np.sum(y == 0)), len(y) / (2 * np.sum(y == 1)))
    balanced = LinearODMClassifier(class_weight="balanced", tol=1e-12).fit(X, y)
    weighted = LinearODMClassifier(tol=1e-12).fit(X, y, by_hand)
    np.testing.assert_allclose(weights_of(balanced), weights_of(weighted), rtol=1e-8)


def test_several_classes_are_one_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.array(["b", "a", "d", "c"])[np.argmax(X[:, :4] + 0.5 * rng.normal(size=(400, 4)), axis=1)]
    for solver in ("newton", "svrg", "dsvrg", "dcd"):
        settings = {
            "solver": solver,
            "lam": 20.0,
            "theta": 0.5,
            "tol": 1e-7,
            "epochs": 500,
            "random_state": 0,
        }
        machine = LinearODMClassifier(**settings).fit(X, y)
        assert machine.classes_.tolist() == ["a", "b", "c", "d"]
        assert machine.coef_.shape == (4, 5) and machine.intercept_.shape == (4,)
        assert machine.objective_.shape == machine.dual_gap_.shape == (4,)
        assert machine.decision_function(X).shape == (400, 4)
        for k, c in enumerate(machine.classes_):
            alone = LinearODMClassifier(lam=20.0, theta=0.5, tol=1e-12).fit(X, y == c)
            np.testing.assert_allclose(machine.coef_[k], alone.coef_[0], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(true_objective(machine, X, y), machine.objective_, rtol=1e-10)


# ------------------------------------------------------------------------------------------------ extremes


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(1, 6),
    st.floats(-6, 9),
    st.sampled_from([0.0, 0.3, 0.99]),
    st.sampled_from([1e-6, 0.5, 1.0]),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
    st.integers(0, 10_000),
)
def test_extreme_problems(
    n: int, d: int, power: float, theta: float, upsilon: float, kind: type, intercept: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(kind)  # repeats, opposite labels, constant features
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    machine = LinearODMClassifier(
        lam=10.0**power, theta=theta, upsilon=upsilon, fit_intercept=intercept, tol=1e-8
    ).fit(X, y)
    full = reference.rows_with_bias(X, float(intercept))
    sign, s = np.where(y == 1, 1.0, -1.0), np.ones(n)
    best = reference.objective(
        full, sign, s, reference.solve(full, sign, s, loss_of(machine)), loss_of(machine)
    )
    assert machine.objective_ == pytest.approx(true_objective(machine, X, y)[0], rel=1e-9)
    assert machine.objective_ <= best * (1 + 1e-8) + 1e-12


def test_gap_is_what_duality_says() -> None:
    X, y = rows_and_labels(200, 4)
    with pytest.warns(ConvergenceWarning):
        machine = LinearODMClassifier(lam=50.0, theta=0.3, max_iter=1).fit(X, y)
    full, sign, s = reference.rows_with_bias(X, 1.0), np.where(y == 1, 1.0, -1.0), np.ones(200)
    loss, w = loss_of(machine), weights_of(machine)[0]
    g = loss.lift(sign * (full @ w), s)
    v = full.T @ (sign * g)
    gap = machine.objective_ + v @ v / 2 + loss.dual(g, s)
    assert machine.dual_gap_ == pytest.approx(gap / machine.objective_, rel=1e-8)
    assert gap > 1e-6


# --------------------------------------------------------------------------------------------- the estimator


def test_warm_start_begins_where_the_last_fit_ended() -> None:
    X, y = rows_and_labels(2000, 5)
    machine = LinearODMClassifier(warm_start=True).fit(X, y)
    steps = machine.n_iter_
    first = machine.fit(X, y).history_[0]
    assert first["gradient_norm"] <= 1e-6 and machine.n_iter_ <= steps
    changed = machine.set_params(lam=2000.0).fit(X, y)
    cold = LinearODMClassifier(lam=2000.0).fit(X, y)
    np.testing.assert_allclose(changed.coef_, cold.coef_, rtol=1e-5)


def test_what_rounding_keeps_from_tol_is_reported() -> None:
    """Random problems, badly scaled: no warning means that what tol asks for holds."""
    at_rounding = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 5)) * 10.0 ** rng.uniform(-3, 6, size=5) + 10.0 ** rng.uniform(-2, 6)
        y = (X[:, 0] + X[:, 0].std() * rng.normal(size=200) > np.median(X[:, 0])).astype(int)
        tol = 10.0 ** rng.uniform(-12, -6)
        machine = LinearODMClassifier(lam=10.0 ** rng.uniform(-2, 9), theta=0.3, tol=tol)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            machine.fit(X.astype(np.float32) if seed % 3 == 0 else X, y)
        short = machine.gradient_norm_ > tol or machine.dual_gap_ > tol
        assert short == bool(caught)
        at_rounding += any("Rounding errors allow no more" in str(w.message) for w in caught)
    assert 0 < at_rounding < 20


def test_history_and_eval_set() -> None:
    X, y = rows_and_labels(1000, 5)
    for solver in ("newton", "svrg", "dsvrg", "csvrg", "dcd"):
        machine = LinearODMClassifier(
            solver=solver, lam=10.0, epochs=5, max_iter=5, tol=1e-12, random_state=0
        )
        with pytest.warns(ConvergenceWarning) if solver != "newton" else _nothing():
            machine.fit(X, y, eval_set=(X[:200], y[:200]))
        history = machine.history_
        assert [r["epoch"] for r in history] == list(range(len(history)))
        assert np.all(np.diff([r["seconds"] for r in history]) >= 0)
        assert np.all(np.diff([r["passes"] for r in history]) > 0)
        assert history[-1]["objective"] == pytest.approx(machine.objective_)
        assert history[-1]["accuracy"] == pytest.approx(machine.score(X[:200], y[:200]))
        assert history[0]["objective"] > history[-1]["objective"]


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...


def test_verbose_speaks_and_silence_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = rows_and_labels(200, 4)
    LinearODMClassifier().fit(X, y)
    assert capsys.readouterr().out == ""
    LinearODMClassifier(verbose=1).fit(X, y)
    assert "newton" in capsys.readouterr().out


def test_pickle_clone_search_and_frames() -> None:
    X, y = rows_and_labels(200, 4)
    machine = LinearODMClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(again.decision_function(X), machine.decision_function(X))
    assert clone(machine).get_params() == machine.get_params()
    search = GridSearchCV(LinearODMClassifier(), {"lam": [1.0, 100.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5
    names = [f"f{k}" for k in range(4)]
    frames = [pd.DataFrame(X, columns=names)]
    with suppress(ImportError):
        import polars as pl

        frames.append(pl.DataFrame(X, schema=names))
    for frame in frames:
        assert LinearODMClassifier().fit(frame, y).feature_names_in_.tolist() == names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lam": 0}, "lam"),
        ({"lam": np.inf}, "lam"),
        ({"theta": 1.0}, "theta"),
        ({"theta": -0.1}, "theta"),
        ({"upsilon": 0}, "upsilon"),
        ({"upsilon": 1.1}, "upsilon"),
        ({"solver": "adam"}, "solver"),
        ({"loss": "log"}, "loss"),
        ({"loss": "hinge", "solver": "newton"}, "hinge"),
        ({"intercept_scaling": 0}, "intercept_scaling"),
        ({"tol": 0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"epochs": 1.5}, "epochs"),
        ({"step_size": -1}, "step_size"),
        ({"radius": 0}, "radius"),
        ({"n_partitions": 0}, "n_partitions"),
        ({"steps_per_node": 0}, "steps_per_node"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"class_weight": "even"}, "class_weight"),
    ],
)
def test_parameters_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    X, y = rows_and_labels(50, 3)
    with pytest.raises(ValueError, match=message):
        LinearODMClassifier(**change).fit(X, y)


def test_bad_input_and_a_failed_fit_changes_nothing() -> None:
    X, y = rows_and_labels(50, 3)
    machine = LinearODMClassifier().fit(X, y)
    before = dict(vars(machine))
    bad = X.copy()
    bad[7, 1] = np.nan
    for rows, labels, weights, message in [
        (bad, y, None, "NaN"),
        (np.where(np.isnan(bad), np.inf, bad), y, None, "infinity"),
        (sparse.csr_matrix(bad), y, None, "NaN"),
        (X[:10], y, None, "inconsistent numbers"),
        (X, np.zeros(50), None, "one class"),
        (X, np.linspace(0, 1, 50), None, "continuous"),
        (X, y, -np.ones(50), "negative"),
        (X, y, np.zeros(50), "zero for every row"),
        (X, y, np.ones(3), "one weight per row"),
        (X, y, np.where(y == 1, 1.0, 0.0), "one class"),
    ]:
        with pytest.raises(ValueError, match=message):
            machine.fit(rows, labels, weights)
        assert vars(machine) == before
    with pytest.raises(ValueError, match="eval_set"):
        machine.fit(X, y, eval_set=(X[:, :2], y))
    with pytest.raises(ValueError, match="NaN"):
        machine.predict(bad)


@pytest.mark.parametrize("solver", ["newton", "dcd", "svrg", "csvrg", "dsvrg"])
def test_out_of_time_there_is_a_machine_of_at_least_one_iteration(solver):
    X, y = make_classification(2000, 10, class_sep=2.0, random_state=0)
    machine = LinearODMClassifier(solver=solver, time_limit=0.0, tol=1e-14, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Raise time_limit or tol"):
        machine.fit(X, y)
    assert len(machine.history_) == 2 and machine.score(X, y) > 0.8
    machine.set_params(time_limit=-1.0)
    with pytest.raises(ValueError, match="time_limit"):
        machine.fit(X, y)


def test_automatic_lam_goes_with_rows_and_units() -> None:
    X, y = rows_and_labels(400, 6, seed=9)
    machine = LinearODMClassifier().fit(X, y)
    square = float(np.mean(np.sum(X.astype(np.float64) ** 2, axis=1) + 1))
    assert machine.lam_ == pytest.approx(2 * 400 * 0.1**2 * min(30 / square, 400 / 7))
    given = LinearODMClassifier(lam=machine.lam_).fit(X, y)
    np.testing.assert_array_equal(given.coef_, machine.coef_)
    # Rows given twice, or of weight two, are the same problem; chunks and weights know it.
    twice = LinearODMClassifier(tol=1e-11).fit(np.vstack([X, X]), np.append(y, y))
    weighted = LinearODMClassifier(tol=1e-11).fit(X, y, np.full(400, 2.0))
    chunked = LinearODMClassifier(tol=1e-11).fit_chunks(lambda: iter([(X, y), (X, y)]))
    for other in (weighted, chunked):
        assert other.lam_ == pytest.approx(twice.lam_)
        np.testing.assert_allclose(other.coef_, twice.coef_, rtol=1e-7, atol=1e-9)
    # Where features outnumber the rows C is at most 1, and the hinge loss has its own scale.
    few = LinearODMClassifier(loss="hinge", fit_intercept=False, tol=1e-3).fit(X[:5] / 100, [0, 1, 0, 1, 1])
    assert few.lam_ == pytest.approx(5.0)
    with pytest.raises(ValueError, match="lam"):
        LinearODMClassifier(lam="scale").fit(X, y)


def test_automatic_lam_of_rows_that_come_in_parts() -> None:
    X, y = rows_and_labels(600, 6, seed=10)
    machine = LinearODMClassifier()
    for part in (slice(0, 300), slice(300, 600)):
        machine.partial_fit(X[part], y[part], classes=np.unique(y))
    assert machine.lam_ == pytest.approx(LinearODMClassifier().fit(X, y).lam_)
