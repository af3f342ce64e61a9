"""Rows that were fetched to the driver not long ago, for samples overlap and are asked for again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sodm.problem.row_types import Rows
from sodm.spark.blocks import size_of

MOST_BYTES = 64 * 2**20


class FetchedRows:
    """At most `MOST_BYTES` of rows, by their numbers."""

    def __init__(self) -> None:
        self._held: list[tuple[NDArray[np.intp], Rows]] = []

    def add(self, numbers: NDArray[np.intp], rows: Rows) -> None:
        """Keep rows by their numbers, in ascending order; the oldest go when there are too many."""
        self._held.insert(0, (numbers, rows))
        while self._held and sum(size_of(held) for _, held in self._held) > MOST_BYTES:
            self._held.pop()

    def get(self, numbers: NDArray[np.intp]) -> Rows | None:
        """The rows of these numbers, or None."""
        for known, rows in self._held:
            if 0 < len(numbers) <= len(known):
                at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
                if np.array_equal(known[at], numbers):
                    return rows[at]
        return None
