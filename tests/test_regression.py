"""ODMRegressor: against kernel ridge regression, a quadratic-programming solver, and itself."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from oracles import quadratic_program
from problems import FORMS, exact_in_single, gram, weights_for
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import sodm
from sodm import ODMRegressor
from sodm.model import ModelFileError, from_libsvm, to_libsvm, to_onnx, to_pickle
from sodm.problem.losses import TargetLoss

KERNELS = {
    "rbf": {"gamma": 0.4},
    "laplacian": {"gamma": 0.3},
    "linear": {},
    "poly": {"gamma": 0.3, "degree": 2, "coef0": 1.0},
}


def task(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 40 + 10 * np.sin(2 * X[:, 0]) + 5 * X[:, 1] * X[:, 2] + rng.normal(size=n)


def machine(**parameters):
    return ODMRegressor(**{"gamma": 0.4, "lam": 2000.0, "tol": 1e-9, "precision": "double", **parameters})


# ------------------------------------------------------------------------------------------------- oracles


@pytest.mark.parametrize("name", KERNELS)
def test_least_squares_is_kernel_ridge_regression(name):
    X, y = task()
    weights = weights_for(len(y))
    own = machine(kernel=name, fit_intercept=False, tol=1e-12, **KERNELS[name]).fit(X, y, weights)
    ridge = KernelRidge(kernel=name, alpha=weights.sum() / own.lam, **KERNELS[name]).fit(X, y, weights)
    np.testing.assert_allclose(own.predict(X), ridge.predict(X), rtol=0, atol=1e-5)
    dual = np.zeros(len(y))
    dual[own.support_] = own.dual_coef_[0]
    np.testing.assert_allclose(dual, ridge.dual_coef_, atol=2e-4 * np.abs(ridge.dual_coef_).max())


@pytest.mark.parametrize("lam", [10.0, 1000.0])
def test_few_rows_of_least_squares_are_one_system_whatever_tol_is(lam):
    X, y = task()
    own = ODMRegressor(lam=lam, gamma=0.4, fit_intercept=False).fit(X, y)
    ridge = KernelRidge(kernel="rbf", alpha=len(y) / lam, gamma=0.4).fit(X, y)
    assert own.n_iter_ == 1
    np.testing.assert_allclose(own.predict(X), ridge.predict(X), atol=1e-3)


def test_many_rows_of_least_squares_are_one_system_too():
    X, y = task(n=3000)
    own = ODMRegressor(lam=3000.0, gamma=0.4, fit_intercept=False).fit(X, y)
    ridge = KernelRidge(kernel="rbf", alpha=1.0, gamma=0.4).fit(X, y)
    assert own.dual_gap_ < 1e-5
    np.testing.assert_allclose(own.predict(X), ridge.predict(X), atol=0.01 * np.std(y - own.predict(X)))


@pytest.mark.parametrize("solver", ["newton", "dcd"])
@pytest.mark.parametrize("epsilon, upsilon", [(1.0, 1.0), (3.0, 0.2), (0.5, 5.0), (0.0, 0.1)])
def test_a_quadratic_program_has_the_same_solution(epsilon, upsilon, solver):
    X, y = task(n=80)
    weights = weights_for(len(y))
    own = machine(epsilon=epsilon, upsilon=upsilon, solver=solver, max_iter=20_000).fit(X, y, weights)
    K = gram("rbf", X, X, gamma=0.4)
    mean = np.average(y, weights=weights)
    loss = TargetLoss(own.lam, upsilon, epsilon)
    objective, f = quadratic_program(K, np.ones(len(y)), weights, loss, 1 - (y - mean))
    np.testing.assert_allclose(own.objective_, objective, rtol=1e-7)
    np.testing.assert_allclose(own.predict(X), f + mean, atol=0.02)
    inside = np.abs(f + mean - y) < epsilon - 0.1
    assert not np.isin(np.flatnonzero(inside), own.support_).any()


def test_the_gap_bounds_the_distance_from_the_best():
    X, y = task(n=300)
    best = machine(tol=1e-12, epsilon=0.3).fit(X, y)
    for precision in ("single", "double"):
        rough = machine(tol=1e-2, epsilon=0.3, precision=precision).fit(X, y)
        assert best.objective_ <= rough.objective_ <= best.objective_ / (1 - rough.dual_gap_) * (1 + 1e-9)
        assert rough.dual_gap_ <= 1e-2


def test_upsilon_gives_expectiles():
    """Of one point with many targets: the e with  share * sum (t-e)_+ = (1-share) * sum (e-t)_+."""
    t = np.random.default_rng(0).exponential(size=400)
    for upsilon in (0.1, 1.0, 10.0):
        e = machine(upsilon=upsilon, lam=1e8, tol=1e-12).fit(np.zeros((400, 1)), t).predict([[0.0]])[0]
        np.testing.assert_allclose(
            np.maximum(t - e, 0).sum(), upsilon * np.maximum(e - t, 0).sum(), rtol=1e-3
        )


# --------------------------------------------------------------------------------------------- metamorphic


@pytest.mark.parametrize("epsilon", [0.0, 0.7])
def test_targets_shifted_and_scaled(epsilon):
    X, y = task()
    plain = machine(epsilon=epsilon, upsilon=0.5).fit(X, y)
    shifted = machine(epsilon=epsilon, upsilon=0.5).fit(X, y + 1000)
    np.testing.assert_allclose(shifted.predict(X), plain.predict(X) + 1000, atol=1e-4)
    for factor in (2.0**40, 1e-7, 3.0, 1e-40, 1e60):
        scaled = machine(epsilon=factor * epsilon, upsilon=0.5).fit(X, factor * y)
        np.testing.assert_allclose(scaled.predict(X) / factor, plain.predict(X), atol=1e-3)
        np.testing.assert_allclose(scaled.objective_ / factor**2, plain.objective_, rtol=1e-6)


def test_turning_the_targets_over_turns_upsilon_over():
    """(t - f)_+^2 + upsilon (f - t)_+^2 of -t and -f is upsilon times the same with 1 / upsilon."""
    X, y = task()
    up = machine(upsilon=4.0, epsilon=0.2).fit(X, y)
    down = machine(upsilon=0.25, epsilon=0.2, lam=4 * up.lam).fit(X, -y)
    np.testing.assert_allclose(down.predict(X), -up.predict(X), atol=1e-3)


@pytest.mark.parametrize("epsilon, upsilon, folds", [(0.0, 1.0, True), (0.5, 1.0, False), (0.0, 0.5, False)])
def test_rows_of_equal_features_fold_to_their_mean_only_in_least_squares(epsilon, upsilon, folds):
    X, y = task(n=120)
    twice = np.r_[0:120, 0:60]
    t = np.r_[y, y[:60] + np.random.default_rng(1).normal(size=60)]
    weights = weights_for(180)
    own = machine(epsilon=epsilon, upsilon=upsilon).fit(X[twice], t, weights)
    assert (len(own.support_) <= 120) == folds
    K = gram("rbf", X[twice], X[twice], gamma=0.4)
    whole = machine(epsilon=epsilon, upsilon=upsilon, kernel="precomputed").fit(K, t, weights)
    np.testing.assert_allclose(own.predict(X[twice]), whole.predict(K), atol=1e-3)
    np.testing.assert_allclose(own.objective_, whole.objective_, rtol=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_a_weight_is_so_many_rows_to_the_bit_in_any_order(epsilon):
    X, y = task(n=150)
    counts = np.random.default_rng(2).integers(0, 4, size=150)
    repeated = np.random.default_rng(3).permutation(np.repeat(np.arange(150), counts))
    weighted = ODMRegressor(epsilon=epsilon).fit(X, y, counts)
    copied = ODMRegressor(epsilon=epsilon).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(weighted.predict(X), copied.predict(X))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_rows_gives_the_same(form, tmp_path: Path):
    X, y = task(n=100)
    X = exact_in_single(X)
    plain, other = ODMRegressor(), ODMRegressor()
    rows = FORMS[form](X, tmp_path)
    np.testing.assert_array_equal(other.fit(rows, y).dual_coef_, plain.fit(X, y).dual_coef_)


def test_several_targets_are_solved_as_one_by_one():
    X, y = task()
    both = np.column_stack([y, 1e-3 * X[:, 0] ** 2, np.full(len(y), 7.0)])
    for epsilon in (0.0, 1e-4):
        together = machine(epsilon=epsilon).fit(X, both)
        assert together.predict(X).shape == both.shape and together.dual_gap_.shape == (3,)
        for k in range(2):
            alone = machine(epsilon=epsilon).fit(X, both[:, k])
            np.testing.assert_allclose(
                together.predict(X)[:, k], alone.predict(X), atol=1e-4 * both[:, k].std()
            )
        np.testing.assert_allclose(together.predict(X)[:, 2], 7.0)
    assert machine().fit(X, y[:, None]).predict(X).shape == (len(y), 1)


def test_a_warm_start_begins_where_the_last_fit_ended():
    X, y = task(n=900)
    m = machine(warm_start=True, solver="newton", tol=1e-6, epsilon=0.5).fit(X, y)
    before, steps = m.dual_coef_.copy(), m.n_iter_
    np.testing.assert_allclose(m.fit(X, y).dual_coef_, before)
    assert m.n_iter_ <= 1 < steps
    m.set_params(lam=2500.0).fit(X, y)
    cold = machine(lam=2500.0, tol=1e-6, epsilon=0.5).fit(X, y)
    np.testing.assert_allclose(m.predict(X), cold.predict(X), atol=0.05)
    m.fit(X[:50], np.column_stack([y, y])[:50])  # other rows, other targets: from the beginning


def test_threads_do_not_change_a_bit():
    X, y = task(n=1500)
    one, two = (ODMRegressor(n_jobs=n, epsilon=0.1).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


# -------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "parameters", [{"epsilon": -1}, {"upsilon": 0}, {"lam": 0}, {"epsilon": np.nan}, {"solver": "svrg"}]
)
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        ODMRegressor(**parameters).fit(*task(n=10))


def test_a_fit_that_does_not_converge_says_which_target():
    X, y = task(n=400)
    with pytest.warns(ConvergenceWarning, match="for target"):
        ODMRegressor(solver="dcd", max_iter=1, lam=1e6).fit(X, np.column_stack([y, X[:, 0]]))


def test_constant_targets_are_their_mean():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = ODMRegressor().fit(task(n=30)[0], np.full(30, 3.5))
    np.testing.assert_array_equal(m.predict([[0, 0, 0]]), [3.5])


@parametrize_with_checks(
    [
        ODMRegressor(),
        ODMRegressor(epsilon=0.1, upsilon=0.5),
        ODMRegressor(kernel="linear", precision="double"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --------------------------------------------------------------------------------------------- model files


@pytest.mark.parametrize("columns", ["flat", "one", "two"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_a_model_file_predicts_the_same(tmp_path: Path, kernel: str, columns: str):
    X, y = task(n=60)
    X = X @ X.T if kernel == "precomputed" else X
    y = {"flat": y, "one": y[:, None], "two": np.column_stack([y, X[:, 0]])}[columns]
    m = ODMRegressor(kernel=kernel, epsilon=0.5, upsilon=3.0).fit(X, y)
    model = m if kernel == "precomputed" else make_pipeline(StandardScaler(), m).fit(X, y)
    sodm.save(model, tmp_path / "m.sodm")
    read = sodm.load(tmp_path / "m.sodm")
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    to_pickle(read, tmp_path / "m.pkl")


def test_a_file_of_a_classifier_named_regressor_is_refused(tmp_path: Path):
    X, y = task(n=40)
    m = sodm.ODMClassifier().fit(X, y > 40)
    m.__class__ = type("ODMRegressor", (sodm.ODMClassifier,), {})
    sodm.save(m, tmp_path / "m.sodm")
    with pytest.raises(ModelFileError):
        sodm.load(tmp_path / "m.sodm")


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_onnx_gives_the_same_values(tmp_path: Path, kernel: str):
    X, y = task(n=80)
    for targets in (y, np.column_stack([y, X[:, 0]])):
        model = make_pipeline(StandardScaler(), ODMRegressor(kernel=kernel, precision="double", coef0=1.0))
        to_onnx(model.fit(X, targets), tmp_path / "m.onnx", dtype="float64")
        session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
        np.testing.assert_allclose(session.run(["value"], {"X": X})[0], model.predict(X), rtol=1e-6)


def test_libsvm_files_are_support_vector_regression(tmp_path: Path):
    X, y = task(n=100)
    m = ODMRegressor(precision="double", epsilon=0.5).fit(sparse.csr_matrix(X), y)
    assert to_libsvm(m, tmp_path / "m.model") == {}
    text = (tmp_path / "m.model").read_text()
    assert text.startswith("svm_type epsilon_svr\n") and "label" not in text
    np.testing.assert_allclose(from_libsvm(tmp_path / "m.model").predict(X), m.predict(X), rtol=1e-9)
    with pytest.raises(ValueError, match="one target"):
        to_libsvm(ODMRegressor().fit(X, np.column_stack([y, y])), tmp_path / "two.model")


def test_a_file_in_the_form_of_libsvm_is_read(tmp_path: Path):
    X, y = task(n=60)
    theirs = SVR(gamma=0.5, C=10).fit(X, y)
    lines = ["svm_type epsilon_svr", "kernel_type rbf", "gamma 0.5", "nr_class 2"]
    lines += [f"total_sv {len(theirs.support_)}", f"rho {-theirs.intercept_[0]!r}", "SV"]
    for coefficient, row in zip(theirs.dual_coef_[0], theirs.support_vectors_, strict=True):
        lines.append(f"{coefficient!r} " + " ".join(f"{k + 1}:{v!r}" for k, v in enumerate(row.tolist())))
    text = "\n".join(lines).replace("np.float64(", "").replace(")", "") + "\n"
    (tmp_path / "m.model").write_text(text)
    np.testing.assert_allclose(from_libsvm(tmp_path / "m.model").predict(X), theirs.predict(X), rtol=1e-6)
