"""The scale correction by itself: where a merged problem starts, and how far it is from there.

Parts are solved apart, then all their rows together by coordinate descent: from zero, from the parts' duals
as they are (the paper's), and from those divided by the number of parts (ours).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sodm.bench.splits import Split
from sodm.bench.tuning import UPSILON
from sodm.partition import StratifiedPartitioner
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss
from sodm.solvers.exact import solve

ROWS, ROWS_PER_PART = 6400, 400
LAMS = (2.0**4, 2.0**8, 2.0**12)
FORMS = ("zero", "literal", "scaled")


def starts(data: Split, parameters: dict[str, float], lam: float, seed: int) -> dict[str, Any]:
    """The dual gap of each start in units of the objective, and sweeps from there to a gap of 1e-3."""
    X, signs = data.X[:ROWS], data.y[None, :ROWS].astype(float)
    n, kernel = len(X), KernelEvaluator(Kernel("rbf", parameters["gamma"]))
    loss, ones, count = OdmLoss(lam, UPSILON, parameters["theta"]), np.ones(n), max(2, n // ROWS_PER_PART)
    part = StratifiedPartitioner().split(X, signs[0], count, kernel, seed)
    literal = np.zeros((1, n))
    for k in range(count):
        at = np.flatnonzero(part == k)
        literal[:, at] = solve(kernel.source(X[at]), signs[:, at], ones[at], loss).duals
    best = float(solve(kernel.source(X), signs, ones, loss, tol=1e-6).objective[0])
    found: dict[str, Any] = {"train_rows": n, "n_partitions": count, "lam": lam}
    for form, start in zip(FORMS, (0 * literal, literal, literal / count), strict=True):
        coefficients = (signs * start)[0]
        dual = coefficients @ kernel.apply(X, X, coefficients) / 2 + loss.dual(start[0], ones)
        swept = solve(kernel.source(X), signs, ones, loss, solver="dcd", start=start)
        found |= {f"{form}_gap": float(dual + best) / best, f"{form}_sweeps": int(swept.n_iter[0])}
    return found
