"""SVRG (Johnson and Zhang 2013, "Accelerating stochastic gradient descent using predictive variance
reduction", Procedure SVRG with option I).

Each epoch: the gradient over all rows at the anchor, then n steps on rows drawn without replacement, that
is in a new random order each epoch. See `variance_reduced` for the problem, the step and the solution.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sodm.problem.linear import LinearProblem, MemoryRows, Sums
from sodm.solvers.linear_result import LinearResult
from sodm.solvers.linear_solver import MEMORY, LinearSolver, LinearTask
from sodm.solvers.variance_reduced import evaluate_all, run_epochs

Array = NDArray[np.float64]


class SvrgPlan:
    """All rows for the anchor, all rows once for the steps."""

    name, exact_anchor = "svrg", True

    def __init__(self, problem: LinearProblem, n_rows: int, rng: np.random.RandomState) -> None:
        self.problem, self.n_rows, self.rng = problem, n_rows, rng
        problem.source.start("none")

    def anchor(self, w: Array) -> Sums:
        return evaluate_all(self.problem, w)

    def runs(self) -> Iterator[NDArray[np.int64]]:
        yield self.rng.permutation(self.n_rows)

    def work(self, n_steps: int) -> float:
        return 1.0 + n_steps / self.n_rows


def svrg(task: LinearTask, rows: MemoryRows) -> LinearResult:
    """Run SVRG; `rows` is the source of the problem."""
    return run_epochs(task, rows, SvrgPlan(task.problem, rows.n, task.rng))


SVRG = LinearSolver("svrg", MEMORY, needs_smooth_loss=True, patience="epochs", run=svrg)
