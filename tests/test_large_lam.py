"""Large lam on many rows: descent where the spectrum is flat, a ladder of ridges where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from sodm import ODMClassifier


def friedman(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten features of which five count; the border is Friedman's function at its median."""
    X, target = make_friedman1(n, 10, random_state=0)
    return X, (target > np.median(target)).astype(int)


def noisy(n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's function with a share of the labels flipped."""
    X, y = friedman(n)
    return X, y ^ (np.random.default_rng(0).random(n) < share)


@pytest.mark.parametrize(
    ("gamma", "lam", "method"), [(5.0, 16, "dcd"), (0.5, 16, "newton"), (5.0, 1, "newton")]
)
def test_descent_comes_first_where_neighbours_decide(
    gamma: float, lam: float, method: str, capfd: pytest.CaptureFixture[str]
) -> None:
    X, y = friedman(8200)
    machine = ODMClassifier(gamma=gamma, lam=lam * len(y), verbose=1).fit(X, y)
    assert np.max(machine.dual_gap_) <= 1e-3
    printed = capfd.readouterr()
    assert f"{method}: " in printed.out + printed.err


@pytest.mark.slow
def test_a_descent_that_does_not_end_leaves_the_rest_to_newton() -> None:
    # Rows in pairs that are nearly one and contradict each other: sweeps would take for ever.
    X, y = friedman(4100)
    shaken = X + 1e-4 * np.random.default_rng(0).normal(size=X.shape)
    X, y = np.vstack([X, shaken]), np.concatenate([y, 1 - y])
    machine = ODMClassifier(gamma=5.0, lam=64.0 * len(y)).fit(X, y)
    assert np.max(machine.dual_gap_) <= 1e-3


LADDER: dict[str, Any] = {"gamma": 2.0, "lam": 6.3e4, "cache_size": 250.0}


@pytest.mark.slow
def test_a_ladder_ends_at_the_lam_that_was_asked_for() -> None:
    X, y = noisy(9000, 0.2)  # so that most rows matter
    machine = ODMClassifier(**LADDER, n_jobs=1).fit(X, y)
    assert np.max(machine.dual_gap_) <= 1e-3
    other = ODMClassifier(**LADDER, n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(machine.dual_coef_, other.dual_coef_)


def test_decisions_beside_a_small_ridge_are_those_of_double() -> None:
    # Coefficients are in the hundreds here, and single precision loses the second digit of their sums.
    X, y = noisy(8000, 0.2)
    X, y, queries = X[:5000], y[:5000], X[5000:]
    parameters: dict[str, Any] = {"gamma": 0.2, "lam": 300.0 * len(y)}
    single = ODMClassifier(**parameters).fit(X, y).decision_function(queries)
    double = ODMClassifier(**parameters, precision="double", tol=1e-9).fit(X, y).decision_function(queries)
    assert np.max(np.abs(single - double)) < 2e-3


def test_products_of_large_coefficients_keep_their_digits() -> None:
    # Summed in single precision they are so far off that Newton's steps get nowhere, ninety of them.
    X, y = noisy(6000, 0.1)
    X, y = X[:3000], y[:3000]
    machine = ODMClassifier(gamma=0.1, lam=1000.0 * len(y)).fit(X, y)
    assert np.max(machine.dual_gap_) <= 1e-3
    assert np.max(machine.n_iter_) < 30
