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

from sodm.problem.linear import MemoryRows
from sodm.solvers.linear_result import LinearResult, relative_gap
from sodm.solvers.linear_solver import MEMORY, LinearSolver, LinearTask

Array = NDArray[np.float64]


def linear_dcd(task: LinearTask, rows: MemoryRows) -> LinearResult:
    """Sweep until |grad p(w)| <= tol * |grad p(0)|, or for the hinge loss, which has no gradient, until the
    relative duality gap is at most tol; `rows` is the source of the problem."""
    problem, settings, history = task.problem, task.settings, task.history
    loss, n_problems = problem.loss, problem.n_problems
    weights, signs, norms = rows.all_weights(), rows.signs(), rows.core.squared_norms()
    kept = weights > 0
    w, g = np.zeros((n_problems, rows.width)), np.zeros((n_problems, rows.n))
    if loss.smooth:
        reference = problem.gradient_at_zero()
        rows.start("none")

    def state() -> tuple[Array, Array, Array]:
        """Objective, relative gap and what is held against tol."""
        half = 0.5 * np.sum(w * w, axis=1)
        if loss.smooth:
            sums = problem.evaluate(range(n_problems), w)
            objective, norm = sums.loss, np.linalg.norm(sums.gradient, axis=1)
        else:
            margins = signs * rows.core.decisions(w)
            objective = half + [loss.primal(m, weights) for m in margins]
            norm = np.full(n_problems, np.inf)
        dual = half + [loss.dual(duals[kept], weights[kept]) for duals in g]
        gap = (objective + dual) / np.maximum(np.abs(objective), np.finfo(float).tiny)
        gap = np.minimum(np.maximum(gap, 0.0), relative_gap(objective, norm))
        return objective, gap, norm / np.where(reference > 0, reference, 1.0) if loss.smooth else gap

    sweeps, passes = 0, 1.0
    while True:
        objective, gap, measure = state()
        history.add("dcd", w, objective, measure, gap, passes)
        if sweeps == settings.max_iter or np.all(measure <= settings.tol) or history.out_of_time:
            break
        # A look at the objective costs about as much as a sweep, so looks are taken at growing distances.
        until = min(settings.max_iter, max(sweeps + 1, int(1.25 * sweeps)))
        before = sweeps
        while sweeps < until and (sweeps == before or not history.out_of_time):
            rows.dual_sweep(problem.scale, norms, task.rng.permutation(rows.n), g, w)
            sweeps += 1
        passes += 1.0 + sweeps - before
    n_iter = np.full(n_problems, sweeps, dtype=np.int64)
    converged = measure <= settings.tol
    return LinearResult(w, objective, gap, measure, n_iter, converged, "dcd", "max_iter", g)


DCD = LinearSolver("dcd", MEMORY, needs_smooth_loss=False, patience="max_iter", run=linear_dcd)
