"""Machines in the span of landmarks: features that make a kernel linear, and training on them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import sodm
from sodm import ODMClassifier, SODMClassifier, _core
from sodm.engines.base import Table
from sodm.engines.threads import ThreadEngine
from sodm.model.onnx import to_onnx
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss
from sodm.problem.problem import Problem
from sodm.training.context import Context
from sodm.trees import landmarks, span, trial
from sodm.trees.landmarks import Landmarks
from sodm.trees.span import Span

SETTINGS = {"gamma": 0.03, "lam": 2e4, "random_state": 0}


def noisy(n: int, seed: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Smooth and noisy: no row tells much about its neighbours."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 8)
    scores = X[:, :classes] + 1.5 * rng.randn(n, classes)
    return X.astype(np.float32), scores.argmax(axis=1)


@pytest.fixture(scope="module")
def machine() -> SODMClassifier:
    return SODMClassifier(**SETTINGS).fit(*noisy(12_000, 0))


def problem_of(X: np.ndarray, y: np.ndarray, lam: float = 1e3) -> Problem:
    signs = np.where(y == 1, 1.0, -1.0)[None, :]
    return Problem(X, signs, np.ones(len(y)), Kernel("rbf", gamma=0.03), OdmLoss(lam, 0.5, 0.6))


# ------------------------------------------------------------------------------------------------- the core


@pytest.mark.parametrize("n", [1, 5, 64, 65, 200])
def test_inverses_of_lower_triangular_matrices(n: int) -> None:
    lower = np.tril(np.random.RandomState(n).randn(n, n)) + 2 * n * np.eye(n)
    inverse = _core.inverse_of_lower(lower + np.triu(np.ones((n, n)), 1))  # what is above is not looked at
    np.testing.assert_allclose(inverse @ lower, np.eye(n), atol=1e-10)
    assert np.array_equal(np.triu(inverse, 1), np.zeros((n, n)))
    assert np.array_equal(inverse, _core.inverse_of_lower(lower, 3))


@pytest.mark.parametrize("twice", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("m", [1, 31, 32, 33, 300])
def test_features_are_the_product(m: int, twice: bool) -> None:
    rng = np.random.RandomState(m)
    Z, X = rng.rand(m, 3), rng.rand(150, 3)
    inverse = np.tril(rng.randn(m, m))
    function = _core.KernelFunction("rbf", 0.7)
    z = _core.Points.dense(Z, function, twice)
    x = _core.Points.dense(X, function, twice, like=z)
    features, again = np.empty((2, 150, m), np.float64 if twice else np.float32)
    _core.features(z, x, inverse, features)
    expected = (inverse @ _core.block(z, x)).T
    np.testing.assert_allclose(features, expected, rtol=0, atol=(1e-12 if twice else 2e-5) * np.sqrt(m))
    _core.features(z, x, inverse, again, 3)
    assert np.array_equal(features, again)


@pytest.mark.parametrize("twice", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("m", [1, 31, 100])
def test_without_an_inverse_features_are_kernel_values(m: int, twice: bool) -> None:
    rng = np.random.RandomState(m)
    function = _core.KernelFunction("rbf", 0.7)
    z = _core.Points.dense(rng.rand(m, 3), function, twice)
    x = _core.Points.dense(rng.rand(150, 3), function, twice, like=z)
    values = np.empty((150, m), np.float64 if twice else np.float32)
    _core.features(z, x, None, values, 3)
    np.testing.assert_allclose(values, _core.block(z, x).T, rtol=0, atol=1e-14 if twice else 1e-6)


@pytest.mark.parametrize("n", [1, 5, 70])
def test_triangles_are_solved(n: int) -> None:
    rng = np.random.RandomState(n)
    lower, right = np.tril(rng.randn(n, n)) + 2 * n * np.eye(n), rng.randn(3, n)
    np.testing.assert_allclose(_core.solve_lower(lower, right) @ lower.T, right, atol=1e-12)
    np.testing.assert_allclose(_core.solve_lower(lower, right, True) @ lower, right, atol=1e-12)
    with pytest.raises(ValueError, match="expected n x n"):
        _core.solve_lower(lower, np.zeros((1, n + 1)))


def test_a_matrix_that_does_not_fit_is_refused() -> None:
    z = _core.Points.dense(np.zeros((3, 2)), _core.KernelFunction("rbf", 1.0))
    with pytest.raises(ValueError, match="as large as there are landmarks"):
        _core.features(z, z, np.eye(2), np.empty((3, 3), np.float32))
    with pytest.raises(ValueError, match="in their precision"):
        _core.features(z, z, np.eye(3), np.empty((3, 3)))
    with pytest.raises(ValueError, match="square"):
        _core.inverse_of_lower(np.zeros((2, 3)))


# ----------------------------------------------------------------------------------------------- landmarks


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_inner_products_of_features_are_kernel_values_but_for_the_rest(
    form: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landmarks, "BY_ROOT", 1e3)
    X, y = noisy(3000, 1)
    problem = problem_of(form(X), y)
    kernel = Context(precision="double").evaluator(problem.kernel)
    found = Landmarks.choose(problem, kernel, 0)
    assert found is not None
    features = np.empty((200, len(found.rows)), np.float64 if kernel.precision == "double" else np.float32)
    found.features(kernel, form(X[:200]), features)
    ridge = 3000 * 0.4**2 / 1e3
    difference = kernel.block(form(X[:200]), form(X[:200])) - features @ features.T
    rest = np.maximum(np.diagonal(difference), 0.0)  # of landmarks it is rounding
    assert 0 < found.rest <= landmarks.ENOUGH and len(found.rows) < 900
    assert 0 < rest.mean() <= 1.5 * landmarks.ENOUGH * ridge  # 200 of the 3,000 rows of the pool
    assert (np.abs(difference) <= np.sqrt(np.outer(rest, rest)) + 1e-9).all()
    w = np.random.RandomState(0).randn(2, len(found.rows))
    values = kernel.apply(form(X[:200]), found.points, found.coefficients(w).T)
    np.testing.assert_allclose(values, features @ w.T, atol=1e-6 * np.abs(values).max())


def test_a_narrow_kernel_is_not_carried() -> None:
    problem = problem_of(np.random.RandomState(0).rand(3000, 10).astype(np.float32) * 10, np.arange(3000) % 2)
    assert Landmarks.choose(problem, Context().evaluator(problem.kernel), 0) is None


@pytest.mark.parametrize("hope", [1e-3, landmarks.HOPE])
def test_hope_is_given_up_early_where_there_is_none(hope: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fourth of the landmarks is looked at first, and with a strict rule the rest never is."""
    asked = []
    factored = landmarks._factored
    monkeypatch.setattr(landmarks, "HOPE", hope)
    monkeypatch.setattr(landmarks, "_factored", lambda *a: asked.append(a[2]) or factored(*a))
    problem = problem_of(*noisy(3000, 1))
    found = Landmarks.choose(problem, Context().evaluator(problem.kernel), 0)
    most = int(landmarks.BY_ROOT * 3000**0.5)
    assert (found is None, asked) == ((True, [most // 4]) if hope < 1 else (False, [most // 4, most]))


def solve(problem: Problem, tol: float = 1e-6) -> tuple[Span, np.ndarray, object]:
    context = Context(precision="double")
    engine = ThreadEngine(2)
    found = Landmarks.choose(problem, context.evaluator(problem.kernel), 0)
    assert found is not None
    engine.keep(Table(problem.rows, problem.signs, problem.weights))
    own = Span(problem, context, engine, found, tol)
    result = own.solve(own.start(np.zeros(0, dtype=np.intp)), None)
    return own, found.coefficients(result.w), result


def test_with_enough_landmarks_it_is_the_exact_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landmarks, "ENOUGH", 1e-7)
    monkeypatch.setattr(landmarks, "BY_ROOT", 1e3)
    X, y = noisy(2000, 2)
    own, coefficients, result = solve(problem_of(X, y))
    exact = ODMClassifier(gamma=0.03, lam=1e3, precision="double", tol=1e-8, fit_intercept=False).fit(X, y)
    query = noisy(500, 3)[0]
    values = own.kernel.apply(query, own.landmarks.points, coefficients.T)[:, 0]
    assert result.gap.max() <= 1e-6
    np.testing.assert_allclose(values, exact.decision_function(query), atol=2e-3)
    np.testing.assert_allclose(result.objective[0], exact.objective_, rtol=1e-4)


def test_regions_correct_the_machine_of_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its support vectors, which are the landmarks, are all that f0 has."""
    monkeypatch.setattr(trial, "GAINS", -1e9)  # regions, whatever they are worth
    corrected = SODMClassifier(**SETTINGS).fit(*noisy(12_000, 0))
    assert corrected.stop_reason_ == "regions"
    assert set(corrected.support_) == set(SODMClassifier(**SETTINGS).fit(*noisy(12_000, 0)).support_)


def test_what_regions_correct_has_seen_all_rows_where_landmarks_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine of few rows for each landmark fits these rows, and regions would take that for the truth."""
    problem = problem_of(*noisy(12_000, 0), lam=2e4)
    context, engine = Context(n_threads=2, seed=0), ThreadEngine(2)
    engine.keep(Table(problem.rows, problem.signs, problem.weights))
    found = Landmarks.choose(problem, context.evaluator_here(problem.kernel), 0)
    assert found is not None
    own = Span(problem, context, engine, found, 1e-3)
    held = np.arange(0, 12_000, 7)
    start = own.start(held)
    seen = 8000 / len(found.rows)  # rows for a landmark
    monkeypatch.setattr(span, "ALL_ROWS_BELOW", seen - 1)
    assert own.to_correct(start) is start
    monkeypatch.setattr(span, "ALL_ROWS_BELOW", seen + 1)
    again = own.to_correct(start)

    def loss(w: np.ndarray, rows: np.ndarray) -> float:
        coefficients = found.coefficients(w)
        f = context.evaluator_here(problem.kernel).apply(problem.rows[rows], found.points, coefficients.T).T
        return float(problem.loss.of_rows(problem.signs[:, rows] * f).sum())

    assert loss(again, held) < loss(start, held)  # which it had not seen


def test_regions_are_solved_on_what_all_rows_have_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that is corrected has other coefficients then, on the same landmarks."""
    monkeypatch.setattr(trial, "GAINS", -1e9)  # regions, whatever they are worth
    bases = []
    for below in (0, 10_000):
        monkeypatch.setattr(span, "ALL_ROWS_BELOW", below)
        found = SODMClassifier(**SETTINGS).fit(*noisy(12_000, 0))._machines
        assert found is not None
        bases.append(found.coefficients[:, found.bounds[-2] :])
    assert bases[0].shape == bases[1].shape
    assert not np.allclose(*bases)


@pytest.mark.parametrize("classes", [2, 3])
def test_passes_over_all_rows_find_what_newton_finds_on_them(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landmarks, "CARRIES", 1.0)
    X, y = noisy(9000, 4, classes)
    signs = np.where(y == np.arange(classes)[:, None], 1.0, -1.0)[1 if classes == 2 else 0 :]
    problem = Problem(X, signs, np.ones(len(y)), Kernel("rbf", gamma=0.1), OdmLoss(1e3, 0.5, 0.6))
    _, kept, whole = solve(problem)
    monkeypatch.setattr(span, "KEPT", 8 * 2000 * kept.shape[1])
    monkeypatch.setattr(span, "PASS_ROWS", 700)
    own, coefficients, result = solve(problem)
    assert len(own.sample) == 2000
    assert result.converged.all() and result.gap.max() <= 1e-6
    np.testing.assert_allclose(result.objective, whole.objective, rtol=1e-6)
    query = noisy(300, 5)[0]
    values = [own.kernel.apply(query, own.landmarks.points, c.T) for c in (coefficients, kept)]
    np.testing.assert_allclose(values[0], values[1], atol=2e-3)


# ---------------------------------------------------------------------------------------------- the machine


def test_smooth_and_noisy_rows_are_left_to_landmarks(machine: SODMClassifier) -> None:
    query, answer = noisy(6000, 6)
    exact = ODMClassifier(gamma=0.03, lam=2e4).fit(*noisy(12_000, 0))
    assert machine.stop_reason_ == "landmarks" and len(machine.support_) < 800
    assert np.all(machine.dual_gap_ <= 1e-3)
    assert np.mean(machine.predict(query) != exact.predict(query)) < 0.02
    assert machine.score(query, answer) > exact.score(query, answer) - 0.005
    (record,) = machine.history_
    assert record["n_rows"] == 12_000 and record["n_support"] == len(machine.support_)


@pytest.mark.parametrize("seed", [2, 5])
def test_their_rival_is_judged_by_the_loss_and_not_by_right_and_wrong(seed: int) -> None:
    """Two samples of eight, taken because regions are better on their held-out rows by a standard error if
    right and wrong are counted; by the loss they are worse by more than two."""
    fitted = SODMClassifier(gamma=0.03, lam=5e3, random_state=0).fit(*noisy(12_000, seed))
    assert fitted.stop_reason_ == "landmarks"


def test_threads_and_the_order_of_rows_change_nothing(machine: SODMClassifier) -> None:
    X, y = noisy(12_000, 0)
    query, order = noisy(500, 7)[0], np.random.RandomState(1).permutation(len(X))
    for jobs, rows in ((1, np.arange(len(X))), (3, order)):
        other = SODMClassifier(**SETTINGS, n_jobs=jobs).fit(X[rows], y[rows])
        assert np.array_equal(other.decision_function(query), machine.decision_function(query))


def test_it_is_saved_and_converted_like_any_machine(machine: SODMClassifier, tmp_path: Path) -> None:
    query = noisy(500, 8)[0]
    sodm.save(machine, tmp_path / "m.sodm")
    assert np.array_equal(
        sodm.load(tmp_path / "m.sodm").decision_function(query), machine.decision_function(query)
    )
    runtime = pytest.importorskip("onnxruntime")
    to_onnx(machine, tmp_path / "m.onnx")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    labels = session.run(None, {session.get_inputs()[0].name: query})[0]
    assert np.mean(labels == machine.predict(query)) > 0.995


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_several_classes_weights_an_intercept_and_rows_to_look_at(make: type) -> None:
    X, y = noisy(11_000, 9, classes=3)
    weights = 1.0 + np.arange(len(X)) % 2
    query, answer = noisy(2000, 10, classes=3)
    fitted = SODMClassifier(fit_intercept=True, multi_class="ovr", **SETTINGS)
    fitted.fit(make(X), y, weights, eval_set=(make(query), answer))
    assert fitted.stop_reason_ == "landmarks"
    assert fitted.history_[0]["accuracy"] == fitted.score(make(query), answer) > 0.5
    twice = SODMClassifier(fit_intercept=True, multi_class="ovr", **SETTINGS)
    twice.fit(make(np.concatenate([X, X[1::2]])), np.concatenate([y, y[1::2]]))
    np.testing.assert_allclose(
        twice.decision_function(make(query)), fitted.decision_function(make(query)), atol=1e-10
    )


def test_a_time_limit_leaves_a_machine() -> None:
    X, y = noisy(20_000, 11)
    limited = SODMClassifier(time_limit=0.0, **SETTINGS).fit(X, y)
    assert limited.stop_reason_ in ("landmarks", "time limit")
    assert limited.score(X, y) > 0.55


def test_hinge_has_no_landmarks() -> None:
    X, y = noisy(11_000, 12)
    fitted = SODMClassifier(loss="hinge", gamma=0.1, lam=2e3, random_state=0).fit(X, y)
    assert fitted.stop_reason_ != "landmarks"


@pytest.mark.parametrize("kernel", ["poly", "laplacian", "sigmoid"])
def test_other_kernels_end_well(kernel: str) -> None:
    """Those that are no proper kernels have no landmarks; the others may have some."""
    X, y = noisy(10_500, 13)
    fitted = SODMClassifier(kernel=kernel, gamma=0.02, coef0=0.5, lam=1e3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a sigmoid is no kernel
        fitted.fit(X, y)
    assert fitted.score(X, y) > 0.55
    assert kernel != "sigmoid" or fitted.stop_reason_ != "landmarks"


def test_rows_of_zeros_have_no_landmarks() -> None:
    problem = Problem(
        np.zeros((50, 3)), np.ones((1, 50)), np.ones(50), Kernel("poly"), OdmLoss(10.0, 0.5, 0.6)
    )
    assert Landmarks.choose(problem, Context().evaluator(problem.kernel), 0) is None
