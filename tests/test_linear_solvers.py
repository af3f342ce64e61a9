"""The stochastic and dual solvers: the same optimum, the promised errors, and no NaN whatever the step."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from problems import FORMS, rows_and_labels, weights_for
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

import sodm
from sodm import LinearODMClassifier
from sodm.problem.linear import ChunkedRows, LinearProblem, MemoryRows, QuadraticRows, RowsWithPast
from sodm.problem.losses import HingeLoss, OdmLoss
from sodm.solvers.csvrg import automatic_radius, cover, gradient_bound
from sodm.solvers.dsvrg import Node
from sodm.solvers.linear_solver import LinearSettings, Start
from sodm.training.linear import train_linear


def fit(
    solver: str, X: object, y: np.ndarray, weights: np.ndarray | None = None, **more: object
) -> LinearODMClassifier:
    parameters = {"lam": 30.0, "theta": 0.3, "random_state": 0, "epochs": 300, "tol": 1e-7} | more
    return LinearODMClassifier(solver=solver, **parameters).fit(X, y, weights)


@pytest.mark.parametrize("form", ["double", "single", "fortran", "csr", "csr-int64-single", "memmap"])
@pytest.mark.parametrize("solver", ["svrg", "dsvrg", "csvrg", "dcd"])
def test_every_solver_finds_the_same_optimum(solver: str, form: str, tmp_path: object) -> None:
    X, y = rows_and_labels(700, 6, seed=1)
    weights = weights_for(700)
    rows = FORMS[form](X, tmp_path)
    exact = fit("newton", rows, y, weights, tol=1e-12)
    found = fit(solver, rows, y, weights, radius=1e-6)
    assert found.solver_ == solver
    assert found.objective_ == pytest.approx(exact.objective_, rel=1e-9)
    np.testing.assert_allclose(found.coef_, exact.coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("solver", ["svrg", "dsvrg"])
def test_six_digits_given_epochs_at_a_larger_lam(solver: str) -> None:
    X, y = rows_and_labels(2000, 6, seed=2)
    exact = fit("newton", X, y, lam=1000.0, tol=1e-12)
    found = fit(solver, X, y, lam=1000.0, tol=1e-5)
    assert found.objective_ == pytest.approx(exact.objective_, rel=1e-6)


@pytest.mark.parametrize("solver", ["svrg", "dsvrg", "csvrg"])
@pytest.mark.parametrize("step_size", [0.01, 0.9, 1e6])
def test_a_step_too_long_is_shortened_with_one_warning(solver: str, step_size: float) -> None:
    X, y = rows_and_labels(500, 6, seed=3)
    exact = fit("newton", X, y, lam=1e3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit(solver, X, y, lam=1e3, step_size=step_size, epochs=200, tol=1e-5, radius=1e-6)
    diverged = [w for w in caught if "diverged" in str(w.message)]
    assert len(diverged) <= 1
    if step_size > 0.5:
        assert len(diverged) == 1
        assert f"a step of {step_size:.2e}" in str(diverged[0].message)  # it was used as given
    assert np.all(np.isfinite(found.coef_))
    assert all(np.isfinite(r["objective"]) for r in found.history_)
    assert found.objective_ == pytest.approx(exact.objective_, rel=1e-5)


@pytest.mark.parametrize("solver", ["svrg", "dsvrg", "csvrg"])
def test_the_automatic_step_is_safe(solver: str) -> None:
    for seed, lam in enumerate([1e-3, 1.0, 1e3, 1e6]):
        X, y = rows_and_labels(300, 5, seed=seed)
        X[0] *= 50  # one row far out
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*stopped after.*")
            fit(solver, X, y, lam=lam, epochs=20)


def test_too_few_epochs_are_reported() -> None:
    X, y = rows_and_labels(300, 5)
    with pytest.warns(ConvergenceWarning, match=r"svrg.*stopped after 1 iterations.*epochs"):
        fit("svrg", X, y, epochs=1)
    with pytest.warns(ConvergenceWarning, match=r"dcd.*stopped after 1 iterations.*max_iter"):
        fit("dcd", X, y, max_iter=1)


def test_the_same_seed_gives_the_same_machine() -> None:
    X, y = rows_and_labels(300, 5)
    for solver in ("svrg", "dsvrg", "csvrg", "dcd"):
        one, two, other = (fit(solver, X, y, random_state=seed, tol=1e-3) for seed in (1, 1, 2))
        assert np.array_equal(one.coef_, two.coef_)
        assert not np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("parameters", [{"solver": s} for s in ("svrg", "dsvrg", "csvrg", "dcd")] + [{}])
def test_no_seed_is_the_same_seed_each_time(parameters: dict[str, str]) -> None:
    X, y = rows_and_labels(300, 5)
    loss = "odm" if parameters else "hinge"
    one, two = (
        LinearODMClassifier(loss=loss, lam=10.0, tol=1e-3, **parameters).fit(X, y).coef_ for _ in range(2)
    )
    assert np.array_equal(one, two)


def test_a_step_beyond_one_is_taken_as_it_is() -> None:
    """The first step from zero goes along the gradient of all rows, so w is proportional to its length."""
    X, y = rows_and_labels(100, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        long, short = (
            fit("dsvrg", X, y, lam=1e-6, step_size=step, epochs=1, n_partitions=1, steps_per_node=1)
            for step in (1.5, 0.5)
        )
    np.testing.assert_allclose(long.coef_, 3.0 * short.coef_, rtol=1e-9)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", ["double", "single", "fortran", "csr"])
def test_warm_start_of_dcd(loss: str, n_classes: int, form: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.argmax(X[:, :n_classes] + 0.5 * rng.normal(size=(400, n_classes)), axis=1)
    weights = weights_for(400)
    rows = FORMS[form](X, None)
    machine = LinearODMClassifier(
        solver="dcd", loss=loss, lam=100.0, theta=0.3, warm_start=True, max_iter=100_000
    ).fit(rows, y, weights)
    first, steps = machine.coef_, machine.n_iter_
    assert steps > 20
    for again in (machine, pickle.loads(pickle.dumps(machine))):
        again.fit(rows, y, weights)
        assert len(again.history_) == 1  # a look, no sweep
        np.testing.assert_allclose(again.coef_, first, rtol=1e-9)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
def test_a_warm_start_of_dcd_never_changes_the_solution(loss: str, tmp_path: Path) -> None:
    X, y = rows_and_labels(300, 5)
    settings = {"solver": "dcd", "loss": loss, "theta": 0.3, "tol": 1e-9, "max_iter": 100_000}
    machine = LinearODMClassifier(**settings, lam=100.0, warm_start=True).fit(X, y)
    sodm.save(machine, tmp_path / "machine.sodm")
    loaded = sodm.load(tmp_path / "machine.sodm")
    weights = weights_for(300)
    weights[:50] = 0.0
    for rows, labels, s, lam in [
        (X, y, None, 100.0),
        (X, y, None, 3.0),  # duals beyond the new bounds
        (X[::-1], y, None, 100.0),  # other rows, as many
        (X[:200], y[:200], None, 100.0),
        (X, y, weights, 100.0),
    ]:
        cold = LinearODMClassifier(**settings, lam=lam).fit(rows, labels, s)
        for warm in (clone_fitted(machine), clone_fitted(loaded)):
            warm.set_params(lam=lam).fit(rows, labels, s)
            assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)
    if loss == "odm":  # its duals can be told from the coefficients
        assert loaded.fit(X, y).n_iter_ <= 3


def clone_fitted(machine: LinearODMClassifier) -> LinearODMClassifier:
    return pickle.loads(pickle.dumps(machine))


def test_a_solver_says_what_it_needs() -> None:
    X, y = rows_and_labels(100, 3)
    rows = memory_rows(X, y)
    start = Start(np.zeros((1, 4)))
    chunked = ChunkedRows(lambda: [rows])
    past = RowsWithPast(rows, QuadraticRows.of(rows, start.w, diagonal=False))
    for source in (chunked, past):
        for solver, words in [
            ("dsvrg", "rows that can be taken one at a time"),
            ("svrg", "all its rows in memory"),
            ("csvrg", "all its rows in memory"),
            ("dcd", "all its rows in memory"),
        ]:
            with pytest.raises(ValueError, match=f"solver='{solver}' needs {words}"):
                train_linear(source, rows.loss, start, LinearSettings(solver))
        assert np.all(train_linear(source, rows.loss, start, LinearSettings()).result.converged)
    for solver in ("newton", "dsvrg", "svrg", "csvrg"):
        with pytest.raises(ValueError, match=f"solver='{solver}' needs loss='odm'"):
            train_linear(rows, HingeLoss(1.0), start, LinearSettings(solver))


def test_warm_start_of_the_stochastic_solvers() -> None:
    X, y = rows_and_labels(500, 5)
    machine = LinearODMClassifier(solver="svrg", lam=30.0, warm_start=True, random_state=0).fit(X, y)
    assert machine.fit(X, y).history_[0]["gradient_norm"] <= 1e-6


# -------------------------------------------------------------------------------------------------- dsvrg


@pytest.mark.parametrize("n_partitions", [1, 3, 16, 5000])
@pytest.mark.parametrize("steps_per_node", [1, 50, "auto"])
def test_any_number_of_nodes_and_steps(n_partitions: int, steps_per_node: int | str) -> None:
    X, y = rows_and_labels(200, 4)
    n_steps = {1: 1000, 50: 50, "auto": 200}[steps_per_node]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(
            "dsvrg", X, y, n_partitions=n_partitions, steps_per_node=steps_per_node, epochs=n_steps, lam=3.0
        )
    exact = fit("newton", X, y, lam=3.0)
    assert found.objective_ == pytest.approx(exact.objective_, rel=1e-3)


def test_a_node_gives_out_its_rows_without_replacement() -> None:
    rows = np.array([3, 5, 7, 9, 11])
    node = Node(rows, check_random_state(0))
    given = np.concatenate([node.take(k) for k in (2, 1, 4, 3)])
    assert sorted(given[:5]) == sorted(given[5:10]) == list(rows)
    assert sorted(node.take(10)) == sorted([*rows, *rows])


# -------------------------------------------------------------------------------------------------- csvrg


def memory_rows(X: object, y: np.ndarray, weights: np.ndarray | None = None, bias: float = 1.0) -> MemoryRows:
    loss, positive = OdmLoss(30.0, 0.5, 0.3), np.array([1], dtype=np.int32)
    return MemoryRows(X, y.astype(np.int32), weights, positive, loss, bias, 1)


@pytest.mark.parametrize("form", ["double", "single", "csr"])
def test_a_cover_covers(form: str) -> None:
    X, y = rows_and_labels(600, 3)
    weights = weights_for(600)
    rows = memory_rows(FORMS[form](X, None), y, weights)
    sizes = []
    for radius in (1e-9, 0.1, 0.5, 10.0):
        balls = cover(rows, radius, check_random_state(0))
        away = np.linalg.norm(X - X[balls.centre], axis=1)
        assert np.all(away <= radius * (1 + 1e-5) + 1e-6)
        assert np.all(y == y[balls.centre])
        assert np.array_equal(balls.centre[balls.centres], balls.centres)
        assert balls.weights.sum() == pytest.approx(weights.sum())
        centres = X[balls.centres]
        for c in (0, 1):  # no centre lies in another's ball: the cover is not wasteful
            mine = centres[y[balls.centres] == c]
            between = np.linalg.norm(mine[:, None] - mine[None], axis=2) + 2 * radius * np.eye(len(mine))
            assert np.all(between > radius * (1 - 1e-5))
        sizes.append(len(balls.centres))
    assert sizes[0] == 600 and sizes[-1] == 2 and sizes == sorted(sizes, reverse=True)


def test_cover_of_identical_rows() -> None:
    X, y = np.zeros((10, 2)), np.arange(10) % 2
    rows = memory_rows(X, y)
    assert len(cover(rows, automatic_radius(rows, check_random_state(0)), check_random_state(0)).centres) == 2


@pytest.mark.parametrize("radius", [0.05, 0.2, 0.6])
def test_the_anchor_gradient_is_within_its_bound(radius: float) -> None:
    X, y = rows_and_labels(500, 3)
    weights = weights_for(500)
    rows = memory_rows(X, y, weights)
    balls = cover(rows, radius, check_random_state(0))
    centres = memory_rows(X[balls.centres], y[balls.centres], balls.weights)
    rng = np.random.default_rng(0)
    for size in (0.0, 1.0, 10.0):
        w = size * rng.normal(size=(1, 4))
        gradients = []
        for source in (rows, centres):
            source.start("none")
            gradients.append(LinearProblem(source, 1, rows.loss).evaluate([0], w).gradient)
        error = np.linalg.norm(gradients[0] - gradients[1])
        bound = gradient_bound(rows, balls, LinearProblem(rows, 1, rows.loss).scale, w)[0]
        assert 0 < error <= bound


@pytest.mark.parametrize("radius", [0.1, 0.2, 0.4])
def test_csvrg_ends_within_its_radius_bound(radius: float) -> None:
    X, y = rows_and_labels(800, 3)
    exact = fit("newton", X, y, tol=1e-12)
    found = fit("csvrg", X, y, radius=radius, tol=1e-6, epochs=500)
    rows = memory_rows(X, y)
    balls = cover(rows, radius, check_random_state(0))
    w = np.append(found.coef_, found.intercept_)[None]
    bound = gradient_bound(rows, balls, LinearProblem(rows, 1, rows.loss).scale, w)[0]
    gradient = found.gradient_norm_ * LinearProblem(rows, 1, rows.loss).gradient_at_zero()[0]
    assert gradient <= bound
    assert found.objective_ - exact.objective_ <= bound**2 / 2
    assert found.objective_ > exact.objective_ * (1 + 1e-9)  # the error is real, and it is in the radius
