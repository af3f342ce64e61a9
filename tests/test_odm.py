"""ODMClassifier as a citizen of scikit-learn: its attributes, inputs, messages and company."""

from __future__ import annotations

import builtins
import contextlib
import io
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from problems import FORMS, exact_in_single, gram, rows_and_labels
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted

from sodm import CascadeClassifier, DCClassifier, DiPClassifier, ODMClassifier, SODMClassifier
from sodm.solvers.exact import violation_tolerance

KERNELS: list[Any] = ["linear", "rbf", "poly", "laplacian", "precomputed", lambda A, B: A @ B.T + 1]


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


def state(machine: ODMClassifier) -> bytes:
    return pickle.dumps(machine.__dict__)


# ------------------------------------------------------------------------------------ what a fit leaves


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("kernel", KERNELS, ids=["linear", "rbf", "poly", "laplacian", "matrix", "callable"])
def test_fitted_attributes_of_two_classes(kernel: Any, loss: str) -> None:
    X, y = rows_and_labels(150)
    rows = gram("rbf", X, X, gamma=0.5) if kernel == "precomputed" else X
    machine = ODMClassifier(kernel=kernel, loss=loss, lam=100.0).fit(rows, np.array(["no", "yes"])[y])
    n_sv = len(machine.support_)
    assert machine.classes_.tolist() == ["no", "yes"]
    assert machine.dual_coef_.shape == (1, n_sv) and np.all(machine.dual_coef_ != 0)
    assert np.all(np.diff(machine.support_) > 0)
    if kernel == "precomputed":
        assert machine.support_vectors_.shape == (0, 0)
        values = rows[:, machine.support_] @ machine.dual_coef_[0]
    else:
        np.testing.assert_array_equal(machine.support_vectors_, X[machine.support_])
        kernel_ = machine._evaluator()
        values = kernel_.block(X, machine.support_vectors_) @ machine.dual_coef_[0]
    decision = machine.decision_function(rows)
    assert decision.shape == (150,) and decision.dtype == np.float64
    np.testing.assert_allclose(decision, values, atol=2e-5)
    np.testing.assert_array_equal(machine.predict(rows), np.where(decision > 0, "yes", "no"))
    assert machine.score(rows, np.array(["no", "yes"])[y]) > 0.7
    assert hasattr(machine, "coef_") == (kernel == "linear")
    assert machine.intercept_.tolist() == [0.0]
    assert isinstance(machine.n_iter_, int) and machine.n_iter_ >= 1
    for name in ("dual_gap_", "violation_", "objective_"):
        assert isinstance(getattr(machine, name), float)
    assert machine.dual_gap_ <= machine.tol and machine.violation_ <= violation_tolerance(machine.tol)
    assert isinstance(machine.n_kernel_evaluations_, int) and machine.n_kernel_evaluations_ > 0
    assert machine.n_features_in_ == rows.shape[1]


@pytest.mark.parametrize(("multi_class", "rows", "machines"), [("ovo", 9, 45), ("ovr", 10, 10)])
def test_fitted_attributes_of_several_classes(
    digits: tuple[np.ndarray, np.ndarray], multi_class: Any, rows: int, machines: int
) -> None:
    X, y = digits
    machine = ODMClassifier(multi_class=multi_class).fit(X, y)
    n_sv = len(machine.support_)
    assert machine.dual_coef_.shape == (rows, n_sv)
    assert np.all(np.any(machine.dual_coef_ != 0, axis=0))
    assert machine.intercept_.shape == (machines,)
    for name in ("n_iter_", "dual_gap_", "violation_", "objective_"):
        assert getattr(machine, name).shape == (machines,)
    decision = machine.decision_function(X)
    assert decision.shape == (600, 10)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[decision.argmax(axis=1)])
    assert machine.score(X, y) > 0.99


def test_several_classes_share_their_kernel_values(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    together = ODMClassifier(random_state=0, multi_class="ovr").fit(X, y).n_kernel_evaluations_
    apart = [ODMClassifier(random_state=0).fit(X, y == k).n_kernel_evaluations_ for k in range(10)]
    assert together < sum(apart) / 3


def test_linear_coefficients() -> None:
    X, y = load_iris(return_X_y=True)
    machine = ODMClassifier(kernel="linear", fit_intercept=True, precision="double", multi_class="ovr")
    machine.fit(X, y)
    assert machine.coef_.shape == (3, 4) and machine.intercept_.shape == (3,)
    np.testing.assert_allclose(machine.decision_function(X), X @ machine.coef_.T + machine.intercept_)
    np.testing.assert_allclose(machine.coef_, machine.dual_coef_ @ machine.support_vectors_)
    machine.set_params(multi_class="ovo", decision_function_shape="ovo").fit(X, y)
    assert machine.coef_.shape == (3, 4) and machine.intercept_.shape == (3,)
    np.testing.assert_allclose(machine.decision_function(X), X @ machine.coef_.T + machine.intercept_)
    machine.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(machine, "coef_")


def test_repeated_rows_are_one_support_vector() -> None:
    X, y = rows_and_labels(60)
    once = ODMClassifier(lam=2000.0, random_state=0).fit(X, y)  # "auto" grows with the rows
    thrice = ODMClassifier(lam=2000.0, random_state=0).fit(np.tile(X, (3, 1)), np.tile(y, 3))
    np.testing.assert_array_equal(once.support_, thrice.support_)
    np.testing.assert_allclose(once.dual_coef_, thrice.dual_coef_, rtol=1e-9)
    assert once.n_kernel_evaluations_ == thrice.n_kernel_evaluations_


def test_lam_auto_goes_with_the_rows() -> None:
    X, y = rows_and_labels(80)
    weights = np.r_[np.full(40, 2.0), np.ones(40)]
    machine = ODMClassifier().fit(X, y, weights)
    twin = ODMClassifier(lam=30.0, fit_intercept=True).fit(X, y, weights)
    assert machine.lam_ == 30.0 and np.any(machine.intercept_)
    np.testing.assert_array_equal(machine.dual_coef_, twin.dual_coef_)
    balanced = ODMClassifier(class_weight="balanced").fit(X, y)
    assert balanced.lam_ == 20.0 and not np.any(balanced.intercept_)
    assert ODMClassifier(loss="hinge").fit(X, y).lam_ == 80.0
    given = ODMClassifier(lam=2000.0).fit(X, y)  # a number means what it always did
    assert given.lam_ == 2000.0 and not np.any(given.intercept_)
    with pytest.raises(ValueError, match="lam must be a number > 0, or 'auto'"):
        ODMClassifier(lam="large").fit(X, y)


def test_rows_of_weight_zero_are_absent() -> None:
    X, y = rows_and_labels(80)
    K = gram("rbf", X, X, gamma=1.0)
    y[70:] = 2
    weights = np.r_[np.ones(70), np.zeros(10)]
    X[75] = 1e30
    machine = ODMClassifier().fit(X, y, weights)
    assert machine.classes_.tolist() == [0, 1] and machine.support_.max() < 70
    stored = ODMClassifier(kernel="precomputed").fit(K, y, weights)
    part = ODMClassifier(kernel="precomputed").fit(K[:70, :70], y[:70])
    np.testing.assert_allclose(stored.decision_function(K), part.decision_function(K[:, :70]), atol=1e-6)


# ------------------------------------------------------------------------------------ forms of input


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_rows_gives_the_same_machine(form: str, kernel: str, tmp_path: Path) -> None:
    X, y = rows_and_labels(90, d=20)
    X = exact_in_single(np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.3, X, 0.0))
    rows = FORMS[form](X, tmp_path)
    kept = rows.copy()
    plain = ODMClassifier(kernel=kernel, gamma=0.3, random_state=0).fit(X, y)
    machine = ODMClassifier(kernel=kernel, gamma=0.3, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(machine.dual_coef_, plain.dual_coef_)
    np.testing.assert_allclose(machine.decision_function(rows), plain.decision_function(X), rtol=0, atol=1e-6)
    assert sparse.issparse(machine.support_vectors_) == sparse.issparse(rows)
    if sparse.issparse(rows):
        assert rows.nnz == kept.nnz and np.array_equal(
            rows.data, kept.data
        )  # the caller's matrix is as it was


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_keep_their_names(package: str) -> None:
    make = pytest.importorskip(package).DataFrame
    X, y = rows_and_labels(70, d=3)
    frame = make({"width": X[:, 0], "height": X[:, 1], "weight": X[:, 2]})
    machine = ODMClassifier().fit(frame, y)
    assert machine.feature_names_in_.tolist() == ["width", "height", "weight"]
    np.testing.assert_array_equal(machine.predict(frame), ODMClassifier().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(make({"height": X[:, 1], "width": X[:, 0], "weight": X[:, 2]}))
    machine.fit(X, y)
    assert not hasattr(machine, "feature_names_in_")


def test_support_vectors_are_no_view_of_the_rows() -> None:
    X, y = rows_and_labels(40)
    machine = ODMClassifier(theta=0.0).fit(X, y)
    before = machine.decision_function(X[:5])
    query = X[:5].copy()
    X[:] = 0
    np.testing.assert_array_equal(machine.decision_function(query), before)


def test_many_queries_are_taken_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows_and_labels(100)
    machine = ODMClassifier().fit(X, y)
    whole = machine.decision_function(X)
    monkeypatch.setattr("sodm.problem.query_blocks.QUERIES_AT_ONCE", 35)
    np.testing.assert_array_equal(machine.decision_function(X), whole)


# ------------------------------------------------------------------------------------ company


def test_pickles_and_clones() -> None:
    X, y = rows_and_labels(100)
    machine = ODMClassifier(random_state=0).fit(X, y)
    small = len(pickle.dumps(machine))
    decision = machine.decision_function(X)
    assert len(pickle.dumps(machine)) == small  # what the core prepared for prediction stays behind
    restored = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(restored.decision_function(X), decision)
    copy = clone(machine)
    assert copy.get_params() == machine.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)


def test_works_in_searches_pipelines_and_calibration() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(MinMaxScaler(), ODMClassifier())
    assert cross_val_score(pipeline, X, y).mean() > 0.9
    grid = {"odmclassifier__lam": [1.0, 100.0], "odmclassifier__kernel": ["linear", "rbf"]}
    search = GridSearchCV(pipeline, grid, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.9
    calibrated = CalibratedClassifierCV(ODMClassifier(), ensemble=False).fit(X, y)
    probability = calibrated.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert calibrated.score(X, y) > 0.9


def test_cross_validation_slices_precomputed_kernels() -> None:
    X, y = rows_and_labels(120)
    K = gram("rbf", X, X, gamma=0.5)
    stored = cross_val_score(ODMClassifier(kernel="precomputed"), K, y)
    named = cross_val_score(ODMClassifier(gamma=0.5), X, y)
    np.testing.assert_allclose(stored, named, atol=0.05)


@pytest.mark.parametrize("parameters", [{"loss": "hinge"}, {"solver": "dcd"}, {}], ids=str)
@pytest.mark.parametrize(
    "machine", [ODMClassifier, SODMClassifier, CascadeClassifier, DiPClassifier, DCClassifier]
)
def test_without_random_state_a_fit_gives_the_same_machine_each_time(
    machine: Any, parameters: dict[str, Any]
) -> None:
    X, y = rows_and_labels(1500, noise=0.8)
    parameters = dict(parameters)
    if machine is not ODMClassifier:
        parameters["n_partitions"] = 4
        parameters |= {"local_solver": parameters.pop("solver")} if "solver" in parameters else {}
    one, other = (machine(**parameters).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    zero = machine(**parameters, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, zero.dual_coef_)


def test_a_random_state_instance_goes_on_drawing() -> None:
    X, y = rows_and_labels(1500, noise=0.8)
    rng = np.random.RandomState(0)
    one, other = (ODMClassifier(loss="hinge", random_state=rng).fit(X, y) for _ in range(2))
    assert not np.array_equal(one.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
def test_random_state_and_threads(loss: str) -> None:
    X, y = rows_and_labels(300)
    one = ODMClassifier(loss=loss, random_state=3, n_jobs=1).fit(X, y)
    for n_jobs in (2, 5, -1, None):
        other = ODMClassifier(loss=loss, random_state=3, n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_omp_num_threads_limits_n_jobs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from sodm import _core
    from sodm.estimators.threads import threads_for

    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads_for(None) == 3 and threads_for(2) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads_for(None) == _core.resolve_threads(-1)
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads_for(None) == threads_for(-1) == _core.resolve_threads(-1)


# ------------------------------------------------------------------------------------ warm start


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_warm_start_begins_where_the_last_fit_ended(kernel: str, loss: str) -> None:
    X, y = rows_and_labels(300, seed=2)
    rows = gram("rbf", X, X, gamma=1.0) if kernel == "precomputed" else X
    parameters = {
        "kernel": kernel,
        "gamma": 1.0,
        "loss": loss,
        "lam": 1e3,
        "solver": "dcd",
        "random_state": 0,
    }
    cold = ODMClassifier(**parameters).fit(rows, y)
    warm = ODMClassifier(**parameters, warm_start=True).fit(rows, y)
    first = warm.n_iter_
    assert first == cold.n_iter_ > 2
    warm.fit(rows, y)
    assert warm.n_iter_ < first
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-3)
    warm.set_params(lam=500.0).fit(rows, y)  # starts outside the new box of the hinge loss
    assert warm.objective_ == pytest.approx(
        ODMClassifier(**{**parameters, "lam": 500.0}).fit(rows, y).objective_, rel=2e-3
    )


def test_warm_start_with_other_rows_is_a_cold_start() -> None:
    X, y = rows_and_labels(200, seed=2)
    Z, z = rows_and_labels(200, seed=3)
    parameters = {"lam": 1e3, "solver": "dcd", "random_state": 0, "gamma": 1.0}
    cold = ODMClassifier(**parameters).fit(Z, z)
    for first, labels in ((X, y), (X[:50], y[:50]), (X, np.arange(200) % 3), (X[:, :2], y)):
        warm = ODMClassifier(**parameters, warm_start=True).fit(first, labels).fit(Z, z)
        np.testing.assert_array_equal(warm.dual_coef_, cold.dual_coef_)


# ------------------------------------------------------------------------------------ words


def test_silent_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    ODMClassifier().fit(*rows_and_labels(80))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("loss", ["odm", "hinge"])
def test_verbose_lines_can_be_captured(loss: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        machine = ODMClassifier(verbose=1, loss=loss).fit(*rows_and_labels(200))
    lines = out.getvalue().splitlines()
    assert len(lines) >= 2 and all(line.startswith("[sodm] ") for line in lines)
    assert "200 rows" in lines[0] and "gap" in lines[0]
    assert f"{len(machine.support_)} support vectors" in lines[-1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_verbose_draws_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    machine = ODMClassifier(verbose=1).fit(*rows_and_labels(200))
    shown = sys.stdout.getvalue()
    assert "━" in shown and f"{len(machine.support_)} support" in shown


def test_verbose_without_rich(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = builtins.__import__

    def without_rich(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("rich"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    ODMClassifier(verbose=1).fit(*rows_and_labels(60))
    assert "[sodm] " in capsys.readouterr().out


def test_an_indefinite_kernel_warns_once_and_ends() -> None:
    X, y = rows_and_labels(150)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine = ODMClassifier(kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)
    told = [str(w.message) for w in caught if "positive semidefinite" in str(w.message)]
    assert len(told) == 1
    assert np.isfinite(machine.decision_function(X)).all()


def test_convergence_warning_names_class_numbers_and_remedy() -> None:
    X, _ = rows_and_labels(200)
    y = np.array(["a", "b", "c"])[np.random.default_rng(0).integers(0, 3, size=200)]
    expected = (
        r"iterations for classes 'a' and .* at a relative duality gap of \d.*violation of \d.*Raise max_iter"
    )
    with pytest.warns(ConvergenceWarning, match=expected):
        ODMClassifier(loss="hinge", lam=1e5, max_iter=1).fit(X, y)


# ------------------------------------------------------------------------------------ bad input

BAD_PARAMETERS = [
    ("kernel", "gaussian"),
    ("kernel", 3),
    ("gamma", -1.0),
    ("gamma", "huge"),
    ("gamma", np.nan),
    ("degree", -1),
    ("degree", 2.5),
    ("coef0", np.inf),
    ("coef0", "1"),
    ("lam", 0.0),
    ("lam", -1),
    ("lam", np.inf),
    ("lam", None),
    ("upsilon", 0.0),
    ("upsilon", 1.1),
    ("theta", 1.0),
    ("theta", -0.1),
    ("theta", "0.3"),
    ("loss", "squared"),
    ("solver", "smo"),
    ("tol", 0.0),
    ("max_iter", 0),
    ("max_iter", 10.0),
    ("fit_intercept", "yes"),
    ("class_weight", "equal"),
    ("class_weight", [1, 2]),
    ("class_weight", {7: 1.0}),
    ("class_weight", {0: 0.0}),
    ("class_weight", {0: -1.0}),
    ("class_weight", {0: "heavy"}),
    ("cache_size", 0),
    ("precision", "half"),
    ("warm_start", 2),
    ("n_jobs", 0),
    ("n_jobs", 1.5),
    ("verbose", -1),
]


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS, ids=lambda v: str(v))
def test_a_bad_parameter_is_named(name: str, value: Any) -> None:
    X, y = rows_and_labels(30)
    machine = ODMClassifier().fit(X, y)
    machine.set_params(**{name: value})
    before = state(machine)
    with pytest.raises(ValueError, match=f"^{name} "):
        machine.fit(X, y)
    assert state(machine) == before


def test_newton_does_not_take_the_hinge_loss() -> None:
    with pytest.raises(ValueError, match=r"solver='newton' needs loss='odm'"):
        ODMClassifier(loss="hinge", solver="newton").fit(*rows_and_labels(30))


def bad_inputs() -> dict[str, tuple[dict[str, Any], Any, Any, Any, str]]:
    X, y = rows_and_labels(30)
    ones = np.ones(30)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.loc[3, "c"] = np.nan
    infinite = X.copy()
    infinite[4, 1] = np.inf
    gap = sparse.csr_matrix(X)
    gap.data[5] = np.nan
    one_left = np.where(y == 0, 0.0, 1.0)
    return {
        "nan": ({}, frame.to_numpy(), y, None, "NaN"),
        "nan in a frame": ({}, frame, y, None, "NaN"),
        "nan in a sparse matrix": ({}, gap, y, None, "NaN"),
        "infinity": ({}, infinite, y, None, "infinity"),
        "one dimension": ({}, X[:, 0], y, None, "2D"),
        "three dimensions": ({}, X[None], y, None, "dim"),
        "no rows": ({}, X[:0], y[:0], None, "0 sample"),
        "no columns": ({}, X[:, :0], y, None, "0 feature"),
        "labels missing": ({}, X, None, None, "y"),
        "too few labels": ({}, X, y[:-1], None, "inconsistent"),
        "labels of two columns": ({}, X, np.c_[y, y], None, "y should be a 1d array"),
        "continuous labels": ({}, X, X[:, 0], None, "continuous"),
        "one class": ({}, X, np.ones(30), None, "one class only"),
        "one row": ({}, X[:1], y[:1], None, "class"),
        "one class by weight": ({}, X, y, one_left, "one class only where sample_weight > 0"),
        "negative weight": ({}, X, y, np.r_[ones[:-1], -1], "sample_weight must not be negative.*row 29"),
        "nan weight": ({}, X, y, np.r_[ones[:-1], np.nan], "sample_weight"),
        "too few weights": ({}, X, y, ones[:-1], "sample_weight must have one weight per row"),
        "weights of two columns": ({}, X, y, np.ones((30, 2)), "sample_weight|1D"),
        "no weight": ({}, X, y, 0 * ones, "sample_weight is zero for every row"),
        "not square": ({"kernel": "precomputed"}, X, y, None, "square kernel matrix"),
        "not symmetric": ({"kernel": "precomputed"}, np.tri(30), y, None, "symmetric kernel matrix"),
        "sparse matrix": ({"kernel": "precomputed"}, sparse.csr_matrix(np.eye(30)), y, None, "dense"),
        "wrong callable": ({"kernel": lambda A, B: A}, X, y, None, "the kernel function returned"),
        "kernel overflows": (
            {"kernel": "poly", "degree": 30, "gamma": 1.0},
            1e9 * X,
            y,
            None,
            "scale the features",
        ),
    }


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", bad_inputs())
def test_bad_input_is_refused_and_changes_nothing(case: str) -> None:
    parameters, X, y, weights, message = bad_inputs()[case]
    rows, labels = rows_and_labels(25)
    machine = ODMClassifier(**{**parameters, "kernel": "rbf"})
    machine.fit(pd.DataFrame(rows, columns=list("vwxyz")), labels)
    if "kernel" in parameters:
        machine.kernel = parameters["kernel"]
    before, kept = dict(machine.__dict__), machine.dual_coef_.copy()
    with pytest.raises(ValueError, match=f"(?s){message}"):
        machine.fit(X, y, weights)
    assert machine.__dict__ == before
    np.testing.assert_array_equal(machine.dual_coef_, kept)
    fresh = ODMClassifier(**parameters)
    with pytest.raises(ValueError, match=f"(?s){message}"):
        fresh.fit(X, y, weights)
    assert set(fresh.__dict__) == set(fresh.get_params())


def test_an_interrupted_fit_changes_nothing() -> None:
    def interrupts(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    X, y = rows_and_labels(40)
    machine = ODMClassifier().fit(X, y)
    before = machine.decision_function(X)
    machine.kernel = interrupts
    with pytest.raises(KeyboardInterrupt):
        machine.fit(X, y)
    machine.kernel = "rbf"
    np.testing.assert_array_equal(machine.decision_function(X), before)


def test_an_error_inside_a_callable_kernel_comes_out_as_it_is() -> None:
    calls = []

    def fails_late(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        calls.append(len(A))
        if len(calls) > 4:
            raise RuntimeError("no more values")
        return A @ B.T

    with pytest.raises(RuntimeError, match="no more values"):
        ODMClassifier(kernel=fails_late).fit(*rows_and_labels(60))


def test_queries_are_checked() -> None:
    X, y = rows_and_labels(30)
    with pytest.raises(NotFittedError):
        ODMClassifier().predict(X)
    machine = ODMClassifier().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        machine.predict(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        machine.predict(np.where(X > 0, X, np.nan))
    stored = ODMClassifier(kernel="precomputed").fit(np.eye(30), y)
    with pytest.raises(ValueError, match="features"):
        stored.predict(np.ones((2, 29)))
