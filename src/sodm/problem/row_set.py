"""The rows of a training problem, wherever they are: what a set of rows offers.

Trainers and partitioners ask little of rows: some of them by number (samples, landmarks, support vectors), a
small result for each of them (its stratum, its hash), and sums over them (the values of a machine that is
made of them).

    array_rows.ArrayRows        an array or CSR matrix in memory
    sodm.spark.rows.ClusterRows blocks on the machines of a cluster
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.hashing import hash_rows
from sodm.problem.row_types import Rows
from sodm.problem.variance import variance_from_moments

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# Added to the labels for a second hash, where rows cannot be compared because they are not in one place.
_OTHER = 2**32


class RowSet(ABC):
    """Rows that are worked on where they are.

    Attributes
    ----------
    shape : tuple of two ints
    sparse : bool
        Whether rows come as CSR matrices.
    in_memory : bool
        Whether all rows are at hand. Otherwise every pass over them costs a job somewhere else.
    """

    shape: tuple[int, int]
    sparse: bool
    in_memory: bool

    # ------------------------------------------------------------------- what an implementation must give

    @abstractmethod
    def __getitem__(self, index: Index | slice) -> Rows:
        """The rows of these numbers, brought here as an array or CSR matrix; for few rows."""

    @abstractmethod
    def select(self, index: Index, n_threads: int = 1) -> RowSet:
        """The rows of these numbers, left where they are; those in this memory are copied by the threads."""

    @abstractmethod
    def map_rows(
        self, function: Callable[..., NDArray[Any]], own: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """One result for each row, in the order of the rows.

        Parameters
        ----------
        function : callable
            Takes a block of rows, and gives one entry for each of them, which may depend on that row only.
        own : array with one entry for each row, optional
            The function takes its rows' entries as a second argument.
        """

    @abstractmethod
    def sum_over_rows(self, function: Callable[[Rows, Array], Array], coefficients: Array) -> Array:
        """The sum over all blocks of what a function makes of their rows and coefficients.

        Parameters
        ----------
        function : callable
            Takes rows and their coefficients, of shape (n_problems, m).
        coefficients : ndarray, shape (n_problems, n)
            Not all of them zero; rows whose coefficients are all zero are left out.
        """

    # ------------------------------------------------------------- what follows, unless there is a better way

    def bring(self, index: Index) -> bool:
        """Have rows at hand that will be asked for in several calls; False if they are too many for that."""
        return True

    def gather(self) -> Rows:
        """All rows, brought here as one array or CSR matrix."""
        return self[np.arange(self.shape[0])]

    def hashes(self, labels: NDArray[np.int64] | None = None, n_threads: int = 1) -> NDArray[np.uint64]:
        """A hash of the values, and label, of each row."""
        return self.map_rows(partial(hash_rows, n_threads=n_threads), labels)

    def find_repeats(
        self, labels: NDArray[np.int64], n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first of each set of equal rows, ordered by their hashes, and for every row its place there.

        Rows that are not in one place are taken for equal if 128 bits of hashes are.
        """
        hashes = self.map_rows(partial(_two_hashes, n_threads), labels)
        order = np.argsort(hashes[:, 0], kind="stable")  # the first of equal rows stays the first
        in_order = hashes[order]
        new = np.append(True, in_order[1:, 0] != in_order[:-1, 0])
        if np.any(in_order[1:, 1][~new[1:]] != in_order[:-1, 1][~new[1:]]):  # unlikely: half a hash is equal
            order = np.lexsort((hashes[:, 1], hashes[:, 0]))
            in_order = hashes[order]
            new = np.append(True, np.any(in_order[1:] != in_order[:-1], axis=1))
        group = np.empty(len(order), dtype=np.int64)
        group[order] = np.cumsum(new) - 1
        return order[new].astype(np.int64), group

    def variance(self, shares: Array, n_threads: int = 1) -> float:
        """Variance of all values, each row counted by its share; the shares add up to 1."""
        return variance_from_moments(self.map_rows, self.shape, shares)


def _two_hashes(n_threads: int, rows: Rows, labels: NDArray[np.int64]) -> NDArray[np.uint64]:
    both = (hash_rows(rows, of, n_threads) for of in (labels, labels + _OTHER))
    return np.column_stack(list(both))
