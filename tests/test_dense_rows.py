"""Many rows in two dimensions: most are out of sight of a narrow kernel, and a row still sees hundreds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from sodm import ODMClassifier

# lam is rows times (1 - theta)^2 times what C is to an SVM, here 44.
fitted = partial(ODMClassifier, theta=0.9, verbose=1)


def spiral(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two arms in the unit square, and some noise."""
    rng = np.random.default_rng(0)
    along, arm = 20 * rng.random(n), rng.integers(0, 2, n)
    angle = along + np.pi * arm
    X = np.stack([along * np.cos(angle), along * np.sin(angle)], axis=1) + rng.normal(scale=0.4, size=(n, 2))
    return (X - X.min(0)) / (X.max(0) - X.min(0)), arm


def test_narrow_kernels_that_landmarks_tell_are_solved_by_them() -> None:
    # Passes among neighbours took 88 steps here, each with all rows, and 13 s.
    X, y = spiral(20_000)
    machine = fitted(gamma=180.0, lam=0.44 * len(y)).fit(X, y)
    assert np.max(machine.dual_gap_) <= 1e-3
    assert np.max(machine.n_iter_) <= 40


def test_working_sets_come_first_where_few_of_many_rows_matter(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = spiral(33_000)
    machine = fitted(gamma=745.0, lam=0.44 * len(y)).fit(X, y)
    printed = capfd.readouterr()
    assert "dcd: " in printed.out + printed.err
    assert np.max(machine.dual_gap_) <= 1e-3
    newton = ODMClassifier(gamma=745.0, lam=0.44 * len(y), theta=0.9, solver="newton").fit(X, y)
    assert np.mean(machine.predict(X) != newton.predict(X)) <= 1e-3


@pytest.mark.slow
def test_many_rows_that_matter_are_left_to_newton(capfd: pytest.CaptureFixture[str]) -> None:
    X, _ = spiral(33_000)
    y = np.random.default_rng(1).integers(0, 2, len(X))  # every row matters
    machine = fitted(gamma=745.0, lam=0.1 * len(y)).fit(X, y)
    printed = capfd.readouterr()
    assert "newton: " in printed.out + printed.err
    assert np.max(machine.dual_gap_) <= 1e-3
