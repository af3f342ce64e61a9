"""The fused RBF product K(A, B) v in single precision, and NumPy's way to the same numbers.

Where features are many, a kernel value is an inner product and little else: there the product with 1, 10 and
45 columns and the symmetric one are held against NumPy's sgemm of the same shape, which has neither the
exponential nor the sum to make. Gram blocks as solvers keep them, in memory that is new, are held against a
product that is a new array, and against one that is written into an old one.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import data
import numpy as np
from table import Row
from timing import best_of, isolated

# Random dense points, and for 123 features also the rows of a9a, 11 % of whose values are not zero: the core
# uses that, a matrix product does not.
POINTS_AND_BARS = (("d = 8", 8.0), ("d = 22", 6.0), ("d = 123", 2.5), ("d = 123, rows of a9a", 2.5))
MANY_FEATURES = (
    (64, False),
    (128, False),
    (256, False),
    (784, False),
    (784, True),
)  # the last: values 0 .. 255
SGEMM_BAR = 0.85
# Seconds before each run: the threads of OpenBLAS go on spinning for some 30 ms after a product, on cores
# that the next side needs.
PAUSE = 0.1
BLOCKS = (32, 64, 128, 256, 512, 1024)  # rows NumPy takes at a time: each is tried, the best counts


def rows(n: int, threads: int, repeat: int) -> Iterator[Row]:
    for points, bar in POINTS_AND_BARS:
        ours = isolated(measure_ours, threads, n=n, points=points, threads=threads, repeat=repeat)
        plain = isolated(measure_numpy, threads, n=n, points=points, threads=1, repeat=repeat)
        pooled = isolated(measure_numpy, threads, n=n, points=points, threads=threads, repeat=repeat)
        _check_agreement(ours, plain)
        shape = f"{n:,} x {n:,}, {points}"
        yield _row(f"fused K(A, B) v, {shape}", "NumPy blocks", ours["apply"], plain, n, bar)
        yield _row(
            f"fused K(A, B) v, {shape}", "NumPy blocks in a pool of threads", ours["apply"], pooled, n, None
        )
        if "symmetric" in ours:
            yield _row(f"fused K(X, X) v, {shape}", "NumPy blocks", ours["symmetric"], plain, n, None)
    for features, pictures in MANY_FEATURES:
        yield from _many_features(features, pictures, threads, repeat)


def _many_features(features: int, pictures: bool, threads: int, repeat: int) -> Iterator[Row]:
    shape = (8192, 4096, features)
    seconds = isolated(
        measure_many_features, threads, shape=shape, pictures=pictures, threads=threads, repeat=repeat
    )
    rate = 2e-9 * np.prod([float(size) for size in shape]) / seconds["sgemm"]
    for what in ("1 column", "10 columns", "45 columns", "K(A, A), 1 column"):
        yield Row(
            f"fused product, {what}, d = {features}{', bytes' if pictures else ''}",
            "sgemm of the same shape",
            f"{seconds[what]:.3f} s",
            f"{seconds['sgemm']:.3f} s",
            seconds["sgemm"] / seconds[what],
            None if what == "45 columns" else SGEMM_BAR,
            note=f"sgemm {rate:.0f} billion multiplications and additions a second",
        )
    yield from _kept(features, pictures, seconds)


def _kept(features: int, pictures: bool, seconds: dict[str, float]) -> Iterator[Row]:
    """Gram blocks: those of 8,192 rows, half of which are as many values as the product has."""
    for against, side, bar in (
        ("sgemm, a new array too", "new sgemm", SGEMM_BAR),
        ("sgemm into an old array", "sgemm", None),
    ):
        yield Row(
            f"Gram blocks, kept, d = {features}{', bytes' if pictures else ''}",
            against,
            f"{seconds['kept']:.3f} s",
            f"{seconds[side]:.3f} s",
            seconds[side] / seconds["kept"],
            bar,
        )


def _row(what: str, against: str, seconds: float, other: dict[str, Any], n: int, bar: float | None) -> Row:
    return Row(
        what,
        against,
        f"{seconds:.3f} s",
        f"{other['seconds']:.3f} s",
        other["seconds"] / seconds,
        bar,
        note=f"{n * n / seconds / 1e9:.2f} billion values a second; NumPy in blocks of {other['block']}",
    )


def _check_agreement(ours: dict[str, Any], other: dict[str, Any]) -> None:
    for name in ("apply_sum", "symmetric_sum"):
        if name in ours and not np.isclose(ours[name], other[name], rtol=1e-4):
            raise SystemExit(f"the products differ: {name} {ours[name]} here, {other[name]} by NumPy.")


def _points(n: int, points: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(0)
    v = rng.standard_normal(n).astype(np.float32)
    if points.endswith("a9a"):
        X, _, _, _ = data.split("a9a")
        return X[rng.integers(len(X), size=n)], X[rng.integers(len(X), size=n)], v, 1 / 8
    d = int(points.removeprefix("d = "))
    A, B = rng.random((2, n, d), dtype=np.float32)
    return A, B, v, 4.0 / d


def measure_ours(n: int, points: str, threads: int, repeat: int) -> dict[str, Any]:
    from sodm import _core

    A, B, v, gamma = _points(n, points)
    kernel = _core.KernelFunction("rbf", gamma)
    b = _core.Points.dense(B, kernel)
    a = _core.Points.dense(A, kernel, like=b)
    weights = np.ascontiguousarray(v[None], np.float64)
    seconds, _ = best_of(lambda: _core.apply(b, a, weights, threads), repeat)
    result: dict[str, Any] = {
        "apply": seconds,
        "apply_sum": float(np.abs(_core.apply(b, a, weights, threads)).sum()),
    }
    if hasattr(_core, "symmetric_apply"):
        seconds, _ = best_of(lambda: _core.symmetric_apply(b, weights, threads), repeat)
        product = _core.symmetric_apply(b, weights, threads)
        result |= {"symmetric": seconds, "symmetric_sum": float(np.abs(product).sum())}
    return result


def measure_many_features(
    shape: tuple[int, int, int], pictures: bool, threads: int, repeat: int
) -> dict[str, float]:
    """Both sides in turns, in one process; the symmetric product by the pairs that sgemm would have made."""
    from sodm import _core

    n, m, features = shape
    rng = np.random.default_rng(0)
    A, B = (
        rng.integers(0, 256, size=(k, features)).astype(np.float32) / np.float32(255)
        if pictures
        else rng.random((k, features), dtype=np.float32)
        for k in (n, m)
    )
    kernel = _core.KernelFunction("rbf", 4.0 / features)
    a = _core.Points.dense(A, kernel)
    b = _core.Points.dense(B, kernel, like=a)
    out = np.empty((n, m), np.float32)
    weights = rng.standard_normal((45, n))
    one = np.eye(1, n)  # a product that looks at next to nothing of what was stored
    sides = {
        "sgemm": lambda: np.matmul(A, B.T, out=out),
        "1 column": lambda: _core.apply(a, b, weights[:1], threads),
        "10 columns": lambda: _core.apply(a, b, weights[:10], threads),
        "45 columns": lambda: _core.apply(a, b, weights, threads),
        "K(A, A), 1 column": lambda: _core.symmetric_apply(a, weights[:1], threads),
        "new sgemm": lambda: A @ B.T,
        "kept": lambda: _core.symmetric_apply(a, one, threads, cache_bytes=2**32),
    }
    best = dict.fromkeys(sides, np.inf)
    for _ in range(repeat):
        for name, run in sides.items():
            time.sleep(PAUSE)
            best[name] = min(best[name], best_of(run, 1)[0])
    for name in ("K(A, A), 1 column", "kept"):
        best[name] *= m / (n / 2)
    return best


def measure_numpy(n: int, points: str, threads: int, repeat: int) -> dict[str, Any]:
    """NumPy at its best block size; threads > 1: blocks dealt to a pool, with a single-threaded BLAS."""
    from threadpoolctl import threadpool_limits

    A, B, v, gamma = _points(n, points)
    left, right = _exponent_factors(A, B, gamma)
    with ThreadPoolExecutor(threads) as pool, threadpool_limits(1 if threads > 1 else None, "blas"):
        products = {b: _numpy_product(left, right, v, b, pool if threads > 1 else None) for b in BLOCKS}
        block = min(BLOCKS, key=lambda b: best_of(products[b], 1)[0])
        seconds, _ = best_of(products[block], repeat)
        apply_sum = float(np.abs(_numpy_product(left, right, v, block, None)()).sum())
        own, right = _exponent_factors(B, B, gamma)
        symmetric_sum = float(np.abs(_numpy_product(own, right, v, block, None)()).sum())
    return {"seconds": seconds, "block": block, "apply_sum": apply_sum, "symmetric_sum": symmetric_sum}


def _exponent_factors(A: np.ndarray, B: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Factors whose product is -gamma |a - b|^2 at once: the norms ride along as two more features."""
    a, b = A * np.float32(np.sqrt(2 * gamma)), B * np.float32(np.sqrt(2 * gamma))
    one = np.ones((len(a), 1), np.float32)
    left = np.hstack([a, -(a * a).sum(1, keepdims=True) / 2, one])
    right = np.hstack([b, one, -(b * b).sum(1, keepdims=True) / 2])
    return np.ascontiguousarray(left), np.ascontiguousarray(right.T)


def _numpy_product(
    left: np.ndarray, right: np.ndarray, v: np.ndarray, block: int, pool: ThreadPoolExecutor | None
) -> Callable[[], np.ndarray]:
    """sgemm, exp in place, gemv: a function that fills and returns the product."""
    out = np.empty(len(left), np.float32)
    workers = 1 if pool is None else pool._max_workers
    spaces = [np.empty((block, right.shape[1]), np.float32) for _ in range(workers)]

    def part(worker: int) -> None:
        for start in range(worker * block, len(left), workers * block):
            rows = left[start : start + block]
            values = np.matmul(rows, right, out=spaces[worker][: len(rows)])
            np.exp(values, out=values)
            np.matmul(values, v, out=out[start : start + block])

    def product() -> np.ndarray:
        if pool is None:
            part(0)
        else:
            list(pool.map(part, range(workers)))
        return out

    return product
