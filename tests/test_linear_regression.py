"""LinearODMRegressor: against ridge regression, LinearSVR, the kernel machine, and itself in chunks."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from problems import FORMS, exact_in_single, weights_for
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import sodm
from sodm import LinearODMRegressor, ODMRegressor


def task(n=300, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 50 + X @ np.arange(1, d + 1) + 3 * rng.normal(size=n)


def machine(**parameters):
    return LinearODMRegressor(**{"lam": 500.0, "tol": 1e-10, **parameters})


def test_least_squares_is_ridge_regression():
    X, y = task()
    weights = weights_for(len(y))
    own = machine(fit_intercept=False).fit(X, y, weights)
    ridge = Ridge(alpha=weights.sum() / own.lam, fit_intercept=False, tol=1e-12).fit(X, y, weights)
    np.testing.assert_allclose(own.coef_[0], ridge.coef_, rtol=1e-8)


@pytest.mark.parametrize("epsilon", [0.0, 2.0])
def test_linear_svr_finds_the_same(epsilon):
    X, y = task()
    y = y - y.mean()  # the mean is not held back by the norm here; there it is
    C = 3.0
    theirs = LinearSVR(
        loss="squared_epsilon_insensitive", C=C, epsilon=epsilon, tol=1e-12, max_iter=100_000
    ).fit(X, y)
    own = machine(epsilon=epsilon, lam=2 * C * len(y)).fit(X, y)
    np.testing.assert_allclose(own.coef_[0], theirs.coef_, rtol=1e-5)
    np.testing.assert_allclose(own.intercept_, theirs.intercept_, rtol=1e-4)


def test_the_kernel_machine_finds_the_same():
    X, y = task()
    weights = weights_for(len(y))
    common = {"lam": 300.0, "upsilon": 0.2, "epsilon": 1.0, "tol": 1e-11}
    linear = LinearODMRegressor(fit_intercept=False, **common).fit(X, y - 50, weights)
    kernel = ODMRegressor(kernel="linear", fit_intercept=False, precision="double", **common)
    kernel.fit(X, y - 50, weights)
    np.testing.assert_allclose(linear.coef_, kernel.coef_, rtol=1e-4)
    np.testing.assert_allclose(linear.objective_, kernel.objective_, rtol=1e-9)
    assert linear.dual_gap_ <= 1e-11


def test_targets_shifted_and_scaled():
    X, y = task()
    plain = machine(epsilon=0.5, upsilon=3.0).fit(X, y)
    other = machine(epsilon=500.0, upsilon=3.0).fit(X, 1000 * y + 7e5)
    np.testing.assert_allclose(other.predict(X), 1000 * plain.predict(X) + 7e5, rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("factor", [1e-25, 1e-12, 1e100])
def test_the_unit_of_the_targets_does_not_matter(factor, dtype):
    """Charges in coulombs, masses of stars: beside 1, of which margins are made, they would be lost."""
    X, y = task()
    X = X.astype(dtype)
    for epsilon in (0.0, 0.5):
        plain = machine(epsilon=epsilon).fit(X, y)
        other = machine(epsilon=factor * epsilon).fit(X, factor * y)
        np.testing.assert_allclose(other.coef_ / factor, plain.coef_, rtol=1e-6)
        np.testing.assert_allclose(other.intercept_ / factor, plain.intercept_, rtol=1e-9)
        np.testing.assert_allclose(other.objective_ / factor**2, plain.objective_, rtol=1e-9)
    both = machine().fit(X, np.column_stack([y, factor * y]))
    np.testing.assert_allclose(both.coef_[1] / factor, both.coef_[0], rtol=1e-6)


def test_targets_too_large_for_their_squares_are_refused():
    X, y = task()
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="targets are too large"):
        machine().fit(X, 1e200 * y)


def test_weights_are_repeats():
    X, y = task()
    counts = np.random.default_rng(1).integers(0, 3, size=len(y))
    repeated = np.repeat(np.arange(len(y)), counts)
    weighted, copied = (
        machine(epsilon=1.0).fit(X, y, counts),
        machine(epsilon=1.0).fit(X[repeated], y[repeated]),
    )
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_rows_gives_the_same(form, tmp_path: Path):
    X, y = task(n=120)
    X = exact_in_single(X)
    own = machine(epsilon=0.5, tol=1e-6).fit(FORMS[form](X, tmp_path), y)
    np.testing.assert_allclose(own.coef_, machine(epsilon=0.5).fit(X, y).coef_, rtol=1e-5)


def test_several_targets_are_solved_as_one_by_one():
    X, y = task()
    both = np.column_stack([y, 1e4 * X[:, 0], -y])
    together = machine(epsilon=0.3).fit(X, both)
    assert together.predict(X).shape == both.shape
    for k in range(3):
        np.testing.assert_allclose(
            together.coef_[k], machine(epsilon=0.3).fit(X, both[:, k]).coef_[0], rtol=1e-7
        )


def test_chunks_give_the_fit_of_all_rows():
    X, y = task(n=700)
    weights = weights_for(len(y))
    whole = machine(epsilon=0.5).fit(X, y, weights)

    def pieces():
        return ((X[i : i + 150], y[i : i + 150], weights[i : i + 150]) for i in range(0, 700, 150))

    chunked = machine(epsilon=0.5).fit_chunks(pieces)
    np.testing.assert_allclose(chunked.coef_, whole.coef_, rtol=1e-8)
    np.testing.assert_allclose(chunked.intercept_, whole.intercept_, rtol=1e-8)


def test_chunks_of_several_targets_must_fit_together():
    X, y = task(n=200)
    both = np.column_stack([1e-15 * y, -y])
    halves = (slice(100), slice(100, 200))
    chunked = machine().fit_chunks(lambda: iter([(X[half], both[half]) for half in halves]))
    np.testing.assert_allclose(chunked.coef_, machine().fit(X, both).coef_, rtol=1e-8)
    assert chunked.predict(X).shape == (200, 2)
    for other in (y[100:], both[100:, :1]):
        with pytest.raises(ValueError, match="same number of columns"):
            machine().fit_chunks(lambda other=other: iter([(X[:100], both[:100]), (X[100:], other)]))
    with pytest.raises(ValueError, match="no row with a weight"):
        machine().fit_chunks(lambda: iter([]))


def test_arrow_tables_are_chunks():
    pa = pytest.importorskip("pyarrow")
    X, y = task(n=200)
    table = pa.table({**{f"x{k}": X[:, k] for k in range(6)}, "t": y})
    chunked = machine().fit_chunks(table, label="t", batch_rows=64)
    np.testing.assert_allclose(chunked.predict(X), machine().fit(X, y).predict(X), rtol=1e-8)


def test_many_sparse_features_and_threads():
    rng = np.random.default_rng(0)
    X = sparse.random(400, 3000, density=0.02, format="csr", random_state=0)
    y = X @ rng.normal(size=3000)
    one, two = (machine(n_jobs=n, tol=1e-8).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    ridge = Ridge(alpha=400 / 500, fit_intercept=False, tol=1e-12).fit(X, y)
    own = machine(fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(own.predict(X), ridge.predict(X), atol=1e-5)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
def test_more_features_than_rows(as_rows):
    """A zone that most rows are in: no system of all features is solved, and none by products alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 700)) * (rng.random((200, 700)) < 0.3)
    y = X[:, :20].sum(axis=1) + rng.normal(size=200)
    weights = weights_for(200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = LinearODMRegressor(epsilon=0.5, upsilon=2.0, tol=1e-9).fit(as_rows(X), y, weights)
        both = LinearODMRegressor(upsilon=2.0).fit(as_rows(X), np.column_stack([y, -1e-15 * y]), weights)
    kernel = ODMRegressor(
        kernel="linear", epsilon=0.5, upsilon=2.0, lam=own.lam, precision="double", tol=1e-9
    )
    mean = np.average(y, weights=weights)
    wide = np.column_stack([X, np.ones(200)])  # the constant feature
    kernel.set_params(fit_intercept=False).fit(wide, y - mean, weights)
    np.testing.assert_allclose(own.objective_, kernel.objective_, rtol=1e-7)
    np.testing.assert_allclose(own.predict(X), kernel.predict(wide) + mean, atol=1e-3)
    assert own.dual_gap_ <= 1e-9 and own.n_iter_ < 100
    alone = LinearODMRegressor(upsilon=2.0).fit(as_rows(X), -y, weights)
    np.testing.assert_allclose(both.coef_[1] / 1e-15, alone.coef_[0], atol=1e-5)


def test_warm_start_and_messages():
    X, y = task(n=500)
    own = machine(warm_start=True, epsilon=1.0).fit(X, y)
    steps = len(own.history_)
    assert len(own.fit(X, y).history_) == 1 < steps
    whole = own.fit_chunks(lambda: iter([(X[:300], y[:300]), (X[300:], y[300:])]))
    assert len(whole.history_) == 1
    own.fit(X, np.column_stack([y, -y]))  # as many features, not as many targets: from the beginning
    with pytest.raises(ValueError, match="zero for every row"):
        own.fit(X, y, np.zeros(len(y)))
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        machine(epsilon=2.0, upsilon=50.0, max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match="epsilon"):
        machine(epsilon=-1.0).fit(X, y)


@pytest.mark.parametrize("columns", ["flat", "two"])
def test_a_model_file_predicts_the_same(tmp_path: Path, columns: str):
    X, y = task()
    y = y if columns == "flat" else np.column_stack([y, -y])
    own = machine().fit(X, y)
    sodm.save(own, tmp_path / "m.sodm")
    np.testing.assert_array_equal(sodm.load(tmp_path / "m.sodm").predict(X), own.predict(X))


@parametrize_with_checks([LinearODMRegressor(), LinearODMRegressor(epsilon=0.5, upsilon=0.3)])
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        check(estimator)
