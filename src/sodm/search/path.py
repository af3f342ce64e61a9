"""Machines along lam: each starts from the solution of the one before, on kernel values they all share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.chunks import chunks
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.losses import Loss, OdmLoss, TargetLoss
from sodm.problem.row_types import Rows
from sodm.search.task import Array, Index, Task
from sodm.solvers.exact import violation_tolerance

STEPS = 2.0  # over the gap that is asked for: so many a solver may take


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
    def of(cls, evaluator: KernelEvaluator, X: Rows, rows: Index) -> Gram:
        """Of these rows of X; of a precomputed kernel, X has the values."""
        kernel = evaluator.kernel
        definite = kernel.name in ("rbf", "laplacian", "linear")
        if evaluator.precomputed:
            return cls(np.ascontiguousarray(X[np.ix_(rows, rows)], dtype=np.float32), False)
        A = X[rows]
        if kernel.compiled:
            return cls(_core.gram(evaluator.points(A), evaluator.n_threads), definite)
        values = np.empty((len(rows), len(rows)), dtype=np.float32)
        for part in chunks(len(rows), len(rows)):
            values[part] = evaluator.block(A[part], A)
        return cls(values, definite)


@dataclass(frozen=True)
class Path:
    """Coefficients y g of the machines of a task, for one lam after the other.

    Attributes
    ----------
    coefficients : ndarray, shape (n_lams, n_machines, m)
    seconds : ndarray, shape (n_lams,)
    held : ndarray, shape (n_lams, n_machines, n_held)
        f at the rows held out, if they are in the Gram matrix.
    """

    coefficients: Array
    seconds: Array
    held: Array

    def after(self, count: int) -> Path:
        """Without the first `count` lams, which were on the way: their time is that of the next."""
        seconds = self.seconds[count:].copy()
        seconds[0] += self.seconds[:count].sum()
        return Path(self.coefficients[count:], seconds, self.held[count:])


@dataclass(frozen=True)
class Chain:
    """Tasks on one Gram matrix, for losses that follow each other.

    Attributes
    ----------
    gram : Gram
    tasks : sequence of Task
    held : sequence of ndarrays or None
        For each task the positions in the Gram matrix at which f is wanted.
    losses : sequence of Loss
        In the order in which one is a good start for the next: lam ascending. They differ in nothing else.
    offset : float
        Added to all kernel values: 1 for machines with an intercept.
    start : sequence of Path or None
        Of the same tasks for a smaller lam: the last of each is gone on from.
    """

    gram: Gram
    tasks: Sequence[Task]
    held: Sequence[Index | None]
    losses: Sequence[Loss]
    offset: float
    start: Sequence[Path] | None = None

    def for_core(self) -> list[_core.PathTask]:
        loss = self.losses[0]
        theta = float(loss.theta) if isinstance(loss, OdmLoss) else 0.0
        lams = np.array([one.lam for one in self.losses])
        return [
            _core.PathTask(
                self.gram.values,
                self.offset,
                self.gram.definite,
                task.rows,
                np.ascontiguousarray(task.signs),
                np.ascontiguousarray(task.weights),
                None if task.offset is None else np.ascontiguousarray(task.offset),
                theta,
                task.share * lams,
                None if self.start is None else task.signs * self.start[k].coefficients[-1],
                self.held[k],
            )
            for k, task in enumerate(self.tasks)
        ]


def solve_paths(
    chains: Sequence[Chain], *, tol: float, seed: int, n_threads: int, stop: _core.StopToken | None
) -> list[list[Path]]:
    """Solve the machines of all tasks for all losses, the mildest first, in one call of the core.

    The losses of all chains are of one kind, with the same upsilon. `tol` is the relative duality gap, and
    `seed`, `n_threads` and `stop` are as for `sodm.solvers.exact.solve`.
    """
    loss = chains[0].losses[0]
    odm = loss if isinstance(loss, OdmLoss) else None
    found = iter(
        _core.solve_paths(
            [task for chain in chains for task in chain.for_core()],
            loss="targets" if isinstance(odm, TargetLoss) else "odm" if odm else "hinge",
            upsilon=float(odm.upsilon) if odm else 1.0,
            tol=tol,
            violation=violation_tolerance(tol),
            max_iter=round(STEPS / tol),
            seed=seed,
            n_threads=n_threads,
            stop=stop,
        )
    )
    return [[Path(*next(found)) for _ in chain.tasks] for chain in chains]
