"""What SVRG, DSVRG and CSVRG share: epochs of an anchor gradient and a run of cheap steps.

    min_w  p(w) = 1/n sum_i f_i(w),
    f_i(w) = 1/2 |w|^2 + n s_i lam / (2 W (1-theta)^2) * [ (1-theta-m_i)_+^2 + upsilon (m_i-1-theta)_+^2 ]

    w  weights of a problem          x_i, s_i, W  rows, weights, their sum        n  rows
    m_i  y_i <w, x_i>, the margin    anchor       the w that an epoch begins with

An epoch takes the gradient at the anchor, h = grad p(anchor), over all rows (or over what stands for them),
and then many steps on single rows whose variance vanishes as w and the anchor approach the optimum:

    w <- w - step * ( grad f_i(w) - grad f_i(anchor) + h ).

The methods differ in where h comes from and which rows the steps take: those are the two parts of a `Plan`.
The w of the last step is the next anchor; the last anchor is the solution, `w` of the `LinearResult`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sodm.problem.linear import LinearProblem, RowSteps, Sums
from sodm.solvers.linear_result import History, LinearResult, relative_gap
from sodm.solvers.linear_solver import LinearTask

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

RISE = 1e-3  # an epoch that raises the anchor's objective by more than this share of it has diverged
SMALLEST_STEP = 2.0**-40  # of the first step size, or of 1 if that is less; below, something else is wrong


class Plan(Protocol):
    """One of the three methods."""

    name: str
    exact_anchor: bool  # whether the anchor's gradient is that of all rows

    def anchor(self, w: Array) -> Sums:
        """Objective and gradient at the anchor."""

    def runs(self) -> Iterator[Rows]:
        """The rows of one epoch's steps, in runs that are taken one after the other."""

    def work(self, n_steps: int) -> float:
        """What an epoch of so many steps costs, in passes over all rows."""


def safe_step(rows: RowSteps, scale: float, loss_curvature: float = 1.0) -> float:
    """1 / (2 L), L the largest smoothness constant of an f_i: 1 + n s_i |x_i|^2 lam / (W (1-theta)^2)."""
    return 0.5 / (1.0 + rows.n * scale * loss_curvature * rows.largest_square())


def run_epochs(task: LinearTask, rows: RowSteps, plan: Plan) -> LinearResult:
    """Epochs until the anchor's gradient is at most tol times that at zero, or there are no epochs left.

    An epoch that ends higher than it began, or nowhere at all, is taken back and repeated with half the step.
    """
    problem, settings, history = task.problem, task.settings, task.history
    scale = problem.scale
    step = safe_step(rows, scale) if settings.step_size == "auto" else settings.step_size
    first_step, diverged = step, 0  # the epoch that first diverged
    reference = problem.gradient_at_zero()
    w, passes, done = task.start.w.copy(), 0.0, 0
    here = plan.anchor(w)
    while True:
        _record(history, plan, problem, w, here, reference, passes)
        norm = np.linalg.norm(here.gradient, axis=1)
        if done == settings.epochs or np.all(norm <= settings.tol * reference) or history.out_of_time:
            break
        done += 1
        there, n_steps = w.copy(), 0
        for run in plan.runs():
            rows.svrg_steps(scale * rows.n, step, run, w, here.gradient - w, there)
            n_steps += len(run)
        passes += plan.work(n_steps)
        beyond = plan.anchor(there) if np.all(np.isfinite(there)) else None
        if beyond is not None and np.all(beyond.loss <= here.loss + RISE * np.abs(here.loss)):
            w, here = there, beyond
            continue
        diverged = diverged or done
        step *= 0.5
        if step < SMALLEST_STEP * min(1.0, first_step):
            break
    if diverged:
        warnings.warn(
            f"{plan.name} diverged with a step of {first_step:.2e} in epoch {diverged}; each epoch that did "
            f"was taken back and the step halved, down to {step:.1e}. "
            "Set step_size to that or less, or to 'auto'.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return _result(problem, plan, w, here, reference, done, settings.tol)


def _record(
    history: History,
    plan: Plan,
    problem: LinearProblem,
    w: Array,
    here: Sums,
    reference: Array,
    passes: float,
) -> None:
    with history.paused():
        exact = here if plan.exact_anchor else evaluate_all(problem, w)
    norm = np.linalg.norm(exact.gradient, axis=1)
    relative = norm / np.where(reference > 0, reference, 1.0)
    history.add(plan.name, w, exact.loss, relative, relative_gap(exact.loss, norm), passes)


def _result(
    problem: LinearProblem, plan: Plan, w: Array, here: Sums, reference: Array, done: int, tol: float
) -> LinearResult:
    converged = np.linalg.norm(here.gradient, axis=1) <= tol * reference
    exact = here if plan.exact_anchor else evaluate_all(problem, w)
    norm = np.linalg.norm(exact.gradient, axis=1)
    return LinearResult(
        w,
        exact.loss,
        relative_gap(exact.loss, norm),
        norm / np.where(reference > 0, reference, 1.0),
        np.full(len(w), done, dtype=np.int64),
        converged,
        plan.name,
        "epochs",
    )


def evaluate_all(problem: LinearProblem, w: Array) -> Sums:
    """Objective and gradient of all problems over all rows; `problem.source.start("none")` comes before."""
    return problem.evaluate(range(problem.n_problems), w)
