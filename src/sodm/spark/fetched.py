"""Rows that were fetched to the driver not long ago, for samples overlap and are asked for again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sodm.problem.row_types import Rows, is_sparse
from sodm.spark.blocks import size_of, stack

Index = NDArray[np.intp]

MOST_BYTES = 64 * 2**20


class FetchedRows:
    """At most `MOST_BYTES` of rows, by their numbers."""

    def __init__(self) -> None:
        self._held: list[tuple[Index, Rows]] = []

    def add(self, numbers: Index, rows: Rows, most: float = MOST_BYTES) -> None:
        """Keep rows by their numbers, in ascending order; the oldest go when there are too many."""
        self._held.insert(0, (numbers, rows))
        while self._held and sum(size_of(held) for _, held in self._held) > most:
            self._held.pop()

    def get(self, numbers: Index) -> Rows | None:
        """The rows of these numbers, or None."""
        found, missing = self._find(numbers)
        if len(missing) or not found:
            return None
        if len(found) == 1:
            rows, at, _ = found[0]
            return rows[at]
        pieces = [rows[at] for rows, at, _ in found]
        whole = stack(pieces, pieces[0].shape[1], is_sparse(pieces[0]), pieces[0].dtype)
        return whole[np.argsort(np.concatenate([place for _, _, place in found]))]

    def missing(self, numbers: Index) -> Index:
        """Those of them that are not here."""
        return numbers[self._find(numbers)[1]]

    def _find(self, numbers: Index) -> tuple[list[tuple[Rows, Index, Index]], Index]:
        """Rows that have some of them, where these are there and among the numbers; and what is missing."""
        found, left = [], np.arange(len(numbers))
        for known, rows in self._held:
            if len(known) and len(left):
                at = np.minimum(np.searchsorted(known, numbers[left]), len(known) - 1)
                there = known[at] == numbers[left]
                if there.any():
                    found.append((rows, at[there], left[there]))
                    left = left[~there]
        return found, left
