"""The trainer of the linear machine, from rows to weights: the choice of the solver and its run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sodm.problem.linear import RowSums
from sodm.problem.losses import Loss
from sodm.solvers.csvrg import CSVRG
from sodm.solvers.dsvrg import DSVRG
from sodm.solvers.linear_dcd import DCD
from sodm.solvers.linear_newton import NEWTON
from sodm.solvers.linear_result import History, LinearResult
from sodm.solvers.linear_solver import LinearSettings, LinearSolver, Start
from sodm.solvers.svrg import SVRG

Array = NDArray[np.float64]

SOLVERS: dict[str, LinearSolver[Any]] = {s.name: s for s in (NEWTON, DSVRG, SVRG, CSVRG, DCD)}


@dataclass(frozen=True)
class LinearContext:
    """What surrounds a training: who watches, and when to end."""

    accuracy: Callable[[Array], float] | None = None  # of weights, on the evaluation set
    progress: Callable[[dict[str, Any]], Any] | None = None
    time_limit: float | None = None
    random_state: Any = None  # None is a fixed seed


@dataclass(frozen=True)
class LinearTrained:
    """All that a training found."""

    result: LinearResult
    history: list[dict[str, Any]] = field(repr=False)
    out_of_time: bool
    seconds: float

    def summary(self) -> str:
        """One line for those who watch."""
        result = self.result
        return (
            f"{result.solver}: {int(np.max(result.n_iter))} iterations, relative gradient "
            f"{np.max(result.gradient):.2e}, gap {np.max(result.gap):.2e}, {self.seconds:.2f} s"
        )


def choose_solver(name: str, loss: Loss) -> LinearSolver[Any]:
    """The solver of this name; "auto" is Newton, or coordinate descent for a loss without a gradient."""
    if name == "auto":
        return NEWTON if loss.smooth else DCD
    return SOLVERS[name]


NO_CONTEXT = LinearContext()


def train_linear(
    source: RowSums,
    loss: Loss,
    start: Start,
    settings: LinearSettings,
    context: LinearContext = NO_CONTEXT,
) -> LinearTrained:
    """Find the weights of the linear machine over some rows, here or elsewhere.

    Parameters
    ----------
    source : RowSums
        The rows; what they must offer beyond sums depends on the solver, which says so if it is missing.
    loss : OdmLoss or HingeLoss
    start : Start
        Where to begin, with one row of weights for each problem.
    settings : LinearSettings
    context : LinearContext

    Returns
    -------
    LinearTrained
    """
    began = time.perf_counter()
    history = History(context.accuracy, context.progress, context.time_limit)
    rng = check_random_state(0 if context.random_state is None else context.random_state)
    result = choose_solver(settings.solver, loss).solve(source, loss, start, settings, history, rng)
    if not np.all(np.isfinite(result.w)) or not np.all(np.isfinite(result.objective)):
        raise ValueError("The features or targets are too large to compute with: scale them (MinMaxScaler).")
    return LinearTrained(result, history.records, history.out_of_time, time.perf_counter() - began)
