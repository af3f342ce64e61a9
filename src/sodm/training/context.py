"""What a training may use, and whom it tells."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.engines.base import Engine
from sodm.problem.evaluator import KernelEvaluator, Precision
from sodm.problem.kernels import Kernel
from sodm.problem.problem import Problem

Progress = Callable[[dict[str, Any]], Any]


class Evaluation(Protocol):
    """Rows not trained on, wherever they are: the accuracy there is written down after each level."""

    def accuracy(self, problem: Problem, kernel: KernelEvaluator, duals: NDArray[np.float64]) -> float:
        """The share of them that the machine with these duals gives their own class."""

    def accuracy_of(self, values: Callable[[Any], NDArray[np.float64]], classes: NDArray[Any]) -> float:
        """The share of them that f, of shape (m, n_problems) for m rows, gives their own class."""


@dataclass(frozen=True)
class CheckpointFolder:
    """Where a training writes its state down, and from where it goes on.

    Attributes
    ----------
    path : path
    parameters : str
        A fingerprint of all that the machine depends on besides the data and the seed.
    resume : bool
        Whether to go on from a state that is found there. False where the fingerprint does not tell all:
        then it is replaced.
    """

    path: str | os.PathLike[str]
    parameters: str
    resume: bool = True


@dataclass(frozen=True)
class Context:
    """Everything about running, and nothing about the problem.

    Attributes
    ----------
    n_threads : int
        No result depends on it.
    precision : {"single", "double"}
        Of kernel values.
    cache_bytes : int
        Kernel values that may be kept, by all that is solved at the same time.
    seed : int
    engine : Engine or None
        Where parts are solved; None is the threads of this process.
    progress : callable or None
        Told what is being done.
    evaluation : Evaluation or None
    time_limit : float or None
        Seconds, for trainers that can end early.
    stop : StopToken of the core, or None
        Ends the training from another thread: it then raises `_core.Interrupted`.
    checkpoint : CheckpointFolder or None
    """

    n_threads: int = 1
    precision: Precision = "single"
    cache_bytes: int = 1000 << 20
    seed: int = 0
    engine: Engine | None = None
    progress: Progress | None = None
    evaluation: Evaluation | None = None
    time_limit: float | None = None
    stop: _core.StopToken | None = None
    checkpoint: CheckpointFolder | None = None

    @property
    def threads_here(self) -> int:
        """Threads for what is done in this process; `n_threads` are for what is sent to rows elsewhere."""
        here = None if self.engine is None else self.engine.threads_here
        return self.n_threads if here is None else here

    def evaluator(self, kernel: Kernel) -> KernelEvaluator:
        """What computes the values of a kernel, and may be sent to rows."""
        return KernelEvaluator(kernel, self.precision, self.n_threads)

    def evaluator_here(self, kernel: Kernel) -> KernelEvaluator:
        """What computes the values of a kernel in this process."""
        return KernelEvaluator(kernel, self.precision, self.threads_here)
