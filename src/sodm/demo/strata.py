"""The strata of a data set in the plane, and one of the partitions they are dealt to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm.demo.data import spirals
from sodm.partition import StratifiedPartitioner
from sodm.problem.kernels import Kernel

ROWS, LANDMARKS, PARTITIONS, GAMMA = 2_400, 12, 8, 10.0


@dataclass(frozen=True)
class Strata:
    """Rows in the plane, which stratum and partition each is in, and which of them are landmarks."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    stratum: NDArray[np.intp]
    partition: NDArray[np.intp]
    landmarks: NDArray[np.intp]

    @property
    def n_partitions(self) -> int:
        """How many partitions there are."""
        return int(self.partition.max()) + 1

    def difference(self) -> float:
        """Largest difference between a stratum's or a class's share of a partition and of all rows."""
        return max(
            float(np.abs(_shares(group[self.partition == k], group) - _shares(group, group)).max())
            for group in (self.stratum, self.y)
            for k in range(self.n_partitions)
        )


def make_strata(seed: int) -> Strata:
    """Divide the spirals."""
    X, y = spirals(ROWS, seed)
    partitioner = StratifiedPartitioner(n_landmarks=LANDMARKS)
    partition = partitioner.split(X, y, PARTITIONS, Kernel("rbf", gamma=GAMMA), seed)
    return Strata(X, y, partitioner.strata_, partition, partitioner.landmarks_)


def _shares(values: NDArray[np.integer], of: NDArray[np.integer]) -> NDArray[np.float64]:
    return np.bincount(values, minlength=int(of.max()) + 1) / len(values)
