"""Partitions compared: how near the solution of all rows the solutions of their parts are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.bench.splits import Split
from sodm.bench.tuning import UPSILON
from sodm.partition import (
    ClusterPartitioner,
    DistributionPreservingPartitioner,
    RandomPartitioner,
    StratifiedPartitioner,
)
from sodm.partition.theory import dual_objective, theorem1
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss
from sodm.solvers import exact

Array = NDArray[np.float64]
ROWS, PARTS = 1600, 8
PARTITIONERS = {
    "stratified": StratifiedPartitioner(),
    "random": RandomPartitioner(balance_classes=False),
    "distribution preserving": DistributionPreservingPartitioner(),
    "cluster": ClusterPartitioner(),
}


def compare(name: str, data: Split, parameters: dict[str, float], seed: int) -> dict[str, Any]:
    """Solve all rows and the parts of a partition exactly, on a subsample.

    Returns
    -------
    dict
        start_gap: (d(local / K) - d(exact)) / p(exact), with the scale correction;
        distance: |local / K - exact| / |exact|, in the duals;
        changed: share of test rows that the average of the parts decides otherwise than the exact machine;
        and the two sides of both inequalities of Theorem 1, which is about `local` as it is.
    """
    X, y, X_test = data.X[:ROWS], data.y[:ROWS].astype(float), data.X_test[:ROWS]
    kernel = KernelEvaluator(Kernel("rbf", gamma=parameters["gamma"]), "double")
    loss = OdmLoss(parameters["lam"], UPSILON, parameters["theta"])
    K = kernel.block(X, X)
    whole = _solve(K, y, loss)
    assignment = PARTITIONERS[name].split(X, y, PARTS, kernel, seed)
    local = np.zeros(len(y))
    for k in np.unique(assignment):
        rows = np.flatnonzero(assignment == k)
        local[rows] = _solve(K[np.ix_(rows, rows)], y[rows], loss)
    theorem = theorem1(K, y, assignment, whole, local, loss)
    best, scaled = dual_objective(K, y, whole, loss), local / PARTS
    f, average = (kernel.apply(X_test, X, y * g) for g in (whole, scaled))
    return {
        "train_rows": len(y),
        "n_partitions": PARTS,
        "start_gap": (dual_objective(K, y, scaled, loss) - best) / -best,
        "distance": float(np.linalg.norm(scaled - whole) / np.linalg.norm(whole)),
        "changed": float(np.mean((f > 0) != (average > 0))),
        "theorem1_gap": theorem.objective_gap,
        "theorem1_gap_bound": theorem.objective_bound,
        "theorem1_distance": theorem.distance,
        "theorem1_distance_bound": theorem.distance_bound,
        "cut": theorem.cut,
    }


def _solve(K: Array, y: Array, loss: OdmLoss) -> Array:
    source = _core.MatrixSource(np.ascontiguousarray(K), 0.0, True)
    return exact.solve(source, y[None], np.ones(len(y)), loss, tol=1e-8).duals[0]
