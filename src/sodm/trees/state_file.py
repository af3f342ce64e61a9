"""A file with the state of a fit: it is replaced as a whole, and read by the same fit only."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.problem import Problem
from sodm.training.context import CheckpointFolder

FORMAT = 3

Head = dict[str, Any]  # what JSON can tell
Named = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class FitIdentity:
    """What a fit is known by: a state of other data, parameters or seed is refused."""

    data: str
    parameters: str
    seed: int

    @classmethod
    def of(cls, folder: CheckpointFolder, problem: Problem, seed: int) -> FitIdentity:
        """That of the fit of this problem."""
        return cls(data_fingerprint(problem), folder.parameters, seed)


@dataclass(frozen=True)
class StateFile:
    """One file of one fit."""

    path: Path
    fit: FitIdentity

    def read(self) -> tuple[Head, Named] | None:
        """What was written last, None if nothing was; the state of another fit is refused."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            head = json.loads(str(arrays.pop("head")))
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(f"The checkpoint {self.path} cannot be read ({error}): remove it.") from error
        if head.get("format") != FORMAT:
            self._refuse("was written by another version of sodm")
        for what, ours in (("data", self.fit.data), ("parameters", self.fit.parameters)):
            if head[what] != ours:
                self._refuse(f"is of a fit with other {what}")
        if head["seed"] != self.fit.seed:
            self._refuse("is of a fit with another random_state")
        return head, arrays

    def write(self, head: Head, arrays: Named) -> None:
        """Write the state; a reader finds either the old file or the new one, whole."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fit = self.fit
        head = {
            "format": FORMAT,
            "data": fit.data,
            "parameters": fit.parameters,
            "seed": fit.seed,
            **head,
        }
        handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".sodm-", suffix=".npz")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, allow_pickle=False, head=np.array(json.dumps(head)), **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _refuse(self, why: str) -> None:
        raise ValueError(f"The checkpoint {self.path} {why}: remove it, or choose another checkpoint_dir.")


def data_fingerprint(problem: Problem) -> str:
    """A digest of rows, labels, weights and warm start, the same for dense and CSR."""
    digest = hashlib.sha256(str(problem.rows.shape).encode())
    start = np.empty(0) if problem.start is None else problem.start
    for array in (problem.rows.hashes(), problem.signs, problem.weights, start):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
