"""What every trainer gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sodm.problem.problem import Problem
from sodm.solvers.result import SolveResult
from sodm.training.context import Context
from sodm.training.local_machines import LocalMachines
from sodm.training.regions import Regions


@dataclass(frozen=True)
class Trained:
    """A trained machine: all that an estimator, a cluster or a model file asks for.

    Attributes
    ----------
    result : SolveResult
        Duals in the scale of the problem of all rows, and the numbers of the fit.
    classes : ndarray
        The labels that the problem is about.
    history : list of dict
        One record for each level, see `sodm.trees.history.Record`; empty for a machine solved at once.
    stop_reason : str or None
        Which rule ended the training, see `sodm.trees.stop`.
    regions : Regions or None
        The clusters of early prediction, where each has a machine of its own.
    region_of_row : ndarray of int, shape (n,), or None
        The cluster of each row of the problem.
    machines : LocalMachines or None
        Those of the regions of two scales; their members are rows of the problem by number.
    problem : Problem or None
        The one that was solved, where that is another than the one given: classes, each against the rest
        instead of in pairs.
    """

    result: SolveResult
    classes: NDArray[Any]
    history: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str | None = None
    regions: Regions | None = None
    region_of_row: NDArray[np.intp] | None = None
    machines: LocalMachines | None = None
    problem: Problem | None = None


class Trainer(Protocol):
    """A way to train, with its settings."""

    def train(self, problem: Problem, context: Context) -> Trained:
        """Solve the problem."""
