"""The fused pass and the inner loops of the core against plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import linear_reference as reference
import numpy as np
import pytest
from problems import FORMS, exact_in_single

from sodm import _core
from sodm.problem.linear import MemoryRows, core_rows
from sodm.problem.losses import OdmLoss
from sodm.problem.rows import canonical

SETS = ("avx512", "avx2", "baseline")


@pytest.fixture(params=SETS)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.simd_name()
    if not _core.simd_select(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    _core.simd_select(before)


def make(n: int, d: int, density: float = 1.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows exact in single precision, labels of three classes, weights with some zeros."""
    rng = np.random.default_rng(seed)
    X = exact_in_single(rng.normal(size=(n, d))) * (rng.random((n, d)) < density)
    weights = rng.uniform(0.1, 3, n)
    weights[rng.random(n) < 0.1] = 0
    return X, rng.integers(0, 3, n).astype(np.int32), weights


def check_pass(
    X: object, plain: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, bias: float
) -> None:
    """Three evaluations in a row, the later ones adding only what has changed, and the products."""
    X = canonical(X)
    loss = OdmLoss(1.0, 0.4, 0.2)
    low, high = 1 - loss.theta, 1 + loss.theta
    positive = np.array([0, 1, 2], dtype=np.int32)
    rows = MemoryRows(X, labels, weights, positive, loss, bias, 2)
    full = reference.rows_with_bias(plain, bias)
    s = np.ones(len(full)) if weights is None else weights
    rng = np.random.default_rng(1)
    for kind in ("none", "gram", "gram_in_double", "diagonal"):
        rows.start(kind)
        w = 0.4 * rng.normal(size=(3, full.shape[1]))
        for problems in ([0, 1, 2], [0, 1, 2], [2, 0]):
            w = w + 0.1 * rng.normal(size=w.shape)
            v = rng.normal(size=w.shape)
            sums = rows.evaluate(problems, w[problems])
            products = rows.times(problems, v[problems])
            for place, p in enumerate(problems):
                y = np.where(labels == p, 1.0, -1.0)
                value, gradient, matrix = reference.sums(full, y, s, w[p], low, high, loss.upsilon)
                size = np.abs(matrix).max()
                assert sums.loss[place] == pytest.approx(value, rel=1e-11, abs=1e-12)
                np.testing.assert_allclose(
                    sums.gradient[place], gradient, rtol=1e-10, atol=1e-11 * size + 1e-13
                )
                np.testing.assert_allclose(
                    products[place], matrix @ v[p], rtol=1e-10, atol=1e-10 * size + 1e-13
                )
                if kind == "none":
                    assert sums.curvature is None
                elif kind == "diagonal":
                    np.testing.assert_allclose(sums.curvature[place], np.diag(matrix), rtol=1e-10, atol=1e-13)
                else:
                    coarse = kind == "gram" and X.dtype == np.float32
                    near = (1e-5 if coarse else 1e-11) * size + 1e-13
                    np.testing.assert_allclose(sums.curvature[place], matrix, rtol=0, atol=near)


@pytest.mark.parametrize("d", [1, 3, 18, 48, 60, 130])
@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_pass_in_every_form(d: int, bias: float, tmp_path: object) -> None:
    X, labels, weights = make(333, d, density=0.3)
    for name, form in FORMS.items():
        if name != "csc":  # the estimator turns it into CSR
            check_pass(form(X, tmp_path), X, labels, weights, bias)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 127, 128, 129, 5000])
def test_pass_for_any_number_of_rows(n: int) -> None:
    for d in (5, 70):
        X, labels, _ = make(n, d)
        check_pass(X.astype(np.float32), X, labels, None, 1.0)


def test_pass_with_every_instruction_set(instruction_set: str) -> None:
    for d in (1, 2, 5, 18, 70):
        X, labels, weights = make(300, d, density=0.5)
        for name in ("double", "single", "csr-single", "csr-int64", "fortran"):
            check_pass(FORMS[name](X, None), X, labels, weights, 1.0)


def test_sums_do_not_depend_on_threads() -> None:
    X, labels, weights = make(20_000, 18)
    loss, positive = OdmLoss(1.0, 0.4, 0.2), np.array([0, 1, 2], dtype=np.int32)
    w = np.random.default_rng(0).normal(size=(3, 19))
    found = []
    for n_threads in (1, 2, 3):
        rows = MemoryRows(X.astype(np.float32), labels, weights, positive, loss, 1.0, n_threads)
        rows.start("gram")
        found.append(rows.evaluate(range(3), w))
    for other in found[1:]:
        assert np.array_equal(found[0].loss, other.loss)
        assert np.array_equal(found[0].gradient, other.gradient)
        assert np.array_equal(found[0].curvature, other.curvature)


def test_finite_decisions_and_norms_in_every_form(tmp_path: object) -> None:
    X, labels, _ = make(777, 9, density=0.5)
    for name, form in FORMS.items():
        if name == "csc":
            continue
        rows = core_rows(canonical(form(X, tmp_path)), labels, None, 3.0, 2)
        full = reference.rows_with_bias(X, 3.0)
        w = np.random.default_rng(0).normal(size=(2, 10))
        assert rows.finite()
        np.testing.assert_allclose(rows.decisions(w), w @ full.T, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(rows.squared_norms(), np.sum(full**2, axis=1), rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (776, 8), (400, 5)])
def test_what_is_not_finite_is_found(bad: float, place: tuple[int, int], tmp_path: object) -> None:
    X, _, _ = make(777, 9)
    X[place] = bad
    for name in ("double", "single", "fortran", "fortran-single", "strided", "memmap", "csr", "csr-single"):
        assert not core_rows(canonical(FORMS[name](X, tmp_path)), None, None, 0.0, 2).finite(), name


def test_the_core_refuses_what_does_not_fit() -> None:
    X, labels, _ = make(10, 3)
    rows = _core.LinearRows.dense(X, labels, None, 0.0, 1)
    loss, positive = _core.OdmLoss(1.0, 1.0, 0.5), np.array([1], dtype=np.int32)
    with pytest.raises(ValueError, match="start_pass"):
        rows.evaluate([0], positive, np.zeros((1, 3)), loss)
    rows.start_pass(1, "gram")
    with pytest.raises(ValueError, match="one row of"):
        rows.evaluate([0], positive, np.zeros((1, 4)), loss)
    with pytest.raises(ValueError, match="no problem of"):
        rows.evaluate([1], positive, np.zeros((1, 3)), loss)
    with pytest.raises(ValueError, match="curvature"):
        rows.start_pass(1, "exact")
    with pytest.raises(ValueError, match="one label"):
        _core.LinearRows.dense(X, labels[:5], None, 0.0, 1)
    with pytest.raises(ValueError, match="out of range"):
        zero = np.zeros((1, 3))
        rows.svrg_steps(positive, loss, 0.1, np.array([10]), zero, zero, zero.copy())
    with pytest.raises(ValueError, match="C order"):
        fortran = _core.LinearRows.dense(np.asfortranarray(X), labels, None, 0.0, 1)
        fortran.svrg_steps(positive, loss, 0.1, np.array([1]), zero, zero, zero.copy())


@pytest.mark.parametrize("form", ["double", "single", "csr", "csr-int64-single"])
def test_svrg_steps_are_those_of_the_formula(form: str) -> None:
    X, labels, weights = make(50, 6, density=0.6)
    loss, bias, step, scale = OdmLoss(1.0, 0.4, 0.2), 1.5, 0.03, 2.0
    rows = MemoryRows(
        canonical(FORMS[form](X, None)), labels, weights, np.array([0, 2], np.int32), loss, bias, 1
    )
    full = reference.rows_with_bias(X, bias)
    rng = np.random.default_rng(0)
    anchor, w = rng.normal(size=(2, 7)), rng.normal(size=(2, 7))
    mean, order = rng.normal(size=(2, 7)), rng.integers(0, 50, 200)
    expected = w.copy()
    for i in order:
        for j, positive in enumerate(rows.positive):
            y = 1.0 if labels[i] == positive else -1.0

            def slope(v: np.ndarray, i: int = i, y: float = y) -> np.ndarray:
                m = y * (full[i] @ v)
                e = m - 0.8 if m < 0.8 else 0.4 * (m - 1.2) if m > 1.2 else 0.0
                return scale * weights[i] * e * y * full[i]

            gradient = expected[j] + slope(expected[j]) - anchor[j] - slope(anchor[j]) + (anchor[j] + mean[j])
            expected[j] = expected[j] - step * gradient
    rows.svrg_steps(scale, step, order, anchor, mean, w)
    np.testing.assert_allclose(w, expected, rtol=1e-10, atol=1e-10)
