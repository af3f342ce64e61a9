"""Theorems 1 and 2 hold: exact and local problems solved, every quantity computed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_odm import solve_odm, solve_parts
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler

from sodm.partition import ClusterPartitioner, RandomPartitioner, StratifiedPartitioner
from sodm.partition.angle import minimal_principal_angle
from sodm.partition.theory import dual_objective, theorem1, theorem2
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss

LOSSES = st.builds(
    OdmLoss,
    lam=st.integers(-6, 14).map(lambda e: 2.0**e),
    upsilon=st.sampled_from([0.1, 0.5, 1.0]),
    theta=st.sampled_from([0.0, 0.3, 0.8]),
)
# What rounding may add to a difference of objectives, relative to their size.
NOISE = 1e-8


def check_theorem1(K, y, parts, exact, local, loss):
    found = theorem1(K, y, parts, exact, local, loss)
    noise = NOISE * max(1.0, abs(dual_objective(K, y, local, loss)))
    assert -noise <= found.objective_gap <= found.objective_bound + noise
    assert found.distance <= found.distance_bound * (1 + NOISE) + NOISE
    assert found.distance_bound <= found.proved_distance_bound
    return found


def check_theorem2(K, y, parts, strata, exact, local, loss):
    found = theorem2(K, y, parts, strata, exact, local, loss)
    noise = NOISE * max(1.0, loss.lam)
    assert len(found.gaps) == len(np.unique(parts))
    assert (found.gaps <= found.bound + noise).all()
    assert (found.gaps <= found.simple_bound + noise).all()
    return found


@settings(deadline=None, max_examples=80)
@given(st.integers(2, 24), st.integers(0, 2**31), LOSSES, st.booleans(), st.data())
def test_both_hold_on_any_small_problem(n, seed, loss, shift_invariant, data):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.choice([-1.0, 1.0], n)
    kernel = (
        KernelEvaluator(Kernel("rbf", gamma=0.5), "double")
        if shift_invariant
        else KernelEvaluator(Kernel("poly", gamma=1.0, coef0=1.0, degree=2), "double")
    )
    partitioner = StratifiedPartitioner(n_landmarks=data.draw(st.integers(1, n)))
    parts = partitioner.split(X, y, data.draw(st.integers(1, n)), kernel, seed)
    K = kernel.block(X, X)
    exact, local = solve_odm(K, y, loss), solve_parts(K, y, parts, loss)
    check_theorem1(K, y, parts, exact, local, loss)
    if shift_invariant:
        check_theorem2(K, y, parts, partitioner.strata_, exact, local, loss)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return MinMaxScaler().fit_transform(X)[:200], np.where(y[:200] > 0, 1.0, -1.0)


@pytest.mark.parametrize("lam", [1.0, 2.0**6, 2.0**12])
@pytest.mark.parametrize("n_partitions", [2, 7, 16])
@pytest.mark.parametrize(
    "partitioner",
    [StratifiedPartitioner(n_landmarks=10), RandomPartitioner(), ClusterPartitioner()],
    ids=lambda p: type(p).__name__,
)
def test_both_hold_on_real_data(cancer, partitioner, n_partitions, lam):
    X, y = cancer
    kernel, loss = KernelEvaluator(Kernel("rbf", gamma=1.0), "double"), OdmLoss(lam, 0.5, 0.3)
    parts = partitioner.split(X, y, n_partitions, kernel, 0)
    stratified = StratifiedPartitioner(n_landmarks=10)
    stratified.split(X, y, n_partitions, kernel, 0)
    K = kernel.block(X, X)
    exact, local = solve_odm(K, y, loss), solve_parts(K, y, parts, loss)
    check_theorem1(K, y, parts, exact, local, loss)
    check_theorem2(K, y, parts, stratified.strata_, exact, local, loss)


def test_one_partition_is_the_exact_problem(cancer):
    X, y = cancer
    loss, K = OdmLoss(64.0, 0.5, 0.3), KernelEvaluator(Kernel("rbf"), "double").block(X, X)
    exact = solve_odm(K, y, loss)
    found = theorem1(K, y, np.zeros(len(y), dtype=np.intp), exact, exact, loss)
    assert (found.objective_gap, found.objective_bound, found.distance_bound, found.cut) == (0, 0, 0, 0)


def test_the_dual_is_minus_the_primal(cancer):
    """The sign that the proof of Theorem 2 drops: min d = -min p."""
    X, y = cancer
    loss, K = OdmLoss(64.0, 0.5, 0.3), KernelEvaluator(Kernel("rbf"), "double").block(X, X)
    g = solve_odm(K, y, loss)
    f = K @ (y * g)
    primal = (y * g) @ f / 2 + loss.primal(y * f, np.ones(len(y)))
    assert dual_objective(K, y, g, loss) == pytest.approx(-primal, rel=1e-8)
    assert primal > 0


def test_the_quantities_by_hand():
    """Three rows, every number worked out from its definition."""
    K = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, -0.1], [0.2, -0.1, 1.0]])
    y, parts, strata = np.array([1.0, -1.0, 1.0]), np.array([0, 0, 1]), np.array([0, 1, 1])
    exact, local = np.array([0.3, -0.1, 0.2]), np.array([0.5, 0.2, 0.4])
    loss = OdmLoss(lam=2.0, upsilon=0.5, theta=0.5)  # c = 1/4
    one = theorem1(K, y, parts, exact, local, loss)
    assert one.largest_dual == 0.5
    assert one.cut == pytest.approx(2 * (0.2 + 0.1))
    assert one.objective_bound == pytest.approx(0.25 * (0.6 + 3 * 2 * 0.25))
    assert one.distance == pytest.approx(0.2**2 + (0.2**2 + 0.1**2) + 0.2**2)
    assert one.distance_bound == pytest.approx(0.25 * 2.1 / (3 * 0.125))
    two = theorem2(K, y, parts, strata, exact, local, loss)
    assert two.pairs == 4 and two.tau == pytest.approx(np.arccos(0.5))
    assert two.bound == pytest.approx(0.125 * (9 + 0.5 * (8 - 9)) + 0.25 * 9 * 0.25 + 2 * 0.5 * 3)


def test_tau_is_the_partitioners_angle(cancer):
    X, y = cancer
    kernel, loss = KernelEvaluator(Kernel("rbf"), "double"), OdmLoss(64.0, 0.5, 0.3)
    partitioner = StratifiedPartitioner(n_landmarks=10)
    parts = partitioner.split(X, y, 4, kernel, 0)
    K, g = kernel.block(X, X), np.zeros(len(y))
    found = theorem2(K, y, parts, partitioner.strata_, g, g, loss)
    assert partitioner.angle_is_exact_
    assert found.tau == pytest.approx(partitioner.minimal_principal_angle_, rel=1e-6)
    assert found.tau == pytest.approx(minimal_principal_angle(X, partitioner.strata_, kernel), rel=1e-6)


def test_theorem2_needs_a_constant_diagonal():
    g, ids = np.zeros(2), np.array([0, 1])
    with pytest.raises(ValueError, match="same k\\(x, x\\)"):
        theorem2(np.diag([1.0, 2.0]), np.ones(2), ids, ids, g, g, OdmLoss(1.0, 0.5, 0.3))
