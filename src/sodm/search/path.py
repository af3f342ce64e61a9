"""Machines along lam: each starts from the solution of the one before, on kernel values they all share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.chunks import chunks
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.losses import Loss
from sodm.search.task import Array, Index, Task
from sodm.solvers.exact import solve

TOL = 1e-2  # relative duality gap: scores of held-out rows do not see a smaller one
MAX_ITER = 200


@dataclass(frozen=True)
class Gram:
    """The kernel values of some rows among themselves, without an offset: all folds and losses use it.

    Attributes
    ----------
    values : ndarray of float32, shape (m, m)
    definite : bool
        Whether no eigenvalue can be negative.
    """

    values: NDArray[np.float32]
    definite: bool

    @classmethod
    def of(cls, evaluator: KernelEvaluator, X: Any, rows: Index) -> Gram:
        """Of these rows of X; of a precomputed kernel, X has the values."""
        kernel = evaluator.kernel
        definite = kernel.name in ("rbf", "laplacian", "linear")
        if evaluator.precomputed:
            return cls(np.ascontiguousarray(X[np.ix_(rows, rows)], dtype=np.float32), False)
        values = np.empty((len(rows), len(rows)), dtype=np.float32)
        A = X[rows]
        points = evaluator.points(A) if kernel.compiled else A
        for part in chunks(len(rows), len(rows)):
            values[part] = evaluator.block(A[part], points)
        return cls(values, definite)


@dataclass(frozen=True)
class Path:
    """Coefficients y g of the machines of a task, for one loss after the other.

    Attributes
    ----------
    coefficients : ndarray, shape (n_losses, n_machines, m)
    seconds : ndarray, shape (n_losses,)
    """

    coefficients: Array
    seconds: Array


def solve_path(
    gram: Gram, task: Task, losses: Sequence[Loss], offset: float, *, seed: int, n_threads: int, stop: Any
) -> Path:
    """Solve the machines of a task for all losses, the mildest first.

    Parameters
    ----------
    gram : Gram
    task : Task
    losses : sequence of Loss
        In the order in which one is a good start for the next: lam ascending.
    offset : float
        Added to all kernel values: 1 for machines with an intercept.
    seed, n_threads, stop
        As for `sodm.solvers.exact.solve`.
    """
    source = _core.MatrixSource(gram.values, offset, False, task.rows, gram.definite)
    coefficients, seconds = np.empty((len(losses), *task.signs.shape)), np.empty(len(losses))
    start = None
    for k, loss in enumerate(losses):
        began = time.perf_counter()
        result = solve(
            source,
            task.signs,
            task.weights,
            loss,
            tol=TOL,
            max_iter=MAX_ITER,
            seed=seed,
            n_threads=n_threads,
            start=start,
            stop=stop,
            offset=task.offset,
        )
        start = result.duals
        coefficients[k] = task.signs * start
        seconds[k] = time.perf_counter() - began
    return Path(coefficients, seconds)
