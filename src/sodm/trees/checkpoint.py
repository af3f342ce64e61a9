"""The state of a training after each level, in one file that is replaced as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.problem import Problem
from sodm.training.context import CheckpointFolder
from sodm.trees.history import Record, Seconds, Summary
from sodm.trees.merge import Index, Solved
from sodm.trees.state_file import FitIdentity, Head, Named, StateFile

NAME = "sodm-checkpoint.npz"
WORDS = ("solver", "precision")  # of the summary; the rest of it are arrays


@dataclass(frozen=True)
class State:
    """Everything that the next level depends on."""

    first: list[Index]
    """The parts of the first level."""
    solved: list[Solved]
    history: list[Record]
    summary: Summary
    evaluations: int
    shift: float
    reason: str | None


class Checkpoint:
    """The checkpoint of one training in a folder, which is made if it is not there."""

    def __init__(self, folder: CheckpointFolder, fit: FitIdentity) -> None:
        Path(folder.path).mkdir(parents=True, exist_ok=True)
        self._file = StateFile(Path(folder.path) / NAME, fit)
        found = self._file.read()
        self._state = _unpack(*found) if found and folder.resume else None

    @classmethod
    def of(cls, folder: CheckpointFolder, problem: Problem, seed: int) -> Checkpoint:
        """The checkpoint of this problem."""
        return cls(folder, FitIdentity.of(folder, problem, seed))

    def load(self) -> State | None:
        """The state that was saved last, if there is one to go on from."""
        return self._state

    def save(self, state: State) -> None:
        """Write the state in place of the last one."""
        head: Head = {"history": [record.as_dict() for record in state.history], "reason": state.reason}
        head |= {"evaluations": state.evaluations, "shift": state.shift}
        head |= {name: getattr(state.summary, name) for name in WORDS}
        self._file.write(head, _pack(state))


def _pack(state: State) -> Named:
    arrays = {f"summary_{name}": value for name, value in asdict(state.summary).items() if name not in WORDS}
    return arrays | {
        "first_rows": np.concatenate(state.first),
        "first_sizes": _sizes(state.first),
        "rows": np.concatenate([part.index for part in state.solved]),
        "sizes": _sizes([part.index for part in state.solved]),
        "represented": np.array([part.represented for part in state.solved]),
        "duals": np.hstack([part.duals for part in state.solved]),
    }


def _unpack(head: Head, arrays: Named) -> State:
    bounds = np.cumsum(arrays["sizes"])[:-1]
    rows, duals = np.split(arrays["rows"], bounds), np.split(arrays["duals"], bounds, axis=1)
    history = [Record(**{**record, "seconds": Seconds(**record["seconds"])}) for record in head["history"]]
    summary: dict[str, Any] = {name: head[name] for name in WORDS}
    summary |= {name[8:]: value for name, value in arrays.items() if name.startswith("summary_")}
    return State(
        first=np.split(arrays["first_rows"], np.cumsum(arrays["first_sizes"])[:-1]),
        solved=[
            Solved(index, float(represented), np.ascontiguousarray(part))
            for index, represented, part in zip(rows, arrays["represented"], duals, strict=True)
        ],
        history=history,
        summary=Summary(**summary),
        evaluations=head["evaluations"],
        shift=head["shift"],
        reason=head["reason"],
    )


def _sizes(parts: Sequence[Index]) -> NDArray[np.int64]:
    return np.array([len(part) for part in parts], dtype=np.int64)
