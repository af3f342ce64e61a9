"""One run of the benchmark, as data: what identifies it, and what it needs to have been run before."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

Options = tuple[tuple[str, Any], ...]

TUNING_LIMIT = 600.0  # seconds; without parameters nothing else can be run
# What a solver is tuned as; those not named here are tuned as "odm".
KINDS = {"SVC": "svc", "oneDAL": "svc"}


@dataclass(frozen=True)
class Run:
    """One line of results.

    Attributes
    ----------
    experiment : str
        What it belongs to, see `plan`.
    task : {"statistics", "tune", "fit", "partition", "pieces", "starts"}
        Which function of `tasks` does it.
    dataset, solver : str
        Names; the solver of a "tune" is the kind of machine, that of a "partition" the partitioner.
    kernel, split, seed, rows
        Parameters of the objective.
    data_options, options : pairs of names and values
        Parameters of the data set and of the solver.
    threads : int
        Cores it is held to; 0 is all there are.
    limit : float
        Seconds after which the fit is ended.
    """

    experiment: str
    task: str
    dataset: str
    solver: str = ""
    kernel: str = "rbf"
    split: str = "random"
    seed: int = 0
    rows: int | None = None
    data_options: Options = ()
    options: Options = ()
    threads: int = 0
    limit: float = 300.0

    @property
    def key(self) -> str:
        """Its identity: all but the limit, which may be raised."""
        words = [self.experiment, self.task, self.dataset, self.solver, self.kernel, self.split]
        words.append(f"seed {self.seed}")
        words += [f"{name} {value}" for name, value in (*self.data_options, *self.options)]
        words += [f"{self.rows} rows"] * (self.rows is not None) + [f"{self.threads} cores"] * bool(
            self.threads
        )
        return " / ".join(filter(None, words))

    @property
    def kind(self) -> str:
        """What its parameters are tuned as."""
        return KINDS.get(self.solver, dict(self.options).get("loss", "odm"))

    def needs(self) -> Run | None:
        """What must have been run before: parameters for a fit, the rows for everything else."""
        if self.task == "statistics":
            return None
        if self.task == "tune":
            return self.of_rows()
        tuning = replace(self, experiment="tuning", task="tune", solver=self.kind, options=(), threads=0)
        return replace(tuning, limit=max(self.limit, TUNING_LIMIT))

    def of_rows(self) -> Run:
        """The run that reads and counts the rows of its data set."""
        return Run("statistics", "statistics", self.dataset, data_options=self.data_options)

    def as_json(self) -> str:
        """For another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Run:
        """The run that `as_json` wrote."""
        values = json.loads(text)
        for name in ("data_options", "options"):
            values[name] = tuple((key, value) for key, value in values[name])
        return cls(**values)
