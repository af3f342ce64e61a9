"""Narrow kernels and large lam: rows among their neighbours, and decisions that chance does not make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sodm import ODMClassifier, _core
from sodm.estimators.memory import cache_bytes, free_memory
from sodm.problem.losses import OdmLoss
from sodm.solvers.exact import solve

LOCAL: dict[str, Any] = {"gamma": 40.0, "lam": 2.0**16}


def chequered(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Fields of a board far apart, each divided by a crooked border, a tenth of the labels wrong."""
    random = np.random.default_rng(seed)
    field = random.integers(0, 12, size=(n, 2))
    within = random.random((n, 2))
    y = (within[:, 0] + 0.3 * np.sin(9 * within[:, 1] + field[:, 0]) > 0.5) ^ (random.random(n) < 0.1)
    return (3.0 * field + within) / 4, y.astype(int)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_local_kernel_is_solved_to_its_certificate(fit_intercept: bool) -> None:
    X, y = chequered(2500)
    parameters = LOCAL | {"lam": 2.0**12, "fit_intercept": fit_intercept}
    machine = ODMClassifier(**parameters).fit(X, y)
    other = ODMClassifier(**parameters, solver="dcd", tol=1e-5).fit(X, y)
    assert np.max(machine.dual_gap_) <= 1e-3
    assert machine.objective_ == pytest.approx(other.objective_, rel=1e-3)
    assert np.mean(machine.predict(X) != other.predict(X)) < 2e-3


@pytest.mark.parametrize("lam", [2.0**12, 2.0**16])
def test_an_intercept_costs_few_steps(lam: float) -> None:
    # It couples rows that have nothing else in common: hundreds of steps if it is not held meanwhile.
    X, y = chequered(8000)
    y[:1500] = 1  # so that there is something for it to do
    steps = [
        int(np.max(ODMClassifier(gamma=40.0, lam=lam, fit_intercept=with_it).fit(X, y).n_iter_))
        for with_it in (False, True)
    ]
    assert steps[1] <= 2 * steps[0] + 2


def test_nor_does_it_where_kernel_values_are_given() -> None:
    X, y = chequered(2500)
    y[:500] = 1
    distances = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    source = _core.MatrixSource(np.exp(-40.0 * distances), 1.0, True, np.arange(2500), True)
    signs, loss = np.where(y > 0, 1.0, -1.0)[None], OdmLoss(64.0 * 2500, 0.5, 0.6)
    found = solve(source, signs, np.ones(2500), loss, solver="newton")
    assert found.converged.all() and found.n_iter.max() <= 150  # 73, and 347 if it is not known apart


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_of_which_threads_and_memory_change_no_bit(fit_intercept: bool) -> None:
    X, y = chequered(2500)
    given = LOCAL | {"n_jobs": 1, "fit_intercept": fit_intercept}
    first = ODMClassifier(**given).fit(X, y)
    for change in ({"n_jobs": 3}, {"cache_size": 2.0}, {"cache_size": "auto"}):
        other = ODMClassifier(**(given | change)).fit(X, y)
        np.testing.assert_array_equal(first.dual_coef_, other.dual_coef_)


def test_and_a_warm_start_finds_its_rows_again() -> None:
    X, y = chequered(2500)
    machine = ODMClassifier(**LOCAL, warm_start=True).fit(X, y)
    objective = machine.objective_
    again = machine.fit(X, y)
    assert again.objective_ == pytest.approx(objective, rel=1e-4)
    assert int(np.max(again.n_iter_)) <= 5


@pytest.mark.parametrize("gamma", [4.0, 40.0], ids=["wide", "narrow"])
def test_decisions_depend_on_neither_the_order_of_rows_nor_the_seed(gamma: float) -> None:
    X, y = chequered(4000)
    asked = chequered(20_000, seed=1)[0]
    decided = []
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(len(y))
        machine = ODMClassifier(gamma=gamma, lam=2.0**14, random_state=seed).fit(X[order], y[order])
        decided.append(machine.predict(asked))
    assert np.mean(decided[0] != decided[1]) <= 5e-4


@pytest.mark.parametrize("loss", ["odm", "hinge"])
def test_coordinate_sweeps_in_chunks_are_the_same_for_any_number_of_threads(loss: str) -> None:
    X, y = chequered(4500)  # more rows than are swept one by one
    machines = [
        ODMClassifier(gamma=2.0, lam=2.0**9, loss=loss, solver="dcd", n_jobs=n).fit(X, y) for n in (1, 3)
    ]
    assert np.max(machines[0].dual_gap_) <= 1e-3
    np.testing.assert_array_equal(machines[0].dual_coef_, machines[1].dual_coef_)


def test_cache_size_in_megabytes_or_a_quarter_of_what_is_free() -> None:
    assert cache_bytes(2.5) == 5 * 2**19
    assert cache_bytes("auto", n_rows=11_000) == 1000 * 2**20  # 970 MB in double: no need to ask
    assert cache_bytes("auto", n_rows=10**6) > 1000 * 2**20 or free_memory() < 4000 * 2**20
    assert 0.1 * free_memory() < cache_bytes("auto") < 0.5 * free_memory()
    X, y = chequered(100)
    with pytest.raises(ValueError, match="cache_size must be a number"):
        ODMClassifier(cache_size="plenty").fit(X, y)


# Noise that a large lam wants to follow: neither landmarks nor neighbours tell what a row is to others.
FLAT: dict[str, Any] = {"gamma": 1.5, "lam": 2.0**20, "fit_intercept": False, "solver": "newton"}


def noisy(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Six features, labels that depend on two of them, a fifth of them wrong."""
    random = np.random.default_rng(3)
    X = random.random((n, 6))
    return X, ((np.sin(6 * X[:, 0]) > X[:, 1]) ^ (random.random(n) < 0.2)).astype(int)


def test_the_systems_of_a_flat_spectrum_are_factored_and_solved_to_their_certificate() -> None:
    X, y = noisy(3000)
    machine = ODMClassifier(**FLAT, tol=1e-4).fit(X, y)
    assert np.max(machine.dual_gap_) <= 1e-4
    other = ODMClassifier(**(FLAT | {"solver": "auto"}), precision="double").fit(X, y)
    assert machine.objective_ == pytest.approx(other.objective_, rel=1e-3)


def test_and_depend_on_neither_threads_nor_memory() -> None:
    X, y = noisy(2500)
    first = ODMClassifier(**FLAT, n_jobs=1).fit(X, y)
    assert np.max(first.dual_gap_) <= 1e-3
    for change in ({"n_jobs": 3}, {"cache_size": 1000.0}):  # below that the way of a fit may be another
        other = ODMClassifier(**(FLAT | {"n_jobs": 1} | change)).fit(X, y)
        np.testing.assert_array_equal(first.dual_coef_, other.dual_coef_)


def test_and_several_machines_are_factored_each_for_itself() -> None:
    X, y = noisy(1600)
    y = np.where(X[:, 2] > 0.7, 2, y)
    together = ODMClassifier(**FLAT, multi_class="ovr").fit(X, y)
    assert np.max(together.dual_gap_) <= 1e-3
    alone = ODMClassifier(**FLAT).fit(X, y == 2)
    assert np.asarray(together.objective_)[2] == pytest.approx(float(np.max(alone.objective_)), rel=2e-3)
