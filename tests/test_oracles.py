"""The exact machine against other ways to the same optimum.

A quadratic program solver, scikit-learn's linear machines, a linear system, the NumPy twin; and relations
between fits that hold whatever the optimum is.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import reference
from oracles import quadratic_program
from problems import gram, rows_and_labels, weights_for
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.svm import LinearSVC, LinearSVR

from sodm import ODMClassifier
from sodm.problem.losses import HingeLoss, Loss, OdmLoss
from sodm.solvers.exact import violation_tolerance

# A relative gap of 1e-10 leaves about its square root, 1e-5, in f and in the conditions.
EXACT: dict[str, Any] = {"precision": "double", "tol": 1e-10, "max_iter": 100_000, "random_state": 0}
KERNELS = ["linear", "rbf", "poly", "laplacian", "callable", "precomputed"]
PARAMETERS: dict[str, Any] = {"gamma": 0.5, "degree": 3, "coef0": 1.0}


def chi2(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return chi2_kernel(A, B, gamma=0.5)


def setting(kernel: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """Rows as the machine takes them, labels, the Gram matrix, and the machine's `kernel`."""
    X, y = rows_and_labels(n, seed=seed)
    if kernel == "callable":
        X = np.abs(X)
        return X, y, chi2(X, X), chi2
    if kernel == "precomputed":
        K = gram("rbf", X, X, gamma=0.5)
        return K, y, K, kernel
    return X, y, gram(kernel, X, X, **PARAMETERS), kernel


def loss_of(machine: ODMClassifier) -> Loss:
    if machine.loss == "hinge":
        return HingeLoss(machine.lam)
    return OdmLoss(machine.lam, machine.upsilon, machine.theta)


def duals_of(machine: ODMClassifier, signs: np.ndarray) -> np.ndarray:
    """The duals over all rows of a two-class fit without repeated rows."""
    g = np.zeros(len(signs))
    g[machine.support_] = machine.dual_coef_[0] * signs[machine.support_]
    return g


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize(("kernel", "n"), [(k, n) for k in KERNELS for n in (2, 37, 130)] + [("linear", 400)])
def test_objective_and_conditions_against_a_quadratic_program(kernel: str, loss: str, n: int) -> None:
    X, y, K, name = setting(kernel, n, seed=n)
    weights, signs = weights_for(n, seed=n), 2.0 * y - 1
    machine = ODMClassifier(kernel=name, loss=loss, lam=30.0, theta=0.3, **PARAMETERS, **EXACT).fit(
        X, y, weights
    )
    objective, f = quadratic_program(K, signs, weights, loss_of(machine))
    assert machine.objective_ == pytest.approx(objective, rel=1e-8)
    np.testing.assert_allclose(machine.decision_function(X), f, atol=1e-4)
    g = duals_of(machine, signs)
    primal, gap, violation = reference.certificate(K, signs, weights, loss_of(machine), g)
    assert primal == pytest.approx(objective, rel=1e-8)
    assert abs(gap) < 1e-8
    assert violation < 2e-5
    assert machine.dual_gap_ <= EXACT["tol"] and machine.violation_ <= violation_tolerance(EXACT["tol"])

    single = ODMClassifier(
        kernel=name, loss=loss, lam=30.0, theta=0.3, tol=3e-6, random_state=0, **PARAMETERS
    )
    single.fit(X, y, weights)
    assert single.objective_ == pytest.approx(objective, rel=1e-5)
    primal, _, violation = reference.certificate(K, signs, weights, loss_of(machine), duals_of(single, signs))
    assert primal == pytest.approx(objective, rel=1e-5)
    assert violation < 5e-3


@pytest.mark.parametrize("lam", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize(("upsilon", "theta"), [(1.0, 0.0), (0.5, 0.3), (0.01, 0.8)])
def test_parameters_against_a_quadratic_program(lam: float, upsilon: float, theta: float) -> None:
    X, y, K, _ = setting("rbf", 120, seed=3)
    signs, ones = 2.0 * y - 1, np.ones(120)
    machine = ODMClassifier(gamma=0.5, lam=lam, upsilon=upsilon, theta=theta, **EXACT).fit(X, y)
    objective, _ = quadratic_program(K, signs, ones, loss_of(machine))
    assert machine.objective_ == pytest.approx(objective, rel=1e-8)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_intercept_is_a_constant_in_the_kernel(kernel: str, loss: str) -> None:
    X, y, K, name = setting(kernel, 90, seed=5)
    signs, ones = 2.0 * y - 1, np.ones(90)
    machine = ODMClassifier(kernel=name, loss=loss, gamma=0.5, lam=30.0, fit_intercept=True, **EXACT).fit(
        X, y
    )
    objective, f = quadratic_program(K + 1, signs, ones, loss_of(machine))
    assert machine.objective_ == pytest.approx(objective, rel=1e-8)
    np.testing.assert_allclose(machine.decision_function(X), f, atol=1e-4)
    assert machine.intercept_[0] == pytest.approx(machine.dual_coef_.sum(), rel=1e-12)
    if kernel == "linear":
        np.testing.assert_allclose(X @ machine.coef_[0] + machine.intercept_, f, atol=1e-4)


@pytest.mark.parametrize("solver", ["newton", "dcd"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_both_solvers_agree_with_the_numpy_twin(kernel: str, solver: str) -> None:
    X, y, K, name = setting(kernel, 200, seed=7)
    signs, weights = 2.0 * y - 1, weights_for(200)
    machine = ODMClassifier(kernel=name, solver=solver, lam=30.0, **PARAMETERS, **EXACT).fit(X, y, weights)
    twin = reference.solve(K, signs[None], weights, loss_of(machine), tol=1e-10)
    assert machine.objective_ == pytest.approx(twin.objective[0], rel=1e-9)
    np.testing.assert_allclose(machine.decision_function(X), twin.decision[0], atol=3e-5)
    np.testing.assert_allclose(duals_of(machine, signs), twin.duals[0], atol=1e-4 * np.abs(twin.duals).max())


def test_several_classes_are_one_problem_each() -> None:
    X, _ = rows_and_labels(160, seed=11)
    y = np.array(["b", "c", "a", "d"])[(X[:, 0] > 0).astype(int) * 2 + (X[:, 1] > 0)]
    K = gram("rbf", X, X, gamma=0.5)
    for loss in ("odm", "hinge"):
        machine = ODMClassifier(gamma=0.5, loss=loss, lam=30.0, multi_class="ovr", **EXACT).fit(X, y)
        f = machine.decision_function(X)
        for k, label in enumerate(machine.classes_):
            signs = np.where(y == label, 1.0, -1.0)
            objective, desired = quadratic_program(K, signs, np.ones(160), loss_of(machine))
            assert machine.objective_[k] == pytest.approx(objective, rel=1e-8)
            np.testing.assert_allclose(f[:, k], desired, atol=1e-4)


def test_pairs_of_classes_are_one_problem_each() -> None:
    """On the rows of the two classes, with W the weight of all rows."""
    X, _ = rows_and_labels(160, seed=11)
    y = np.array(["b", "c", "a", "d"])[(X[:, 0] > 0).astype(int) * 2 + (X[:, 1] > 0)]
    for loss in ("odm", "hinge"):
        machine = ODMClassifier(gamma=0.5, loss=loss, lam=30.0, decision_function_shape="ovo", **EXACT)
        f = machine.fit(X, y).decision_function(X)
        for k, (a, b) in enumerate(combinations(machine.classes_, 2)):
            own = (y == a) | (y == b)
            signs, K = np.where(y[own] == a, 1.0, -1.0), gram("rbf", X[own], X[own], gamma=0.5)
            loss_of_pair = replace(loss_of(machine), lam=30.0 * own.mean())
            objective, desired = quadratic_program(K, signs, np.ones(own.sum()), loss_of_pair)
            assert machine.objective_[k] == pytest.approx(objective, rel=1e-8)
            np.testing.assert_allclose(f[own, k], desired, atol=1e-4)


# ---------------------------------------------------------------------------------- scikit-learn's machines


def linear_setting(theta: float, seed: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    X, y = rows_and_labels(150, seed=seed)
    lam = 40.0
    return X, 2.0 * y - 1, lam, lam / (2 * len(y) * (1 - theta) ** 2)


@pytest.mark.parametrize("theta", [0.0, 0.3])
def test_upsilon_one_is_linear_support_vector_regression(theta: float) -> None:
    X, y, lam, C = linear_setting(theta, seed=1)
    machine = ODMClassifier(kernel="linear", lam=lam, upsilon=1.0, theta=theta, **EXACT).fit(X, y)
    other = LinearSVR(
        loss="squared_epsilon_insensitive",
        epsilon=theta,
        C=C,
        fit_intercept=False,
        tol=1e-12,
        max_iter=100_000,
    ).fit(y[:, None] * X, np.ones(len(y)))
    np.testing.assert_allclose(machine.coef_[0], other.coef_, atol=1e-5)


@pytest.mark.parametrize("theta", [0.0, 0.3])
def test_upsilon_zero_is_the_squared_hinge(theta: float) -> None:
    X, y, lam, C = linear_setting(theta, seed=2)
    machine = ODMClassifier(kernel="linear", lam=lam, upsilon=1e-10, theta=theta, **EXACT).fit(X, y)
    other = LinearSVC(loss="squared_hinge", C=C, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(machine.coef_, (1 - theta) * other.coef_, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_upsilon_one_theta_zero_is_a_linear_system(kernel: str) -> None:
    X, y, K, name = setting(kernel, 180, seed=4)
    signs, lam = 2.0 * y - 1, 25.0
    machine = ODMClassifier(kernel=name, lam=lam, upsilon=1.0, theta=0.0, **PARAMETERS, **EXACT).fit(X, y)
    g = np.linalg.solve(np.outer(signs, signs) * K + 180 / lam * np.eye(180), np.ones(180))
    np.testing.assert_allclose(duals_of(machine, signs), g, atol=1e-4 * np.abs(g).max())
    np.testing.assert_allclose(machine.decision_function(X), K @ (signs * g), atol=3e-5)


def test_the_hinge_machine_is_the_linear_support_vector_machine() -> None:
    X, y, lam, _ = linear_setting(0.0, seed=6)
    machine = ODMClassifier(kernel="linear", loss="hinge", lam=lam, **EXACT).fit(X, y)
    other = LinearSVC(loss="hinge", C=lam / len(y), fit_intercept=False, tol=1e-10, max_iter=1_000_000).fit(
        X, y
    )
    np.testing.assert_allclose(machine.coef_, other.coef_, rtol=1e-4, atol=1e-5)


# ------------------------------------------------------------------------------------------ relations


@pytest.mark.parametrize("loss", ["odm", "hinge"])
def test_the_order_of_the_rows_changes_nothing(loss: str) -> None:
    X, y = rows_and_labels(220, seed=8)
    order = np.random.default_rng(0).permutation(220)
    one = ODMClassifier(loss=loss, random_state=0).fit(X, y)
    other = ODMClassifier(loss=loss, random_state=0).fit(X[order], y[order])
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(np.sort(order[other.support_]), one.support_)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("loss", ["odm", "hinge"])
def test_a_weight_is_that_many_copies(loss: str, class_weight: str | None) -> None:
    X, y = rows_and_labels(120, seed=9)
    copies = np.random.default_rng(0).integers(0, 4, size=120)
    parameters = {"loss": loss, "class_weight": class_weight, "random_state": 0}
    weighted = ODMClassifier(**parameters).fit(X, y, copies)
    repeated = ODMClassifier(**parameters).fit(X.repeat(copies, axis=0), y.repeat(copies))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-6
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    assert len(weighted.support_) == len(repeated.support_)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
def test_class_weights_are_weights_of_their_rows(loss: str) -> None:
    X, y = rows_and_labels(120, seed=10)
    settings = {"loss": loss, "lam": 500.0, **EXACT}
    by_class = ODMClassifier(class_weight={0: 3.0, 1: 0.5}, **settings).fit(X, y)
    by_row = ODMClassifier(**settings).fit(X, y, np.where(y == 0, 3.0, 0.5))
    np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_other_labels_flip_the_sign(kernel: str, loss: str) -> None:
    X, y = rows_and_labels(140, seed=12)
    one = ODMClassifier(kernel=kernel, loss=loss, **EXACT).fit(X, y)
    other = ODMClassifier(kernel=kernel, loss=loss, **EXACT).fit(X, 1 - y)
    np.testing.assert_allclose(one.decision_function(X), -other.decision_function(X), atol=1e-6)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("scale", [1e-3, 50.0])
def test_scaling_the_kernel_is_scaling_lam(scale: float, loss: str) -> None:
    K, y, _, _ = setting("precomputed", 130, seed=13)
    one = ODMClassifier(kernel="precomputed", loss=loss, lam=30.0, **EXACT).fit(K, y)
    other = ODMClassifier(kernel="precomputed", loss=loss, lam=30.0 / scale, **EXACT).fit(scale * K, y)
    np.testing.assert_allclose(other.decision_function(scale * K), one.decision_function(K), atol=1e-6)
    assert other.objective_ * scale == pytest.approx(one.objective_, rel=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", "sigmoid"])
def test_a_named_kernel_is_its_matrix(kernel: str) -> None:
    X, y = rows_and_labels(100, seed=14)
    K = gram(kernel, X, X, gamma=0.2, degree=3, coef0=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the sigmoid's matrix is indefinite
        named = ODMClassifier(kernel=kernel, gamma=0.2, **{**EXACT, "tol": 1e-7}).fit(X, y)
        stored = ODMClassifier(kernel="precomputed", **{**EXACT, "tol": 1e-7}).fit(K, y)
    np.testing.assert_allclose(named.decision_function(X), stored.decision_function(K), atol=1e-4)


def test_constructed_solution() -> None:
    """Separable on one axis, far apart: two points with margins exactly on the edge of the zone.

    For rows +-x e_1 the optimum is w = s e_1 with 2 a one-dimensional ridge regression towards 1 - theta.
    """
    x, lam, theta = 2.0, 10.0, 0.25
    machine = ODMClassifier(kernel="linear", lam=lam, theta=theta, **EXACT).fit([[x], [-x]], [1, 0])
    c = lam / (1 - theta) ** 2
    w = c * x * (1 - theta) / (1 + c * x**2)  # minimiser of w^2/2 + c/2 (1 - theta - w x)^2
    assert machine.coef_[0, 0] == pytest.approx(w, rel=1e-9)
    assert machine.objective_ == pytest.approx(w**2 / 2 + c / 2 * (1 - theta - w * x) ** 2, rel=1e-12)


def test_a_fit_that_is_cut_short_says_so() -> None:
    X, y = rows_and_labels(300, seed=15)
    message = r"stopped after \d+ iterations.*duality gap of .*tol=1e-08.*Raise max_iter"
    with pytest.warns(ConvergenceWarning, match=message):
        machine = ODMClassifier(loss="hinge", lam=1e4, tol=1e-8, precision="double", max_iter=1).fit(X, y)
    assert machine.dual_gap_ > 1e-8
