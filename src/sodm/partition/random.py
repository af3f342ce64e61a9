"""Partitions by chance alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sodm.partition.base import KernelLike, Partitioner
from sodm.partition.dealing import deal
from sodm.problem.row_set import RowSet


class RandomPartitioner(Partitioner):
    """Deals all rows at random: the partitions of the Cascade SVM (Graf et al., 2004).

    Parameters
    ----------
    balance_classes : bool, default=True
        Deal class by class, so that the numbers of each class differ by at most one between partitions.
        Without, a small class may be missing from some of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sodm.partition import RandomPartitioner
    >>> X, y = np.zeros((10, 1)), np.array([1, 1, 1, 1, 1, 1, 1, 1, -1, -1])
    >>> parts = RandomPartitioner().split(X, y, 2, random_state=0)
    >>> np.bincount(parts).tolist(), np.bincount(parts[y == -1]).tolist()
    ([5, 5], [1, 1])
    """

    def __init__(self, balance_classes: bool = True) -> None:
        self.balance_classes = balance_classes

    def _split(
        self,
        X: RowSet,
        classes: NDArray[np.intp],
        n_partitions: int,
        kernel: KernelLike | None,
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]:
        alike = np.zeros_like(classes)
        return deal(alike, classes if self.balance_classes else alike, n_partitions, rng)
