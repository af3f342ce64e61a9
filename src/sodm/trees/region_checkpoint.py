"""The regions that are finished, in files of some regions each, and the machine that they correct.

The cells follow from the rows, the seed and their size, so they are found again; f0 and that size are written
down, as the trial before need not be repeated then.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays
from sodm.problem.problem import Problem
from sodm.training.context import CheckpointFolder
from sodm.trees.state_file import FitIdentity, Head, Named, StateFile

BASE, REGIONS = "sodm-checkpoint-base.npz", "sodm-checkpoint-regions-{:05d}.npz"


class RegionCheckpoint:
    """The checkpoint of one training with regions in a folder."""

    def __init__(self, folder: CheckpointFolder, problem: Problem, seed: int) -> None:
        self._folder, self._resume = Path(folder.path), folder.resume
        self._fit = FitIdentity.of(folder, problem, seed)

    def base(self) -> tuple[NDArray[np.intp], NDArray[np.float64], float] | None:
        """Rows and coefficients of f0, and how many rows a region has, if they were saved."""
        found = self._read(BASE)
        if found is None:
            return None
        head, arrays = found
        return arrays["rows"], arrays["coefficients"], head["region_rows"]

    def save_base(
        self, rows: NDArray[np.intp], coefficients: NDArray[np.float64], region_rows: float
    ) -> None:
        """Write f0 and the size of regions down."""
        self._file(BASE).write({"region_rows": region_rows}, {"rows": rows, "coefficients": coefficients})

    def results(self, first: int) -> dict[int, Arrays]:
        """The finished ones of the regions whose file begins with this one, by number."""
        found = self._read(REGIONS.format(first))
        return {} if found is None else _unpack(*found)

    def save_results(self, first: int, results: Sequence[Arrays | None]) -> None:
        """Write down what is finished of the regions from the first on."""
        done = {first + k: result for k, result in enumerate(results) if result is not None}
        if done:
            self._file(REGIONS.format(first)).write(*_pack(done))

    def _file(self, name: str) -> StateFile:
        return StateFile(self._folder / name, self._fit)

    def _read(self, name: str) -> tuple[Head, Named] | None:
        found = self._file(name).read()
        return found if self._resume else None


def _pack(done: dict[int, Arrays]) -> tuple[Head, Named]:
    """Arrays by region and name; all else goes into the head."""
    arrays: Named = {}
    plain: dict[int, dict[str, Any]] = {}
    for region, result in done.items():
        plain[region] = {}
        for name, value in result.items():
            if isinstance(value, np.ndarray):
                arrays[f"{region} {name}"] = value
            else:
                plain[region][name] = value
    return {"regions": plain}, arrays


def _unpack(head: Head, arrays: Named) -> dict[int, Arrays]:
    done: dict[int, Arrays] = {int(region): dict(plain) for region, plain in head["regions"].items()}
    for key, value in arrays.items():
        region, _, name = key.partition(" ")
        done[int(region)][name] = value
    return done
