"""Kernel values of many rows are kept in two bytes where that will do (core/kernel/packed_tile.hpp)."""

from __future__ import annotations

import numpy as np
import pytest

from sodm import ODMClassifier

ROWS = 4500  # from 4,096 on
WIDE = {"gamma": 0.5, "solver": "newton"}
NARROW = {"gamma": 60.0, "lam": 20.0 * ROWS}  # nearly all values are zeros


def noisy(n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (n, 4))
    waves = np.sin(4 * X[:, 0]) * np.sin(4 * X[:, 1])
    return X, np.where(waves + random.normal(0, 0.3, n) > 0, 1, -1)


@pytest.mark.parametrize("given", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_machine_is_that_of_double_precision_to_its_tolerance(
    given: dict[str, object], fit_intercept: bool
) -> None:
    X, y = noisy(2 * ROWS)
    packed, double = (
        ODMClassifier(**given, fit_intercept=fit_intercept, precision=precision).fit(X[:ROWS], y[:ROWS])
        for precision in ("single", "double")
    )
    assert packed.dual_gap_ <= packed.tol
    f, exact = (machine.decision_function(X[ROWS:]) for machine in (packed, double))
    off = np.abs(f - exact)
    assert np.sqrt(np.mean(off**2)) < 2e-3 * np.std(exact)
    assert np.mean(np.sign(f) != np.sign(exact)) <= 5e-4


@pytest.mark.parametrize("given", [WIDE, NARROW], ids=["wide", "narrow"])
def test_threads_and_memory_change_no_bit_of_it(given: dict[str, object]) -> None:
    X, y = noisy(ROWS)
    first = ODMClassifier(**given, n_jobs=1).fit(X, y)
    for change in ({"n_jobs": 2}, {"n_jobs": 3}, {"cache_size": 10.0}):
        other = ODMClassifier(**(given | change)).fit(X, y)
        np.testing.assert_array_equal(first.dual_coef_, other.dual_coef_)


def test_who_asks_for_more_digits_than_two_bytes_have_gets_them() -> None:
    X, y = noisy(ROWS)
    machine = ODMClassifier(gamma=0.5, solver="newton", tol=1e-9).fit(X, y)
    assert machine.dual_gap_ <= 1e-9


def test_a_cache_that_is_too_small_for_floats_holds_all_values() -> None:
    X, y = noisy(ROWS)
    megabytes = 4e-6 * ROWS**2 / 2  # of one triangle
    large, small = (
        ODMClassifier(**WIDE, cache_size=size).fit(X, y).n_kernel_evaluations_
        for size in (1000.0, 0.65 * megabytes)
    )
    assert small == large  # none was computed twice
