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
    X, y = friedman(9000)
    y = y ^ (np.random.default_rng(0).random(len(y)) < 0.2)  # so that most rows matter
    machine = ODMClassifier(**LADDER, n_jobs=1).fit(X, y)
    assert np.max(machine.dual_gap_) <= 1e-3
    other = ODMClassifier(**LADDER, n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(machine.dual_coef_, other.dual_coef_)
