"""The kernels against scikit-learn's: every form of input, precision, instruction set, number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems import FORMS, PAIRWISE, exact_in_single, gram
from scipy import sparse
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.svm import SVC

from sodm import ODMClassifier, _core
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel, resolve_gamma

INSTRUCTION_SETS = ("baseline", "avx2", "avx512")
PARAMETERS: dict[str, Any] = {"gamma": 0.3, "degree": 3, "coef0": 0.7}
TOLERANCE = {"single": 3e-6, "double": 1e-13}


@pytest.fixture(params=INSTRUCTION_SETS)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.simd_name()
    if not _core.simd_select(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    _core.simd_select(before)


def assert_close(actual: np.ndarray, desired: np.ndarray, precision: str, factor: float = 1.0) -> None:
    scale = max(1.0, np.abs(desired).max())
    np.testing.assert_allclose(actual, desired, rtol=0, atol=factor * TOLERANCE[precision] * scale)


def rows(n: int, d: int, seed: int = 0, density: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.uniform(size=X.shape) > density] = 0.0
    return exact_in_single(X)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PAIRWISE)
def test_every_form_of_input(name: str, form: str, precision: str, tmp_path: Path) -> None:
    X = rows(70, 20, density=0.3)
    A = FORMS[form](X, tmp_path)
    kernel = KernelEvaluator(Kernel(name, **PARAMETERS), precision)  # type: ignore[arg-type]
    expected = gram(name, X, X[:33], **PARAMETERS)
    assert_close(kernel.block(A, X[:33]), expected, precision)
    assert_close(kernel.block(X[:33], A), expected.T, precision)
    V = np.random.default_rng(1).normal(size=(70, 3))
    assert_close(kernel.apply(X[:33], A, V), expected.T @ V, precision, 30)
    assert_close(kernel.apply(X[:33], A, V[:, 0]), expected.T @ V[:, 0], precision, 30)
    assert_close(kernel.diag(A), np.diag(gram(name, X, X, **PARAMETERS)), "double")


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (129, 5), (257, 17), (300, 123), (40, 700)])
@pytest.mark.parametrize("density", [1.0, 0.1])
@pytest.mark.parametrize("name", PAIRWISE)
def test_every_instruction_set(
    name: str, shape: tuple[int, int], density: float, precision: str, instruction_set: str
) -> None:
    X = rows(*shape, density=density) / np.sqrt(shape[1])
    kernel = KernelEvaluator(Kernel(name, **PARAMETERS, offset=1.0), precision)  # type: ignore[arg-type]
    expected = gram(name, X, X, **PARAMETERS) + 1
    assert_close(kernel.block(X, X), expected, precision)
    v = np.random.default_rng(1).normal(size=shape[0])
    assert_close(kernel.apply(X, X, v), expected @ v, precision, 30)
    assert_close(kernel.diag(X), np.diag(expected), "double")


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("density", [1.0, 0.1])
@pytest.mark.parametrize("name", PAIRWISE)
def test_the_number_of_threads_changes_nothing(name: str, density: float, precision: str) -> None:
    X = rows(701, 30, density=density)
    V = np.random.default_rng(1).normal(size=(701, 2))
    results = []
    for n_threads in (1, 2, 3, 8):
        kernel = KernelEvaluator(Kernel(name, gamma=0.05), precision, n_threads=n_threads)  # type: ignore[arg-type]
        results.append((kernel.block(X, X[:50]), kernel.apply(X, X, V)))
    for block, product in results[1:]:
        np.testing.assert_array_equal(block, results[0][0])
        np.testing.assert_array_equal(product, results[0][1])


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("density", [1.0, 0.1])
@pytest.mark.parametrize("name", PAIRWISE)
def test_dense_gram_matrices_are_symmetric_to_the_last_bit(name: str, density: float, precision: str) -> None:
    X = rows(150, 40, density=density)
    K = KernelEvaluator(Kernel(name, gamma=0.1), precision).block(X, X)  # type: ignore[arg-type]
    if density == 1.0:
        np.testing.assert_array_equal(K, K.T)
    if name == "rbf" or (name == "laplacian" and density == 1.0):
        np.testing.assert_array_equal(np.diag(K), 1.0)


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("features", [5_000, 100_000])
def test_very_many_features(name: str, features: int) -> None:
    X = sparse.random(90, features, density=20 / features, format="csr", random_state=0)
    expected = gram(name, X, X[:11], **PARAMETERS)
    for precision in ("single", "double"):
        kernel = KernelEvaluator(Kernel(name, **PARAMETERS), precision)  # type: ignore[arg-type]
        assert_close(kernel.block(X, X[:11]), expected, precision)


@pytest.mark.parametrize("form", ["double", "csr"])
@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_rbf_far_from_the_origin(form: str, shift: float, spread: float, tmp_path: Path) -> None:
    """Distances are small beside norms: |x|^2 + |z|^2 - 2 <x, z> in single precision is all rounding."""
    X = rows(60, 20, density=0.3 if shift == 0 else 1.0) * spread + shift
    gamma = 0.05 / spread**2
    expected = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    actual = KernelEvaluator(Kernel("rbf", gamma=gamma)).block(*(FORMS[form](X, tmp_path),) * 2)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("form", ["double", "csr"])
def test_narrow_rbf_with_large_norms(form: str, tmp_path: Path) -> None:
    """gamma |x|^2 in the thousands, yet neighbours at distance zero and nearly zero."""
    X = np.repeat(rows(20, 10) * 30, 2, axis=0)
    X[::2, 0] += 0.25
    expected = gram("rbf", X, X, gamma=1.0)
    actual = KernelEvaluator(Kernel("rbf", gamma=1.0)).block(*(FORMS[form](X, tmp_path),) * 2)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_gamma_at_its_ends(name: str) -> None:
    X = rows(50, 4)
    for precision in ("single", "double"):
        identity = KernelEvaluator(Kernel(name, gamma=1e9), precision).block(X, X)  # type: ignore[arg-type]
        np.testing.assert_allclose(identity, np.eye(50), atol=1e-30)
        ones = KernelEvaluator(Kernel(name, gamma=1e-12), precision).block(X, X)  # type: ignore[arg-type]
        np.testing.assert_allclose(ones, 1.0, rtol=1e-7)
        assert np.all(KernelEvaluator(Kernel(name, gamma=0.0), precision).block(X, X) == 1.0)  # type: ignore[arg-type]


def test_prepared_points_serve_either_side() -> None:
    X, Z = rows(30, 6), rows(12, 6, seed=1)
    kernel = KernelEvaluator(Kernel("rbf", gamma=0.2))
    points = kernel.points(X)
    np.testing.assert_array_equal(kernel.block(points, Z), kernel.block(X, kernel.points(Z, like=points)))
    np.testing.assert_array_equal(kernel.block(Z, points), kernel.block(points, Z).T)
    np.testing.assert_array_equal(kernel.block(points, points), kernel.block(X, X))


def test_callables_and_matrices() -> None:
    X = np.abs(rows(40, 5))
    V = np.random.default_rng(0).normal(size=(25, 2))
    expected = chi2_kernel(X, X[:25])
    kernel = KernelEvaluator(Kernel(chi2_kernel, offset=2.0))
    np.testing.assert_allclose(kernel.block(X, X[:25]), expected + 2)
    np.testing.assert_allclose(kernel.apply(X, X[:25], V), (expected + 2) @ V)
    np.testing.assert_allclose(kernel.diag(X), 3.0)
    stored = KernelEvaluator(Kernel("precomputed", offset=2.0))
    np.testing.assert_allclose(stored.apply(expected, None, V), (expected + 2) @ V)
    np.testing.assert_allclose(stored.diag(expected[:25]), np.diag(expected[:25]) + 2)


@pytest.mark.parametrize("wrong", [lambda A, B: A @ A.T, lambda A, B: A[:, 0], lambda A, B: A @ B.T * np.nan])
def test_callables_are_checked(wrong: Any) -> None:
    with pytest.raises(ValueError, match="the kernel function returned"):
        KernelEvaluator(Kernel(wrong)).block(np.ones((3, 2)), np.ones((4, 2)))


@pytest.mark.parametrize("form", ["double", "single", "fortran", "csr", "csr-int64"])
@pytest.mark.parametrize("rule", ["scale", "auto"])
def test_gamma_rules_are_those_of_svc(form: str, rule: str, tmp_path: Path) -> None:
    X = rows(80, 7, density=0.5)
    A = FORMS[form](X, tmp_path)
    assert resolve_gamma(rule, A) == pytest.approx(SVC(gamma=rule).fit(X, np.arange(80) % 2)._gamma, rel=1e-6)


def test_gamma_counts_weights_as_copies() -> None:
    X = rows(40, 3)
    copies = np.random.default_rng(0).integers(1, 5, size=40)
    repeated = X.repeat(copies, axis=0)
    for form in (np.asarray, sparse.csr_matrix):
        weighted = resolve_gamma("scale", form(X), copies.astype(float))
        assert weighted == pytest.approx(resolve_gamma("scale", repeated), rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_gamma_of_constant_features_is_one(form: Any) -> None:
    assert resolve_gamma("scale", form(np.zeros((5, 3)))) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e7])
@pytest.mark.parametrize("share", [1.0, 0.999, 0.3])
def test_gamma_is_the_same_for_dense_and_sparse_however_far_off(
    dtype: Any, shift: float, share: float
) -> None:
    rng = np.random.default_rng(0)
    X = ((rng.normal(size=(200, 20)) + shift) * (rng.random((200, 20)) < share)).astype(dtype)
    if share < 1:
        X[7] = 0  # a row without values; where nothing is zero, all deviations are small beside the mean
    for weights in (None, rng.integers(1, 5, size=200).astype(float)):
        dense = resolve_gamma("scale", X, weights)
        assert resolve_gamma("scale", sparse.csr_matrix(X), weights) == pytest.approx(dense, rel=1e-9)
    assert resolve_gamma("scale", X) == pytest.approx(1 / (20 * X.astype(np.float64).var()), rel=1e-9)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix])
def test_a_callable_may_return_a_sparse_matrix(make: Any) -> None:
    rng = np.random.default_rng(0)
    X = np.maximum(rng.normal(size=(80, 6)), 0)
    y = (X[:, 0] > X[:, 1]).astype(int)

    def dense(A: Any, B: Any) -> Any:
        return np.maximum(A @ B.T, 0.0)

    one = ODMClassifier(kernel=dense, random_state=0).fit(X, y)
    other = ODMClassifier(kernel=lambda A, B: make(dense(A, B)), random_state=0).fit(X, y)
    np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))
    again = ODMClassifier(kernel=lambda A, B: A @ B.T, random_state=0)  # of CSR matrices it is CSR
    again.fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        again.decision_function(X[:5]), one.decision_function(X[:5]), rtol=1e-3, atol=1e-3
    )


def test_points_of_a_nameless_kernel_are_refused() -> None:
    with pytest.raises(ValueError, match="has no points"):
        KernelEvaluator(Kernel("precomputed")).points(np.eye(3))


def test_products_with_no_column_are_empty() -> None:
    """As NumPy has it; model files that others wrote may hold such coefficients."""
    X = np.random.default_rng(0).normal(size=(9, 3))
    kernel = KernelEvaluator(Kernel("rbf", gamma=1.0))
    assert kernel.apply(X, X[:4], np.zeros((4, 0))).shape == (9, 0)
    assert kernel.apply_parts(X, X[:4], np.zeros((0, 4)), np.array([1, 3])).shape == (2, 0, 9)
