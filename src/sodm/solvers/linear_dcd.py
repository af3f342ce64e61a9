"""Dual coordinate descent for the linear machine, with w maintained (after Hsieh et al. 2008).

    min_g  d(g) = 1/2 |w(g)|^2 + dual(g),   w(g) = sum_i y_i g_i x_i

One variable at a time is set to its exact minimiser. With w at hand a step costs the entries of one row:
the margin y_i <w, x_i> before it, and w <- w + (change of g_i) y_i x_i after it.

    ODM    g_i = (r + 1 - theta) / (q + a_i)  or  (r + 1 + theta) / (q + b_i)  or  0,
           q = |x_i|^2, r = q g_i - m_i, a_i = W (1-theta)^2 / (lam s_i), b_i = a_i / upsilon
    hinge  g_i = clip(g_i + (1 - m_i) / q, 0, lam s_i / W)

It is quick while lam is small beside the number of rows and slow when it is large; Newton does not mind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.linear import LinearProblem, MemoryRows
from sodm.problem.losses import HingeLoss, Loss
from sodm.solvers.linear_result import History, LinearResult, relative_gap

Array = NDArray[np.float64]


def linear_dcd(
    problem: LinearProblem,
    rows: MemoryRows,
    loss: Loss,
    *,
    tol: float,
    max_iter: int,
    history: History,
    rng: np.random.RandomState,
) -> LinearResult:
    """Sweep until |grad p(w)| <= tol * |grad p(0)| (ODM), or the relative duality gap is at most tol (hinge).

    `rows` is the source of `problem`, in C order. For the hinge loss only the rows of `problem` are used.
    """
    n_problems = problem.n_problems
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    hinge = isinstance(loss, HingeLoss)
    scale = loss.lam / rows.weight if isinstance(loss, HingeLoss) else problem.scale
    dual_loss = _core.DualLoss(hinge, rows.margin_loss, scale)
    norms = rows.core.squared_norms()
    signs = np.where(rows.labels == rows.positive[:, None], 1.0, -1.0)
    w, g = np.zeros((n_problems, rows.width)), np.zeros((n_problems, rows.n))
    reference = problem.gradient_at_zero()
    problem.source.start("none")

    def state() -> tuple[Array, Array, Array]:
        """Objective, relative gap and what is held against tol."""
        if hinge:
            objective = 0.5 * np.sum(w * w, axis=1) + _primal(loss, signs * rows.core.decisions(w), weights)
            norm = np.full(n_problems, np.inf)
        else:
            sums = problem.evaluate(range(n_problems), w)
            objective, norm = sums.loss, np.linalg.norm(sums.gradient, axis=1)
        kept = weights > 0
        dual = 0.5 * np.sum(w * w, axis=1) + [loss.dual(g[p, kept], weights[kept]) for p in range(n_problems)]
        gap = (objective + dual) / np.maximum(np.abs(objective), np.finfo(float).tiny)
        gap = np.minimum(np.maximum(gap, 0.0), relative_gap(objective, norm))
        return objective, gap, gap if hinge else norm / np.where(reference > 0, reference, 1.0)

    sweeps, passes = 0, 1.0
    while True:
        objective, gap, measure = state()
        history.add("dcd", w, objective, measure, gap, passes)
        if sweeps == max_iter or np.all(measure <= tol) or history.out_of_time:
            break
        # A look at the objective costs about as much as a sweep, so looks are taken at growing distances.
        until = min(max_iter, max(sweeps + 1, int(1.25 * sweeps)))
        before = sweeps
        while sweeps < until and (sweeps == before or not history.out_of_time):
            rows.core.dual_sweep(rows.positive, dual_loss, norms, rng.permutation(rows.n), g, w)
            sweeps += 1
        passes += 1.0 + sweeps - before
    n_iter = np.full(n_problems, sweeps, dtype=np.int64)
    return LinearResult(w, objective, gap, measure, n_iter, measure <= tol, "dcd")


def _primal(loss: Loss, margins: Array, weights: Array) -> Array:
    return np.array([loss.primal(m, weights) for m in margins])
