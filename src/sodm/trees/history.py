"""What is written down of each level; `history_` of the estimators is a list of these as dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.evaluator import Precision


@dataclass
class Seconds:
    """Wall time of one level, by what it was spent on."""

    pilot: float = 0.0
    partition: float = 0.0
    solve: float = 0.0
    merge: float = 0.0
    probe: float = 0.0
    evaluate: float = 0.0
    checkpoint: float = 0.0
    engine: float = 0.0
    """The part of `solve` in which no part was being solved."""
    kernel: float = 0.0
    """The part of `solve` that kernel values took, on average over what was solved side by side."""


@dataclass
class Record:
    """One level."""

    level: int
    n_partitions: int
    n_rows: int
    """Rows in all parts together."""
    n_support: int
    n_iter: int
    """Most Newton steps or sweeps that a part took."""
    mean_iter: float
    violation: float
    """Largest violation of the optimality conditions in any part's own problem."""
    objective: float | list[float]
    """Of the problem of all rows; a number, or one for each class."""
    gap: float | list[float]
    """Relative duality gap of the problem of all rows."""
    estimated: bool
    """Whether objective and gap are estimates from a sample of the rows."""
    changed: float | None
    """Share of the probe's rows that changed class since the level below."""
    n_kernel_evaluations: int
    seconds: Seconds
    elapsed: float
    """Seconds since training began, without those spent on `eval_set`."""
    part_seconds: list[float] = field(default_factory=list)
    accuracy: float | None = None
    """On `eval_set`."""

    def as_dict(self) -> dict[str, Any]:
        """The record as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Summary:
    """The parts of the last level taken together, one entry for each problem."""

    objective: NDArray[np.float64]
    gap: NDArray[np.float64]
    violation: NDArray[np.float64]
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]
    solver: str
    precision: Precision | None
    """That a single part needed, if it was certified."""

    @classmethod
    def of(cls, results: Sequence[dict[str, Any]]) -> Summary:
        """The worst of the parts; the solver that most rows were left to is the first part's."""

        def worst(name: str) -> NDArray[Any]:
            return np.max([result[name] for result in results], axis=0)

        converged = np.all([result["converged"] for result in results], axis=0)
        objective, gap, violation = worst("objective"), worst("gap"), worst("violation")
        solver, precision = results[0]["solver"], results[0]["precision"]
        return cls(objective, gap, violation, worst("n_iter"), converged, solver, precision)


def plain(values: NDArray[np.float64]) -> float | list[float]:
    """One number if there is one machine, else one for each, as JSON takes them."""
    return float(values[0]) if len(values) == 1 else [float(value) for value in values]
