"""What a solver of the linear problem is given, what it declares to need, and the one check of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from sodm.problem.linear import LinearProblem, MemoryRows, RowSteps, RowSums
from sodm.problem.losses import Loss
from sodm.solvers.linear_result import History, LinearResult

Array = NDArray[np.float64]
Auto = Literal["auto"]
R = TypeVar("R", bound=RowSums)


@dataclass(frozen=True)
class LinearSettings:
    """How the linear problem is to be solved; the parameters of `LinearODMClassifier` of the same names."""

    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 1000
    epochs: int = 50
    step_size: float | Auto = "auto"
    n_partitions: int = 8
    n_landmarks: int = 50
    steps_per_node: int | Auto = "auto"
    radius: float | Auto = "auto"


@dataclass(frozen=True)
class Start:
    """Where to begin: the weights of each problem and, if they are known, the duals of each row."""

    w: Array  # (n_problems, width)
    duals: Array | None = None  # (n_problems, n)

    @property
    def is_cold(self) -> bool:
        return not np.any(self.w)


@dataclass(frozen=True)
class LinearTask:
    """A problem, and how to go about it."""

    problem: LinearProblem
    start: Start
    settings: LinearSettings
    history: History
    rng: np.random.RandomState


@dataclass(frozen=True)
class Need(Generic[R]):
    """What a solver's rows must be able to do."""

    rows: Callable[[RowSums], R | None]
    words: str


SUMS: Need[RowSums] = Need(lambda source: source, "rows that can be summed over")
STEPS: Need[RowSteps] = Need(lambda source: source.steppable(), "rows that can be taken one at a time")
MEMORY: Need[MemoryRows] = Need(lambda source: source.in_memory(), "all its rows in memory")


@dataclass(frozen=True)
class LinearSolver(Generic[R]):
    """A way to solve the linear problem."""

    name: str
    needs: Need[R]
    needs_smooth_loss: bool
    patience: Literal["max_iter", "epochs"]  # the setting that says how long it goes on
    run: Callable[[LinearTask, R], LinearResult]

    def check_loss(self, loss: Loss) -> None:
        """Refuse a loss that this solver cannot take."""
        if self.needs_smooth_loss and not loss.smooth:
            raise ValueError(
                f"solver={self.name!r} needs loss='odm': the hinge loss takes solver='dcd' or 'auto'."
            )

    def solve(
        self,
        source: RowSums,
        loss: Loss,
        start: Start,
        settings: LinearSettings,
        history: History,
        rng: np.random.RandomState,
    ) -> LinearResult:
        """Solve the problem of this loss over these rows, or say in one sentence what is missing."""
        self.check_loss(loss)
        rows = self.needs.rows(source)
        if rows is None:
            raise ValueError(f"solver={self.name!r} needs {self.needs.words}: use solver='newton'.")
        problem = LinearProblem(rows, len(start.w), loss)
        return self.run(LinearTask(problem, start, settings, history, rng), rows)
