"""Machines whose margins have offsets, m = y f(x) + o: against a plain twin and a general solver."""

import numpy as np
import pytest
from oracles import quadratic_program
from problems import weights_for
from reference import certificate
from reference import solve as plain_solve
from sklearn.metrics.pairwise import rbf_kernel

from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.fold import fold
from sodm.problem.kernels import Kernel
from sodm.problem.losses import HingeLoss, OdmLoss, TargetLoss
from sodm.solvers.certified import solve_certified

LOSSES = {
    "odm": OdmLoss(200.0, 0.4, 0.3),
    "hinge": HingeLoss(200.0),
    "targets": TargetLoss(200.0, 3.0, 0.2),
    "wide zone": TargetLoss(200.0, 1.0, 1.0),
}
GAMMA = 0.7


def task(n=150, d=3, seed=0, count=2):
    """Rows, signs of several machines, weights and offsets of both signs, some of them large."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signs = np.where(np.sin(2 * X[:, :count].T) + 0.5 * rng.normal(size=(count, n)) > 0, 1.0, -1.0)
    return X, signs, weights_for(n, seed), 2 * rng.normal(size=(count, n))


def fit(X, signs, weights, loss, offset, *, precision="double", tol=1e-7, **options):
    evaluator = KernelEvaluator(Kernel("rbf", gamma=GAMMA), precision)
    options = {"max_iter": 20_000, "cache_bytes": 100 << 20, "seed": 0, **options}
    return solve_certified(evaluator, X, signs, weights, loss, tol=tol, offset=offset, **options)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("solver", ["newton", "dcd"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_twin_finds_the_same(name, solver, precision):
    if name == "hinge" and solver == "newton":
        pytest.skip("Newton is for the ODM loss")
    loss = LOSSES[name]
    X, signs, weights, offset = task()
    K = rbf_kernel(X, gamma=GAMMA)
    tol = 1e-7 if precision == "double" else 1e-4
    result = fit(X, signs, weights, loss, offset, solver=solver, precision=precision, tol=tol)
    twin = plain_solve(K, signs, weights, loss, offset=offset, tol=1e-9)
    assert result.converged.all() and result.solver == solver
    np.testing.assert_allclose(result.objective, twin.objective, rtol=tol)
    # |f - f*|^2 / 2 in the kernel's norm is at most the gap, and the kernel is at most 1.
    bound = np.sqrt(2 * tol * result.objective.max())
    assert np.abs(result.decision - twin.decision).max() <= bound
    np.testing.assert_allclose(
        result.decision, (signs * result.duals) @ K, atol=1e-9 if precision == "double" else 1e-5
    )
    for k in range(2):
        objective, gap, _ = certificate(K, signs[k], weights, loss, result.duals[k], offset[k])
        np.testing.assert_allclose(result.objective[k], objective, rtol=1e-6)
        assert gap <= result.gap[k] + 1e-12


@pytest.mark.parametrize("name", LOSSES)
def test_a_general_solver_finds_the_same(name):
    X, signs, weights, offset = task(n=60, count=1)
    K = rbf_kernel(X, gamma=GAMMA)
    objective, f = quadratic_program(K, signs[0], weights, LOSSES[name], offset[0])
    result = fit(X, signs, weights, LOSSES[name], offset, tol=1e-9)
    np.testing.assert_allclose(result.objective[0], objective, rtol=1e-8)
    np.testing.assert_allclose(result.decision[0], f, atol=1e-3)


@pytest.mark.parametrize("loss", [LOSSES["odm"], LOSSES["targets"]], ids=["odm", "targets"])
@pytest.mark.parametrize("cache", [1 << 20, 100 << 20])
def test_many_rows_go_through_subsamples_and_working_sets(loss, cache):
    X, signs, weights, offset = task(n=4300, seed=1, count=2)
    newton = fit(
        X, signs, weights, loss, offset, solver="newton", precision="single", tol=1e-4, cache_bytes=cache
    )
    descent = fit(
        X, signs, weights, loss, offset, solver="dcd", precision="single", tol=1e-4, cache_bytes=cache
    )
    assert newton.converged.all() and descent.converged.all()
    np.testing.assert_allclose(newton.objective, descent.objective, rtol=1e-4)


@pytest.mark.parametrize("solver", ["newton", "dcd"])
def test_a_start_at_the_solution_ends_there(solver):
    X, signs, weights, offset = task(n=700, seed=2)
    first = fit(X, signs, weights, LOSSES["odm"], offset, tol=1e-6)
    again = fit(X, signs, weights, LOSSES["odm"], offset, tol=1e-6, solver=solver, start=first.duals)
    np.testing.assert_array_equal(again.duals, first.duals)
    guessed = fit(
        X, signs, weights, LOSSES["odm"], offset, tol=1e-6, solver=solver, start_decision=first.decision
    )
    np.testing.assert_allclose(guessed.objective, first.objective, rtol=1e-6)
    if solver == "newton":
        assert guessed.n_iter.max() <= 4


@pytest.mark.parametrize("solver", ["newton", "dcd"])
def test_no_offset_and_offset_zero_are_the_same_to_the_bit(solver):
    X, signs, weights, offset = task(n=1200, seed=3)
    plain = fit(X, signs, weights, LOSSES["odm"], None, solver=solver, precision="single", tol=1e-4)
    zero = fit(X, signs, weights, LOSSES["odm"], 0 * offset, solver=solver, precision="single", tol=1e-4)
    np.testing.assert_array_equal(plain.duals, zero.duals)


def test_correcting_a_function_is_solving_around_it():
    """min |w|^2/2 + loss(y (f0 + f)): with f0 = 0.5 k(z, .), f is what is left of the machine that has f0."""
    X, signs, weights, _ = task(n=200, count=1)
    f0 = 0.5 * rbf_kernel(X, X[:1], gamma=GAMMA)[:, 0]
    corrected = fit(X, signs, weights, LOSSES["odm"], signs * f0)
    twin = plain_solve(
        rbf_kernel(X, gamma=GAMMA), signs, weights, LOSSES["odm"], offset=signs * f0, tol=1e-10
    )
    np.testing.assert_allclose(corrected.decision, twin.decision, atol=1e-3)


def test_threads_do_not_matter():
    X, signs, weights, offset = task(n=1500, seed=4)
    evaluators = [KernelEvaluator(Kernel("rbf", gamma=GAMMA), "single", t) for t in (1, 3)]
    options = {"tol": 1e-4, "max_iter": 1000, "cache_bytes": 1 << 20, "seed": 0, "offset": offset}
    one, three = (solve_certified(e, X, signs, weights, LOSSES["odm"], **options) for e in evaluators)
    np.testing.assert_array_equal(one.duals, three.duals)


def test_rows_fold_where_their_offsets_are_equal():
    X = np.array([[1.0], [1.0], [1.0], [2.0], [1.0]])
    offset = np.array([[0.5, 0.5, 0.25, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0, -0.0]])
    folded = fold(X, np.zeros(5, np.int64), np.ones(5), offset=offset)
    assert sorted(folded.first.tolist()) == [0, 2, 3]
    assert folded.weights[folded.group].tolist() == [3, 3, 1, 1, 3]
    order = np.array([4, 3, 2, 1, 0])
    turned = fold(X[order], np.zeros(5, np.int64), np.ones(5), offset=offset[:, order])
    np.testing.assert_array_equal(X[order][turned.first], X[folded.first])
    np.testing.assert_array_equal(offset[:, order][:, turned.first], offset[:, folded.first])


def test_folded_rows_are_solved_as_one():
    X, signs, weights, offset = task(n=120, count=1)
    twice = np.r_[0:120, 0:60]
    folded = fold(X[twice], signs[0, twice].astype(np.int64), weights[twice], offset=offset[:, twice])
    assert len(folded.first) == 120
    at = twice[folded.first]
    small = fit(X[at], signs[:, at], folded.weights, LOSSES["odm"], offset[:, at])
    large = fit(X[twice], signs[:, twice], weights[twice], LOSSES["odm"], offset[:, twice])
    np.testing.assert_allclose(small.decision[0, folded.group], large.decision[0], atol=2e-3)
