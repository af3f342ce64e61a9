"""What partitions cost, and how near the exact solution they start: the two tables of docs/partitions.md.

SODM_DATA=<folder of NAME.libsvm.xz files> python benchmarks/partitions.py
"""

from __future__ import annotations

import io
import lzma
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import minmax_scale

from sodm import _core
from sodm.partition import (
    ClusterPartitioner,
    DistributionPreservingPartitioner,
    Partitioner,
    RandomPartitioner,
    StratifiedPartitioner,
)
from sodm.partition.theory import dual_objective
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss
from sodm.solvers import exact

Array = NDArray[np.float64]
GAMMA = {"a9a": 0.125, "cod-rna": 2.0, "ijcnn1": 2.0, "skin-nonskin": 32.0}
LAM = {"a9a": 2.0**8, "cod-rna": 2.0**10, "ijcnn1": 2.0**12, "skin-nonskin": 2.0**10}


def load(name: str) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Features scaled to [0, 1] and labels of +-1, rows in random order."""
    with lzma.open(Path(os.environ["SODM_DATA"]) / f"{name}.libsvm.xz") as file:
        X, y = load_svmlight_file(io.BytesIO(file.read()))
    order = np.random.default_rng(0).permutation(len(y))
    return minmax_scale(X[order].toarray()).astype(np.float32), np.where(y[order] == y.max(), 1.0, -1.0)


def seconds(partitioner: Partitioner, X: Any, y: Any, n_partitions: int, kernel: Kernel) -> float:
    start = time.perf_counter()
    partitioner.split(X, y, n_partitions, kernel, random_state=0)
    return time.perf_counter() - start


def costs() -> None:
    n_threads = _core.resolve_threads(-1)
    print(f"Seconds for 16 partitions, {n_threads} threads, {_core.simd_name()}")
    systems = [
        StratifiedPartitioner(),
        StratifiedPartitioner(n_landmarks=1000),
        RandomPartitioner(),
        ClusterPartitioner(),
        DistributionPreservingPartitioner(),
    ]
    print("data | rows x features | " + " | ".join(map(repr, systems)) + " | 1000 pivots of 20,000 rows")
    for name, gamma in GAMMA.items():
        X, y = load(name)
        kernel = KernelEvaluator(Kernel("rbf", gamma=gamma), n_threads=n_threads)
        times = [seconds(p, X, y, 16, kernel) for p in systems]
        points = kernel.points(X[:20_000])
        start = time.perf_counter()
        _core.pivoted_cholesky(points, 1000, first=0, n_threads=n_threads)
        times.append(time.perf_counter() - start)
        print(
            f"{name} | {X.shape[0]:,} x {X.shape[1]} | " + " | ".join(f"{t:.3f}" for t in times), flush=True
        )

    X, y = load("susy-subset")
    rng = np.random.default_rng(1)
    pick = rng.integers(0, len(X), 4_000_000)
    X = X[pick] + rng.normal(0, 0.01, (len(pick), X.shape[1])).astype(np.float32)
    kernel = KernelEvaluator(Kernel("rbf", gamma=0.5), n_threads=n_threads)
    for partitioner in (StratifiedPartitioner(), RandomPartitioner()):
        taken = seconds(partitioner, X, y[pick], 64, kernel)
        print(f"4,000,000 x 18, 64 partitions, {partitioner}: {taken:.2f}")


def solve(K: Array, y: Array, loss: OdmLoss) -> Array:
    source = _core.MatrixSource(np.ascontiguousarray(K), 0.0, True)
    return exact.solve(source, y[None], np.ones(len(y)), loss, tol=1e-8).duals[0]


def concatenated(K: Array, y: Array, parts: NDArray[np.intp], loss: OdmLoss) -> Array:
    """The local solutions, each at its own rows."""
    g = np.zeros(len(y))
    for k in np.unique(parts):
        rows = np.flatnonzero(parts == k)
        g[rows] = solve(K[np.ix_(rows, rows)], y[rows], loss)
    return g


def quality() -> None:
    print("\n(d(local / K) - d(exact)) / p(exact): 1,600 rows, K = 8, upsilon = theta = 0.5, three seeds")
    systems = [
        StratifiedPartitioner(),
        StratifiedPartitioner(balance_classes=False),
        RandomPartitioner(),
        RandomPartitioner(balance_classes=False),
        DistributionPreservingPartitioner(),
        ClusterPartitioner(),
    ]
    print("data | " + " | ".join(map(repr, systems)))
    for name, gamma in GAMMA.items():
        X, y = (part[:1600] for part in load(name))
        kernel, loss = KernelEvaluator(Kernel("rbf", gamma=gamma), "double"), OdmLoss(LAM[name], 0.5, 0.5)
        K = kernel.block(X, X)
        best = dual_objective(K, y, solve(K, y, loss), loss)
        gaps = []
        for partitioner in systems:
            starts = [
                concatenated(K, y, partitioner.split(X, y, 8, kernel, seed), loss) / 8 for seed in range(3)
            ]
            gaps.append(np.mean([(dual_objective(K, y, g, loss) - best) / -best for g in starts]))
        print(f"{name} | " + " | ".join(f"{gap:.3f}" for gap in gaps), flush=True)


if __name__ == "__main__":
    costs()
    quality()
