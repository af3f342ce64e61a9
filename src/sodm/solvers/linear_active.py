"""Newton's method on the rows in play, for linear problems of many features (the core's `ActiveNewton`).

    min_w  p(w) = 1/2 |w|^2 + lam / (2 W (1-theta)^2) * sum_i s_i loss(m_i),   m_i = y_i <w, x_i> + o_i

The steps of `sodm.solvers.linear_newton`, in a form for rows that are long: margins are kept, so that a step
reads all rows once and goes as far along its direction as p falls; the system of a step is summed over the
rows outside the dead zone alone, by features or by rows, whichever are fewer, and a factor serves as long as
few rows have changed sides. Sparse rows are begun with by a few sweeps of dual coordinate descent, and their
systems solved by conjugate gradients. What is measured and when to stop is as there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sodm.problem.linear import LinearProblem, LongRows
from sodm.solvers.linear_result import History, LinearResult, relative_gap

Array = NDArray[np.float64]

MAX_SWEEPS = 30  # of coordinate descent to begin with, where no factor is made
LOOSEST = 0.1  # a step's system is solved to so much of the gradient, and better the nearer the end is
LAST_LOOSEST = 0.3  # likewise, where no more is needed to end with the step
NOISE = 1e-14  # relative size of rounding errors in p
REFINES = 0.5  # a step too small to show in p counts if it leaves no more of the gradient than this


def newton_on_active_rows(
    problem: LinearProblem,
    long: LongRows,
    start: Array,
    *,
    tol: float,
    max_iter: int,
    history: History,
    reference: Array | None = None,
) -> LinearResult:
    """Minimise until |grad p(w)| <= tol * |grad p(0)| and the relative duality gap is at most tol.

    Parameters
    ----------
    problem : LinearProblem
    long : LongRows
        Its rows, with the o_i that are added to their margins.
    start : array of shape (n_problems, width)
    tol, max_iter : numbers
    history : History
    reference : array of shape (n_problems,) or None
        |grad p(0)| if that is known, by and large. Then the result is a start for others, and what is said
        of it is not looked at again.
    """
    every = list(range(problem.n_problems))
    unit = np.ones(len(every)) if long.unit is None else long.unit
    search = long.rows.search(problem.scale, start / unit[:, None], long.offset, long.basis)
    certified, passes = reference is None, 1.0
    if reference is None:
        reference = search.gradient_at_zero() if long.offset is None else problem.gradient_at_zero()
        passes += 1
    if not np.any(start) and search.sweeps_pay():
        passes += search.sweep(MAX_SWEEPS)
    search.look(every)
    scale = np.where(reference > 0, reference, 1.0)
    n_iter = np.zeros(len(every), dtype=np.int64)
    at_rounding = np.zeros(len(every), dtype=bool)
    looked = True  # whether the margins are those of w, not sums of steps
    while True:
        w, objective, norm = search.w * unit[:, None], search.objective * unit**2, search.gradient_norm * unit
        converged = (norm <= tol * reference) & (0.5 * norm**2 <= tol * objective)
        todo = [p for p in every if not converged[p] and not at_rounding[p]]
        gap = relative_gap(objective, norm)
        ends = not todo or np.max(n_iter) >= max_iter or history.out_of_time
        if ends and certified and not looked:
            search.look(every)  # what is said of the solution is said of w itself
            passes += 1
            looked = True
            continue
        history.add("newton", w, objective, norm / scale, gap, passes)
        if ends:
            return LinearResult(
                w,
                objective,
                gap,
                norm / scale,
                n_iter,
                converged,
                "newton",
                "max_iter",
                at_rounding=at_rounding,
            )
        # Half of what may be left is enough to end with this step, if no row changes sides.
        left = norm[todo]
        needed = np.minimum(tol * reference[todo] / left, np.sqrt(2 * tol * objective[todo]) / left)
        goal = np.minimum(LOOSEST, np.sqrt(left / scale[todo]))
        goal = np.maximum(goal, np.minimum(LAST_LOOSEST, 0.5 * needed))
        passes += search.step(todo, goal)
        n_iter[todo] += 1
        looked = False
        small = objective - search.objective * unit**2 <= NOISE * np.abs(objective)
        stuck = small & (search.gradient_norm * unit > REFINES * norm)
        at_rounding[todo] = stuck[todo]
