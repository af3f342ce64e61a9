"""DSVRG, Algorithm 2 of the paper (after Lee, Lin, Ma and Yang 2017, "Distributed stochastic variance reduced
gradient methods"): the linear machine on partitions.

K nodes hold one stratified partition each. An epoch is:

    1. Every node sums the gradients of its rows at the anchor, all at the same time; the sums are added.
    2. Node 1 takes a run of SVRG steps on rows of its own, drawn without replacement from its auxiliary
       array R_1, and passes w on to node 2, and so on to node K. The last w is the next anchor.

What is communicated in an epoch is one gradient and one w per node, whatever the number of rows. Because
partitions are stratified, each node's rows stand for all of them, so a short run on each is as good as a
long one over everything.

As printed, the inner loop makes one step per node; its text and its source mean a run, so the length of the
run is a parameter. As printed, a node whose array is used up sits out for good; here it gets a new array,
in a new order. See `variance_reduced` for the problem, the step and the solution.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sodm.partition import StratifiedPartitioner
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.linear import LinearProblem, RowSteps, Sums
from sodm.solvers.linear_result import LinearResult
from sodm.solvers.linear_solver import STEPS, LinearSolver, LinearTask
from sodm.solvers.variance_reduced import evaluate_all, run_epochs

Array = NDArray[np.float64]


def automatic_steps(n_rows: int, n_partitions: int) -> int:
    """Steps per node: about n / 16 in an epoch, when they cost as much as the gradient of all rows, but at
    least 65,536 or n, because how many steps it takes depends on lam and not on n."""
    return max(1, -(-max(n_rows // 16, min(n_rows, 2**16)) // n_partitions))


class Node:
    """The rows of one partition, given out without replacement."""

    def __init__(self, rows: NDArray[np.int64], rng: np.random.RandomState) -> None:
        self.rows, self.rng = rows, rng
        self._left = rng.permutation(rows)

    def take(self, n: int) -> NDArray[np.int64]:
        """The next n rows of the auxiliary array; it is filled anew when it runs out."""
        taken = [self._left[:n]]
        while sum(map(len, taken)) < n:
            self._left = self.rng.permutation(self.rows)
            taken.append(self._left[: n - sum(map(len, taken))])
        self._left = self._left[len(taken[-1]) :]
        return np.concatenate(taken)


class DsvrgPlan:
    """All partitions for the anchor, a run on each in turn for the steps."""

    name, exact_anchor = "dsvrg", True

    def __init__(
        self,
        problem: LinearProblem,
        partition: NDArray[np.intp],
        n_partitions: int,
        steps_per_node: int,
        rng: np.random.RandomState,
    ) -> None:
        self.problem, self.steps_per_node, self.n_rows = problem, steps_per_node, len(partition)
        self.nodes = [Node(np.flatnonzero(partition == k), rng) for k in range(n_partitions)]
        problem.source.start("none")

    def anchor(self, w: Array) -> Sums:
        return evaluate_all(self.problem, w)

    def runs(self) -> Iterator[NDArray[np.int64]]:
        return (node.take(self.steps_per_node) for node in self.nodes)

    def work(self, n_steps: int) -> float:
        return 1.0 + n_steps / self.n_rows


def stratified(
    rows: RowSteps, n_partitions: int, n_landmarks: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """The partition of each row: stratified in the feature space of the linear kernel."""
    kernel = KernelEvaluator(Kernel("linear", offset=rows.bias**2), n_threads=rows.n_threads)
    return StratifiedPartitioner(n_landmarks=n_landmarks).split(
        rows.X, rows.labels, n_partitions, kernel, rng
    )


def dsvrg(task: LinearTask, rows: RowSteps) -> LinearResult:
    """Partition the rows and run DSVRG; `rows` is the source of the problem."""
    settings = task.settings
    n_partitions = min(settings.n_partitions, rows.n)
    partition = stratified(rows, n_partitions, settings.n_landmarks, task.rng)
    steps = settings.steps_per_node
    if steps == "auto":
        steps = automatic_steps(rows.n, n_partitions)
    plan = DsvrgPlan(task.problem, partition, n_partitions, steps, task.rng)
    rows.place_nodes([node.rows for node in plan.nodes])
    return run_epochs(task, rows, plan)


DSVRG = LinearSolver("dsvrg", STEPS, needs_smooth_loss=True, patience="epochs", run=dsvrg)
