"""SODMRegressor: regions that correct an average."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import sodm
from sodm import ODMRegressor, SODMRegressor


def task(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, 20 + 4 * np.sin(2 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = task()
    return SODMRegressor(regions=5, gamma=1.0, lam=1e4).fit(X, np.column_stack([y, 1e-3 * X[:, 0]]))


def test_regions_come_near_to_the_exact_machine(fitted):
    X, y = task()
    X_test, y_test = task(seed=1)
    exact = ODMRegressor(gamma=1.0, lam=1e4).fit(X, y)
    own = np.mean((fitted.predict(X_test)[:, 0] - y_test) ** 2)
    assert own <= 1.1 * np.mean((exact.predict(X_test) - y_test) ** 2)
    assert np.mean(np.abs(fitted.predict(X_test)[:, 1] - 1e-3 * X_test[:, 0])) < 3e-5
    assert fitted.stop_reason_ is not None and fitted.dual_gap_.max() <= 0.02


def test_few_rows_are_solved_exactly():
    X, y = task(n=500)
    np.testing.assert_array_equal(
        SODMRegressor(epsilon=0.2).fit(X, y).predict(X), ODMRegressor(epsilon=0.2).fit(X, y).predict(X)
    )


def test_threads_and_form_do_not_change_a_bit():
    X, y = task(n=1500)
    one = SODMRegressor(regions=3, epsilon=0.1, n_jobs=1).fit(X, y)
    two = SODMRegressor(regions=3, epsilon=0.1, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    rows = SODMRegressor(regions=3, epsilon=0.1).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(rows.predict(X), one.predict(X), atol=0.05)


def test_a_model_file_predicts_the_same(fitted, tmp_path: Path):
    X, _ = task(n=200, seed=2)
    sodm.save(fitted, tmp_path / "m.sodm")
    np.testing.assert_array_equal(sodm.load(tmp_path / "m.sodm").predict(X), fitted.predict(X))


def test_targets_shifted_and_scaled(fitted):
    X, y = task()
    other = SODMRegressor(regions=5, gamma=1.0, lam=1e4).fit(X, 1024.0 * y - 5000)
    np.testing.assert_allclose((other.predict(X) + 5000) / 1024, fitted.predict(X)[:, 0], atol=0.02)


def test_what_has_no_regions_is_refused():
    X, y = task(n=50)
    with pytest.raises(ValueError, match="ODMRegressor"):
        SODMRegressor(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="regions"):
        SODMRegressor(regions=0).fit(X, y)


@parametrize_with_checks([SODMRegressor()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
