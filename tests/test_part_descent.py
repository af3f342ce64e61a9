"""Coordinate descent in parts: what a machine with hard bounds, or with a very large lam, is solved by."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import sodm

N = 3000  # more than a part, several times


def noisy(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (N, 4))
    return X, np.where(np.sin(5 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(N) > 0, 1, -1)


@pytest.mark.parametrize("cost", [1.0, 300.0])
def test_hinge_is_solved_to_its_gap(cost: float) -> None:
    X, y = noisy()
    machine = sodm.ODMClassifier(loss="hinge", gamma=2.0, lam=cost * N, fit_intercept=False).fit(X, y)
    coefficients = np.zeros(N)
    coefficients[machine.support_] = machine.dual_coef_[0]
    assert np.all(y * coefficients >= 0) and np.abs(coefficients).max() <= cost * (1 + 1e-12)
    decision = rbf_kernel(X, gamma=2.0) @ coefficients
    norm = coefficients @ decision
    primal = norm / 2 + cost * np.maximum(0, 1 - y * decision).sum()
    dual = np.abs(coefficients).sum() - norm / 2
    assert 0 <= primal - dual <= 1.01e-3 * primal


def test_descent_ends_where_sweeps_would_not() -> None:
    """A thousand sweeps over all rows leave a gap of some percent here."""
    X, y = noisy()
    machine = sodm.ODMClassifier(solver="dcd", gamma=10.0, lam=2.0**20).fit(X, y)
    assert machine.dual_gap_ <= 1e-3 and np.max(machine.n_iter_) < 1000


@pytest.mark.parametrize(
    "parameters", [{"loss": "hinge", "lam": 100.0 * N}, {"solver": "dcd", "lam": 2.0**18}]
)
def test_same_bits_for_any_number_of_threads(parameters: dict[str, object]) -> None:
    X, y = noisy(1)
    one, two, five = (
        sodm.ODMClassifier(gamma=4.0, n_jobs=threads, **parameters).fit(X, y) for threads in (1, 2, 5)
    )
    for other in (two, five):
        np.testing.assert_array_equal(one.support_, other.support_)
        np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
