"""Extreme inputs: whatever the data and parameters, a fit ends with an honest certificate."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import FORMS, exact_in_single
from sklearn.exceptions import ConvergenceWarning

from sodm import ODMClassifier
from sodm.problem.losses import HingeLoss, OdmLoss
from sodm.solvers.exact import violation_tolerance

LAMS = st.sampled_from([1e-6, 1e-3, 1.0, 100.0, 1e6, 1e9])
THETAS = st.sampled_from([0.0, 0.3, 0.99])
UPSILONS = st.sampled_from([1.0, 0.5, 1e-6])
GAMMAS = st.sampled_from(["scale", "auto", 0.0, 1e-12, 1e-3, 1.0, 1e4, 1e12])
KERNELS = st.sampled_from(["rbf", "linear", "laplacian"])


@st.composite
def data_sets(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Two classes: few or many rows, repeated rows, contradictions, constant columns, far away, all zero."""
    n = draw(st.sampled_from([2, 3, 17, 127, 128, 129, 261]))
    d = draw(st.sampled_from([1, 2, 7, 33]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    y = rng.integers(0, 2, size=n)
    y[:2] = 0, 1
    for change in draw(
        st.sets(st.sampled_from(["repeat", "contradict", "constant", "shift", "sparse", "zero"]))
    ):
        if change == "repeat":
            X[n // 2 :] = X[: n - n // 2]
        elif change == "contradict":
            X[n // 2 :], y[n // 2 :] = X[: n - n // 2], 1 - y[: n - n // 2]
        elif change == "constant":
            X[:, 0] = 3.0
        elif change == "shift":
            X += 50.0
        elif change == "sparse":
            X[rng.uniform(size=X.shape) < 0.8] = 0.0
        elif change == "zero":
            X[:] = 0.0
    return exact_in_single(X), y


def fit(machine: ODMClassifier, *data: Any) -> tuple[ODMClassifier, bool]:
    """The fitted machine, and whether it said that it has not converged or has changed the kernel."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine.fit(*data)
    said = [issubclass(w.category, ConvergenceWarning) or "semidefinite" in str(w.message) for w in caught]
    return machine, any(said)


def exact_gram(kernel: str, X: np.ndarray, gamma: float) -> np.ndarray:
    """From differences: norms and products would lose all digits where gamma |x|^2 is huge."""
    if kernel == "linear":
        return X @ X.T
    difference = X[:, None] - X
    return np.exp(-gamma * (difference**2 if kernel == "rbf" else np.abs(difference)).sum(axis=2))


def certificate(machine: ODMClassifier, X: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Objective, gap and violation, computed anew in NumPy on the rows that the fit kept."""
    gamma = machine._fitted_kernel.gamma
    labelled = np.c_[X, y]
    _, first, counts = np.unique(labelled, axis=0, return_index=True, return_counts=True)
    rows, signs = X[first], 2.0 * y[first] - 1
    K = exact_gram(machine.kernel, rows, gamma)
    place = {tuple(row): k for k, row in enumerate(labelled[first])}
    g = np.zeros(len(first))
    for i, a in zip(machine.support_, machine.dual_coef_[0], strict=True):
        k = place[tuple(labelled[i])]
        g[k] = a * signs[k]
    loss = (
        HingeLoss(machine.lam)
        if machine.loss == "hinge"
        else OdmLoss(machine.lam, machine.upsilon, machine.theta)
    )
    return reference.certificate(K, signs, counts.astype(float), loss, g)


common = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@settings(common, max_examples=150)
@given(data=data_sets(), kernel=KERNELS, gamma=GAMMAS, lam=LAMS, theta=THETAS, upsilon=UPSILONS)
def test_odm_in_double(data: Any, kernel: str, gamma: Any, lam: float, theta: float, upsilon: float) -> None:
    X, y = data
    machine, gave_up = fit(
        ODMClassifier(
            kernel=kernel,
            gamma=gamma,
            lam=lam,
            theta=theta,
            upsilon=upsilon,
            precision="double",
            random_state=0,
        ),
        X,
        y,
    )
    assert np.isfinite(machine.decision_function(X)).all()
    # The condition of K + ridge, at most: from about 1e12 on a double may not reach the tolerance,
    # and the fit says so.
    condition = machine._fitted_kernel.diag(X).max() * lam / (1 - theta) ** 2
    # So does one whose kernel has exponents of which too few digits are known: they are differences of terms
    # as large as gamma |x|^2 for rbf, and of rows with many zeros gamma |x|_1 for laplacian.
    power = {"rbf": 2, "laplacian": 1}.get(kernel, 0)
    exponent = machine._fitted_kernel.gamma * (np.abs(X) ** power).sum(axis=1).max() if power else 0.0
    assert not gave_up or condition > 1e12 or exponent > 1e10
    if not gave_up and condition < 1e12:
        objective, gap, _ = certificate(machine, X, y)
        assert machine.objective_ == pytest.approx(objective, rel=1e-4)
        assert gap <= 2e-3


@settings(common, max_examples=100)
@given(data=data_sets(), kernel=KERNELS, gamma=GAMMAS, lam=LAMS)
def test_hinge_in_double(data: Any, kernel: str, gamma: Any, lam: float) -> None:
    X, y = data
    machine, gave_up = fit(
        ODMClassifier(kernel=kernel, gamma=gamma, lam=lam, loss="hinge", precision="double", random_state=0),
        X,
        y,
    )
    assert np.isfinite(machine.decision_function(X)).all()
    objective, gap, _ = certificate(machine, X, y)
    # A rounding error in a margin counts lam-fold.
    assert machine.objective_ == pytest.approx(objective, rel=1e-4, abs=1e-13 * lam)
    assert gap <= 2e-3 or gave_up


@settings(common, max_examples=100)
@given(
    data=data_sets(),
    kernel=KERNELS,
    gamma=GAMMAS,
    lam=LAMS,
    theta=THETAS,
    loss=st.sampled_from(["odm", "hinge"]),
)
def test_single_precision_is_right_or_says_so(
    data: Any, kernel: str, gamma: Any, lam: float, theta: float, loss: str
) -> None:
    X, y = data
    machine, gave_up = fit(
        ODMClassifier(kernel=kernel, gamma=gamma, lam=lam, theta=theta, loss=loss, random_state=0), X, y
    )
    assert np.isfinite(machine.decision_function(X)).all()
    assert gave_up or (
        machine.dual_gap_ <= machine.tol and machine.violation_ <= violation_tolerance(machine.tol)
    )
    if lam <= 100 and not gave_up:
        # The certificate is of the rounded kernel; with a modest lam that is the certificate of the true one.
        assert certificate(machine, X, y)[1] <= 1e-2


@settings(common, max_examples=40)
@given(data=data_sets(), form=st.sampled_from(sorted(FORMS)), loss=st.sampled_from(["odm", "hinge"]))
def test_every_form_of_rows(data: Any, form: str, loss: str, tmp_path: Path) -> None:
    X, y = data
    rows = FORMS[form](X, tmp_path)
    machine, _ = fit(ODMClassifier(loss=loss, gamma=0.5, random_state=0), rows, y)
    plain, _ = fit(ODMClassifier(loss=loss, gamma=0.5, random_state=0), X, y)
    np.testing.assert_array_equal(machine.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(machine.support_, plain.support_)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian", "poly"])
def test_one_row_per_class(kernel: str, loss: str) -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array(["left", "right"])
    machine = ODMClassifier(kernel=kernel, loss=loss).fit(X, y)
    assert machine.predict(X).tolist() == ["left", "right"]


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_only_contradictions_decide_nothing(kernel: str, loss: str) -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 2, axis=0)
    machine = ODMClassifier(kernel=kernel, loss=loss, precision="double", tol=1e-8).fit(X, np.arange(40) % 2)
    np.testing.assert_allclose(machine.decision_function(X), 0.0, atol=1e-3)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
def test_identity_kernel_has_a_closed_form(loss: str) -> None:
    """K = I: every row by itself, g = (1 - theta) / (1 + a), or min(1, lam / M) for the hinge."""
    X, y = np.arange(50.0)[:, None], np.arange(50) % 2
    machine = ODMClassifier(gamma=1e6, loss=loss, lam=20.0, theta=0.3, precision="double", tol=1e-12).fit(
        X, y
    )
    g = min(1.0, 20.0 / 50) if loss == "hinge" else 0.7 / (1 + 50 * 0.49 / 20.0)
    np.testing.assert_allclose(machine.dual_coef_[0], (2 * y - 1) * g, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("classes", [3, 40])
def test_as_many_classes_as_rows(classes: int) -> None:
    X = np.random.default_rng(0).normal(size=(classes, 4))
    machine = ODMClassifier(gamma=10.0).fit(X, np.arange(classes))
    np.testing.assert_array_equal(machine.predict(X), np.arange(classes))
