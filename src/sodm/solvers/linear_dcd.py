"""Dual coordinate descent for the linear machine, with w maintained (Hsieh et al. 2008, "A dual coordinate
descent method for large-scale linear SVM", Algorithm 1).

    min_g  d(g) = 1/2 |w(g)|^2 + dual(g),   w(g) = sum_i y_i g_i x_i

    g_i  dual of row i, signed        x_i, y_i, s_i, W  rows, signs, weights, the sum of the weights
    q    |x_i|^2                      m_i               y_i <w, x_i>, the margin
    r    q g_i - m_i                  dual              of the loss, see `sodm.problem.losses`

One variable at a time is set to its exact minimiser. With w at hand a step costs the entries of one row:
the margin y_i <w, x_i> before it, and w <- w + (change of g_i) y_i x_i after it.

    ODM    g_i = (r + 1 - theta) / (q + a_i)  or  (r + 1 + theta) / (q + b_i)  or  0,
           a_i = W (1-theta)^2 / (lam s_i), b_i = a_i / upsilon
    hinge  g_i = clip((r + 1) / q, 0, lam s_i / W)

It is quick while lam is small beside the number of rows and slow when it is large; Newton does not mind.

The solution is `w` of the `LinearResult`, its duals are `duals`: with them the next fit of the same rows
begins where this one has ended.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sodm.problem.linear import MemoryRows
from sodm.solvers.linear_result import LinearResult, relative_gap
from sodm.solvers.linear_solver import MEMORY, LinearSolver, LinearTask

Array = NDArray[np.float64]

TINY = np.finfo(float).tiny


def linear_dcd(task: LinearTask, rows: MemoryRows) -> LinearResult:
    """Sweep until |grad p(w)| <= tol * |grad p(0)|, or for the hinge loss, which has no gradient, until the
    relative duality gap is at most tol; `rows` is the source of the problem."""
    settings, history = task.settings, task.history
    state = DualState(task, rows)
    sweeps, passes = 0, 1.0
    while True:
        objective, gap, measure = state.assess()
        history.add("dcd", state.w, objective, measure, gap, passes)
        if np.all(measure <= settings.tol) or sweeps == settings.max_iter or history.out_of_time:
            break
        # A look at the objective costs about as much as a sweep, so looks are taken at growing distances.
        until = min(settings.max_iter, max(sweeps + 1, int(1.25 * sweeps)))
        before = sweeps
        while sweeps < until and (sweeps == before or not history.out_of_time):
            state.sweep(task.rng.permutation(rows.n))
            sweeps += 1
        passes += 1.0 + sweeps - before
    n_iter = np.full(len(measure), sweeps, dtype=np.int64)
    converged = measure <= settings.tol
    return LinearResult(
        state.w, objective, gap, measure, n_iter, converged, "dcd", "max_iter", duals=state.duals
    )


class DualState:
    """The duals and the w of all problems, and what is known of them."""

    def __init__(self, task: LinearTask, rows: MemoryRows) -> None:
        self.problem, self.rows, self.loss = task.problem, rows, task.problem.loss
        self.weights, self.norms = rows.all_weights(), rows.core.squared_norms()
        self.kept = self.weights > 0
        self.signs = rows.signs()
        if self.loss.smooth:
            reference = self.problem.gradient_at_zero()
            self.reference = np.where(reference > 0, reference, 1.0)
            rows.start("none")
        self.duals = self._first_duals(task)
        self.w = rows.weights_of_duals(self.duals)

    def sweep(self, order: NDArray[np.int64]) -> None:
        """One sweep over the rows in this order."""
        self.rows.dual_sweep(self.problem.scale, self.norms, order, self.duals, self.w)

    def assess(self) -> tuple[Array, Array, Array]:
        """Objective, relative gap and what is held against tol."""
        objective, norm = self._primal(self.w)
        gap = (objective + self._dual(self.duals, self.w)) / np.maximum(np.abs(objective), TINY)
        gap = np.minimum(np.maximum(gap, 0.0), relative_gap(objective, norm))
        return objective, gap, norm / self.reference if self.loss.smooth else gap

    def _primal(self, w: Array) -> tuple[Array, Array]:
        """p(w) and |grad p(w)|, which is infinite where there is none."""
        if self.loss.smooth:
            sums = self.problem.evaluate(range(len(w)), w)
            return sums.loss, np.linalg.norm(sums.gradient, axis=1)
        losses = [self.loss.primal(m, self.weights) for m in self.signs * self.rows.core.decisions(w)]
        return 0.5 * np.sum(w * w, axis=1) + losses, np.full(len(w), np.inf)

    def _dual(self, duals: Array, w: Array) -> Array:
        """d(g) of duals whose w this is."""
        terms = [self.loss.dual(g[self.kept], self.weights[self.kept]) for g in duals]
        return 0.5 * np.sum(w * w, axis=1) + terms

    # ------------------------------------------------------------------------------- where to begin

    def _first_duals(self, task: LinearTask) -> Array:
        """Those of the last fit, or those that its w tells, or zero: the first, problem by problem, that are
        better than zero. d(0) = 0, whatever the rows."""
        start, shape = task.start, (self.problem.n_problems, self.rows.n)
        chosen = np.zeros(shape)
        if start.is_cold:
            return chosen
        lifted = np.zeros(shape)
        margins = self.signs * self.rows.core.decisions(start.w)
        lifted[:, self.kept] = self.loss.lift(margins[:, self.kept], self.weights[self.kept])
        known = [lifted]
        if start.duals is not None and start.duals.shape == shape:
            known.append(self.loss.feasible(start.duals, self.weights))
        for duals in known:
            better = self._dual(duals, self.rows.weights_of_duals(duals)) < 0
            chosen[better] = duals[better]
        return chosen


DCD = LinearSolver("dcd", MEMORY, needs_smooth_loss=False, patience="max_iter", run=linear_dcd)
