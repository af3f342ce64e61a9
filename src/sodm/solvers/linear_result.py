"""What every linear solver returns, and the record it keeps on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinearResult:
    """A solution of the linear problems, one row or entry for each."""

    w: Array  # (n_problems, width), the constant feature's weight last
    objective: Array  # p(w)
    gap: Array  # relative duality gap
    gradient: Array  # |grad p(w)| / |grad p(0)|; for the hinge loss the relative gap again
    n_iter: NDArray[np.int64]  # Newton steps, epochs or sweeps
    converged: NDArray[np.bool_]
    solver: str
    patience: str  # the setting that says how long the solver goes on
    duals: Array | None = None  # (n_problems, n), of solvers that have them
    at_rounding: NDArray[np.bool_] | None = None  # ended short of tol because rounding errors allow no more


@dataclass
class History:
    """One record per iteration or epoch: the curves of the paper's Figures 2 and 4.

    `seconds` is training time only: the clock stands still while a record is made, so that measuring the
    curve does not change it.
    """

    accuracy: Callable[[Array], float] | None = None  # of weights, on the evaluation set
    progress: Callable[[dict[str, Any]], Any] | None = None
    time_limit: float | None = None  # seconds of training, after which a solver ends with what it has
    records: list[dict[str, Any]] = field(default_factory=list)
    _began: float = field(default_factory=time.perf_counter)
    _paused: float = 0.0

    @property
    def seconds(self) -> float:
        """Of training, so far."""
        return time.perf_counter() - self._began - self._paused

    @property
    def out_of_time(self) -> bool:
        """Whether a solver should end. Not at the first record, which is where it starts from."""
        return self.time_limit is not None and len(self.records) > 1 and self.seconds >= self.time_limit

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What happens inside takes no time."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._paused += time.perf_counter() - began

    def add(self, stage: str, w: Array, objective: Array, gradient: Array, gap: Array, passes: float) -> None:
        """Record where the solver is: weights, objective and relative gradient of each problem, and how
        many times it has been over the rows."""
        seconds = self.seconds
        with self.paused():
            record: dict[str, Any] = {
                "epoch": len(self.records),
                "seconds": seconds,
                "objective": float(np.sum(objective)),
                "gradient_norm": float(np.max(gradient)),
                "gap": float(np.max(gap)),
                "passes": float(passes),
            }
            if self.accuracy is not None:
                record["accuracy"] = self.accuracy(w)
            self.records.append(record)
            if self.progress is not None:
                self.progress({"stage": stage, "iteration": record["epoch"], "gap": record["gap"]})


def relative_gap(objective: Array, gradient_norm: Array) -> Array:
    """The duality gap over the objective; the gap is |grad p|^2 / 2 (see `sodm.problem.linear`)."""
    return 0.5 * gradient_norm**2 / np.maximum(np.abs(objective), np.finfo(float).tiny)
