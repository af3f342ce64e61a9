"""The state of a training after each level, in one file that is replaced as a whole."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
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

NAME = "sodm-checkpoint.npz"
FORMAT = 2
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
    """The checkpoint of one training in a folder.

    Parameters
    ----------
    folder : CheckpointFolder
        Made if it is not there.
    data : str
        A fingerprint of the rows; a checkpoint with other data, parameters or seed is refused.
    seed : int
    """

    def __init__(self, folder: CheckpointFolder, data: str, seed: int) -> None:
        self.path = Path(folder.path) / NAME
        self.data, self.parameters, self.seed = data, folder.parameters, seed
        self._state: State | None = None
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return
        head, arrays = self._read()
        for what, ours in (("data", self.data), ("parameters", self.parameters)):
            if head[what] != ours:
                self._refuse(f"is of a fit with other {what}")
        if head["seed"] != seed:
            self._refuse("is of a fit with another random_state")
        if folder.resume:
            self._state = _unpack(head, arrays)

    @classmethod
    def of(cls, folder: CheckpointFolder, problem: Problem, seed: int) -> Checkpoint:
        """The checkpoint of this problem."""
        return cls(folder, data_fingerprint(problem), seed)

    def _read(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            head = json.loads(str(arrays.pop("head")))
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(f"The checkpoint {self.path} cannot be read ({error}): remove it.") from error
        if head.get("format") != FORMAT:
            self._refuse("was written by another version of sodm")
        return head, arrays

    def _refuse(self, why: str) -> None:
        raise ValueError(f"The checkpoint {self.path} {why}: remove it, or choose another checkpoint_dir.")

    def load(self) -> State | None:
        """The state that was saved last, if there is one to go on from."""
        return self._state

    def save(self, state: State) -> None:
        """Write the state; a reader finds either the old file or the new one, whole."""
        head = {"format": FORMAT, "data": self.data, "parameters": self.parameters, "seed": self.seed}
        head |= {"history": [record.as_dict() for record in state.history], "reason": state.reason}
        head |= {"evaluations": state.evaluations, "shift": state.shift}
        head |= {name: getattr(state.summary, name) for name in WORDS}
        handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".sodm-", suffix=".npz")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, allow_pickle=False, head=np.array(json.dumps(head)), **_pack(state))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _pack(state: State) -> dict[str, Any]:
    arrays = {f"summary_{name}": value for name, value in asdict(state.summary).items() if name not in WORDS}
    return arrays | {
        "first_rows": np.concatenate(state.first),
        "first_sizes": _sizes(state.first),
        "rows": np.concatenate([part.index for part in state.solved]),
        "sizes": _sizes([part.index for part in state.solved]),
        "represented": np.array([part.represented for part in state.solved]),
        "duals": np.hstack([part.duals for part in state.solved]),
    }


def _unpack(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> State:
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


def data_fingerprint(problem: Problem) -> str:
    """A digest of rows, labels, weights and warm start, the same for dense and CSR."""
    digest = hashlib.sha256(str(problem.rows.shape).encode())
    start = np.empty(0) if problem.start is None else problem.start
    for array in (problem.rows.hashes(), problem.signs, problem.weights, start):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
