"""Newton on the rows in play: the optimum of plain NumPy for every shape and form, the same bits always."""

from __future__ import annotations

from typing import Any

import linear_reference as reference
import numpy as np
import pytest
from problems import weights_for
from scipy import sparse
from sklearn.base import clone

from sodm import LinearODMClassifier
from sodm.problem.linear import LinearProblem, LongRows, MemoryRows
from sodm.problem.losses import OdmLoss
from sodm.solvers.linear_active import newton_on_active_rows
from sodm.solvers.linear_result import History

SHAPES = {"more rows": (700, 90), "more features": (120, 300), "long rows": (900, 420)}


def dense(n: int, d: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features and noisy labels: rows on both sides of the dead zone and inside."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)) / np.sqrt(d)) / np.sqrt(d) * 4
    f = X @ rng.normal(size=(d, n_classes))
    return X, (f + 0.7 * f.std() * rng.normal(size=f.shape)).argmax(axis=1)


def words(n: int = 600, d: int = 2000, n_classes: int = 3) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Sparse rows with too many features for a matrix of them."""
    rng = np.random.default_rng(1)
    X = sparse.random(n, d, density=0.02, random_state=2, format="csr")
    return X, np.asarray(X @ rng.normal(size=(d, n_classes))).argmax(axis=1)


def relative_gradient(machine: LinearODMClassifier, X: Any, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """|grad p(w)| / |grad p(0)| of each class, in plain NumPy."""
    rows = reference.rows_with_bias(X, 1.0)
    scale, out = machine.lam / (s.sum() * (1 - machine.theta) ** 2), []
    for k in range(len(machine.coef_)):
        sign = np.where(y == machine.classes_[k if len(machine.coef_) > 1 else 1], 1.0, -1.0)
        at = [
            w
            + scale
            * reference.sums(rows, sign, s, w, 1 - machine.theta, 1 + machine.theta, machine.upsilon)[1]
            for w in (np.append(machine.coef_[k], machine.intercept_[k]), np.zeros(rows.shape[1]))
        ]
        out.append(np.linalg.norm(at[0]) / np.linalg.norm(at[1]))
    return np.array(out)


@pytest.mark.parametrize("lam", [5.0, 2000.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, np.float32])
def test_the_optimum_of_dense_rows(form: Any, shape: str, lam: float) -> None:
    X, y = dense(*SHAPES[shape], 2)
    X, s = form(X), weights_for(len(y))
    machine = LinearODMClassifier(lam=lam, theta=0.5, tol=1e-11).fit(X, y, s)
    expected = reference.solve(
        reference.rows_with_bias(X, 1.0), np.where(y == 1, 1.0, -1.0), s, OdmLoss(lam, 0.5, 0.5)
    )
    found = np.append(machine.coef_[0], machine.intercept_[0])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    assert machine.dual_gap_ <= 1e-11


@pytest.mark.parametrize("lam", [1.0, 300.0])
@pytest.mark.parametrize("theta", [0.0, 0.9])
def test_several_classes_reach_what_tol_asks_for(lam: float, theta: float) -> None:
    for X, y in (*(dense(*shape, 4) for shape in SHAPES.values()), words()):
        machine = LinearODMClassifier(lam=lam, theta=theta).fit(X, y)
        assert np.all(relative_gradient(machine, X, y, np.ones(len(y))) <= 1.001e-6)
        assert np.all(machine.dual_gap_ <= 1e-6)


def test_threads_change_no_bit_of_long_rows() -> None:
    cases = [dense(*shape, k) for shape in SHAPES.values() for k in (2, 3)]
    cases += [(X.astype(np.float32), y) for X, y in cases[:2]]
    cases += [words(n_classes=2), words()]
    for X, y in cases:
        machine = LinearODMClassifier(lam=100.0, tol=1e-4)
        one, three = (clone(machine).set_params(n_jobs=k).fit(X, y) for k in (1, 3))
        assert np.array_equal(one.coef_, three.coef_)


def test_features_of_very_different_size() -> None:
    """A factor in single precision is not enough; the solver takes double."""
    X, y = dense(400, 120, 2)
    X[:, :40] *= 3e3
    machine = LinearODMClassifier(lam=1e3, max_iter=60).fit(X.astype(np.float32), y)
    assert relative_gradient(machine, X.astype(np.float32), y, np.ones(400))[0] <= 1.001e-6


@pytest.mark.parametrize("form", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_precision_of_a_factor_ends_a_fit(shape: str, form: Any) -> None:
    """Features from a thousandth to a thousand and a large lam: single precision is lost at once."""
    X, y = dense(*SHAPES[shape], 2)
    X = (X * 10 ** np.random.default_rng(0).uniform(-3, 3, X.shape[1])).astype(form)
    machine = LinearODMClassifier(lam=1e5).fit(X, y)
    assert machine.dual_gap_ <= 1e-6
    assert relative_gradient(machine, X, y, np.ones(len(y)))[0] <= 1.001e-6


@pytest.mark.parametrize("form", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_features_whose_squares_single_precision_cannot_hold(shape: str, form: Any) -> None:
    X, y = dense(*SHAPES[shape], 2)
    machine = LinearODMClassifier().fit((1e21 * X).astype(form), y)
    assert machine.dual_gap_ <= 1e-6


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
def test_offsets_shift_the_margins(as_rows: Any) -> None:
    """With m_i = y_i <w, x_i> + o_i the gradient is zero where it should be."""
    X, y = dense(300, 80, 2)
    loss, s = OdmLoss(50.0, 0.5, 0.4), np.ones(300)
    offset = np.random.default_rng(3).normal(size=(1, 300))
    rows = MemoryRows(as_rows(X), y.astype(np.int32), None, np.array([1], dtype=np.int32), loss, 0.0, 2)
    found = newton_on_active_rows(
        LinearProblem(rows, 1, loss), LongRows(rows, offset), np.zeros((1, 80)),
        tol=1e-10, max_iter=100, history=History(),
    )  # fmt: skip
    sign, w = np.where(y == 1, 1.0, -1.0), found.w[0]
    margins = sign * (X @ w) + offset[0]
    slope = loss.derivatives(margins, s)[0]
    assert found.converged[0]
    np.testing.assert_allclose(w, -X.T @ (slope * sign), atol=1e-8 * np.abs(w).max())


def test_a_warm_start_has_nothing_to_do() -> None:
    X, y = dense(700, 90, 3)
    machine = LinearODMClassifier(lam=50.0, warm_start=True).fit(X, y)
    before = machine.coef_.copy()
    assert machine.fit(X, y).history_[-1]["passes"] <= 3
    assert np.array_equal(machine.coef_, before)


def test_the_factor_of_rows_like_these_serves_them_too() -> None:
    """The same optimum, and a first step by products alone: no factor of the rows' own is made for it."""
    X, y = dense(4000, 420, 2)
    loss = OdmLoss(4000.0, 0.5, 0.6)
    own = y.astype(np.int32), np.ones(len(y)), np.array([1], dtype=np.int32), loss, 0.0, 2
    alone = MemoryRows(X, *own)
    few = alone.every(2)
    helped = alone.resembling(few)
    options = {"tol": 1e-6, "max_iter": 50}

    def solved(rows: MemoryRows) -> Any:
        problem = LinearProblem(rows, 1, loss)
        return newton_on_active_rows(
            problem, LongRows(rows), np.zeros((1, rows.width)), history=History(), **options
        )

    first = solved(few)
    found, expected = solved(helped), solved(alone)
    assert found.converged.all() and first.converged.all()
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-6)
    searches = [alone.search(1.0, first.w), helped.search(1.0, first.w)]
    for search in searches:
        search.look([0])
    by_own, by_theirs = (search.step([0], np.array([1e-3])) for search in searches)
    assert by_theirs > by_own  # a factor of its own takes the fewest products


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_in_another_basis(dtype: Any, n_classes: int) -> None:
    """Rows k_i with x_i = L^-1 k_i have the optimum of the x_i, whatever system is begun with, and one that
    is factored by a part of the x_i saves products. Threads change no bit."""
    X, y = dense(900, 120, n_classes)
    basis = np.tril(np.random.default_rng(3).normal(size=(120, 120))) / 12 + np.eye(120)
    loss, labels = OdmLoss(200.0, 0.5, 0.5), y.astype(np.int32)
    positive = np.arange(n_classes if n_classes > 2 else 1, dtype=np.int32)
    start = np.zeros((len(positive), 120))

    def rows(
        values: np.ndarray, count: int = 900, like: MemoryRows | None = None, threads: int = 2
    ) -> MemoryRows:
        few = np.ascontiguousarray(values[:count], dtype=dtype)
        return MemoryRows(few, labels[:count], None, positive, loss, 0.0, threads, like)

    def solved(these: MemoryRows, basis: np.ndarray | None) -> Any:
        problem, history = LinearProblem(these, len(positive), loss), History()
        return newton_on_active_rows(
            problem, LongRows(these, basis=basis), start, tol=1e-6, max_iter=100, history=history
        ), history.records[-1]["passes"]

    some = rows(X, 600)
    some.factor(loss.scale(some.weight), start)
    expected, _ = solved(rows(X), None)
    plain, products = solved(rows(X @ basis.T), basis)
    helped, fewer = solved(rows(X @ basis.T, like=some), basis)
    alone, _ = solved(rows(X @ basis.T, like=some, threads=1), basis)
    for found in (plain, helped):
        assert found.converged.all() and found.gap.max() <= 1e-6
        np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-5)
    assert fewer < 0.8 * products
    assert np.array_equal(alone.w, helped.w)
