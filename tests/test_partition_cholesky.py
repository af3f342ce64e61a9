"""The greedy pivots of the core, against a plain one-pivot-at-a-time factorisation in double precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodm import _core

KERNELS = {
    "rbf": {"kind": "rbf", "gamma": 0.7},
    "rbf with offset": {"kind": "rbf", "gamma": 0.7, "offset": 1.0},
    "laplacian": {"kind": "laplacian", "gamma": 0.5},
    "linear": {"kind": "linear"},
    "poly": {"kind": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 3},
}


def plain_residuals(gram, pivots):
    """Residual diagonals, one row before each pivot and one after the last."""
    factor, residual = np.zeros((len(gram), 0)), np.diagonal(gram).copy()
    history = [residual]
    for p in pivots:
        column = (gram[:, p] - factor @ factor[p]) / np.sqrt(residual[p])
        factor = np.column_stack([factor, column])
        residual = residual - column**2
        history.append(residual)
    return np.array(history)


def points(X, kernel, double=True):
    return _core.Points.dense(np.ascontiguousarray(X), _core.KernelFunction(**kernel), double)


def gram(prepared):
    return _core.block(prepared, prepared)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("double", [True, False])
def test_each_pivot_has_the_largest_residual(name, double):
    """700 rows are more than there are candidates, and 150 pivots more than a block: all ways to end one."""
    X = np.random.default_rng(0).normal(size=(700, 4))
    prepared = points(X, KERNELS[name], double)
    rank = {"linear": 4, "poly": 20}.get(name, 150)
    pivots, residual, factor = _core.pivoted_cholesky(prepared, rank, first=3, return_factor=True)
    assert len(pivots) == rank and len(set(pivots)) == rank and pivots[0] == 3
    history = plain_residuals(gram(points(X, KERNELS[name])), pivots)
    scale = history[0].max()
    noise = scale * (1e-10 if double else 2e-5)
    assert (history[np.arange(1, rank), pivots[1:]] >= history[1:rank].max(axis=1) - noise).all()
    np.testing.assert_allclose(residual, history[-1], atol=noise)
    np.testing.assert_allclose(residual, np.diagonal(gram(prepared)) - (factor**2).sum(axis=1), atol=noise)
    np.testing.assert_allclose(factor @ factor[pivots].T, gram(prepared)[:, pivots], atol=noise)


def test_without_a_first_pivot_the_largest_diagonal_leads():
    X = np.array([[1.0, 0.0], [0.0, 3.0], [2.0, 2.0]])
    assert _core.pivoted_cholesky(points(X, KERNELS["linear"]), 2)[0].tolist() == [1, 2]


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("n_distinct", [1, 5, 300])
def test_repeated_rows_end_it(n_distinct, double):
    distinct = np.random.default_rng(1).uniform(-4, 4, size=(n_distinct, 5))
    X = np.repeat(distinct, 4, axis=0)
    pivots, residual, _ = _core.pivoted_cholesky(points(X, KERNELS["laplacian"], double), 600, first=0)
    assert len(pivots) == n_distinct
    assert len(np.unique(pivots // 4)) == n_distinct
    assert residual.max() <= 1e-4


def test_a_kernel_of_finite_rank_ends_it():
    X = np.random.default_rng(2).normal(size=(400, 3))
    assert len(_core.pivoted_cholesky(points(X, KERNELS["linear"]), 100)[0]) == 3


def test_zero_rows_are_no_pivots():
    X = np.zeros((5, 2))
    pivots, residual, factor = _core.pivoted_cholesky(
        points(X, KERNELS["linear"]), 3, first=0, return_factor=True
    )
    assert len(pivots) == 0 and factor.shape == (5, 0) and (residual == 0).all()
    X[3] = 1.0
    assert _core.pivoted_cholesky(points(X, KERNELS["linear"]), 3, first=0)[0].tolist() == [3]


@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 1000))
def test_any_size(n, rank, seed):
    X = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)
    prepared = points(X, KERNELS["rbf"])
    pivots, residual, factor = _core.pivoted_cholesky(prepared, rank, first=0, return_factor=True)
    assert len(pivots) == min(rank, len(np.unique(X, axis=0)))
    assert len(np.unique(X[pivots], axis=0)) == len(pivots)
    np.testing.assert_allclose(residual, 1 - (factor**2).sum(axis=1), atol=1e-9)


@pytest.mark.parametrize("double", [True, False])
def test_threads_change_nothing(double):
    X = np.random.default_rng(3).normal(size=(900, 6))
    one, three = (
        _core.pivoted_cholesky(points(X, KERNELS["rbf"], double), 200, return_factor=True, n_threads=t)
        for t in (1, 3)
    )
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("double", [True, False])
def test_drawn_pivots_have_the_same_factor(double):
    """150 of them are more than a block."""
    X = np.random.default_rng(5).normal(size=(700, 4))
    prepared = points(X, KERNELS["rbf"], double)
    pivots, residual, factor = _core.pivoted_cholesky(prepared, 150, seed=3, return_factor=True)
    assert len(set(pivots)) == 150
    noise = 1e-10 if double else 2e-5
    left = plain_residuals(gram(points(X, KERNELS["rbf"])), pivots)[-1]
    np.testing.assert_allclose(residual, left, atol=noise)
    np.testing.assert_allclose(factor @ factor[pivots].T, gram(prepared)[:, pivots], atol=noise)
    other = _core.pivoted_cholesky(prepared, 150, seed=4)[0]
    assert pivots.tolist() != other.tolist()


def test_pivots_are_drawn_by_their_residuals():
    """The first by k(x, x), the second by what the first has left: also where both are of one block."""
    values = np.array([[4.0, 1.8, 0.0], [1.8, 1.0, 0.3], [0.0, 0.3, 2.0]])
    counts, tries = np.zeros((3, 3)), 6000
    for seed in range(tries):
        first, second = _core.pivoted_cholesky(_core.MatrixSource(values, 0.0, True), 2, seed=seed)[0]
        counts[first, second] += 1
    expected = np.zeros((3, 3))
    for i in range(3):
        left = np.diagonal(values) - values[i] ** 2 / values[i, i]
        expected[i] = values[i, i] / np.trace(values) * left / left.sum()
    error = np.sqrt(expected * (1 - expected) / tries)
    assert (np.abs(counts / tries - expected) <= 4 * error).all()


def test_drawn_pivots_stand_where_the_rows_are():
    """Rows far from all others have the largest residuals, and are of no use to anybody."""
    rng = np.random.default_rng(6)
    X = np.concatenate([rng.normal(size=(900, 2)), rng.uniform(-60, 60, size=(100, 2))])
    prepared = points(X, KERNELS["rbf"])
    drawn, largest = (_core.pivoted_cholesky(prepared, 60, seed=seed)[1].sum() for seed in (1, None))
    assert drawn < 0.7 * largest


def test_drawing_ends_when_the_mean_residual_is_small():
    X = np.random.default_rng(7).normal(size=(2000, 3))
    prepared = points(X, KERNELS["rbf"])
    pivots, residual, _ = _core.pivoted_cholesky(prepared, 2000, tolerance=1e-3, seed=0)
    assert len(pivots) < 2000 and residual.mean() <= 1e-3 < residual.max()


def test_kernel_values_from_a_matrix_or_a_function():
    X = np.random.default_rng(4).normal(size=(400, 3))
    values = gram(points(X, KERNELS["poly"]))
    expected = _core.pivoted_cholesky(points(X, KERNELS["poly"]), 15, first=0)
    diagonal = np.ascontiguousarray(np.diagonal(values))
    for source in (
        _core.MatrixSource(values, 0.0, True),
        _core.FunctionSource(diagonal, 0.0, lambda a, b: values[np.ix_(a, b)], True),
    ):
        for n_threads in (1, 2):
            found = _core.pivoted_cholesky(source, 15, first=0, n_threads=n_threads)
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_allclose(found[1], expected[1], atol=1e-8 * diagonal.max())


def test_an_error_in_the_function_is_raised():
    def broken(a, b):
        raise KeyError("no such row")

    for n_threads in (1, 2):
        with pytest.raises(KeyError, match="no such row"):
            _core.pivoted_cholesky(_core.FunctionSource(np.ones(400), 0.0, broken), 2, n_threads=n_threads)
