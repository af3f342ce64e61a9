"""The rows that a task was brought, by their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.row_types import Rows
from sodm.spark.blocks import stack
from sodm.spark.routing import Piece


@dataclass(frozen=True)
class RowForm:
    """What all rows of a DataFrame have in common."""

    n_features: int
    as_csr: bool
    dtype: np.dtype[Any]


class TaskRows:
    """The rows of a task, put together from pieces."""

    def __init__(self, pieces: Iterable[Piece], form: RowForm) -> None:
        pieces = list(pieces)
        self._rows = stack([piece.rows for piece in pieces], form.n_features, form.as_csr, form.dtype)
        numbers = np.concatenate([np.empty(0, dtype=np.int64), *(piece.numbers for piece in pieces)])
        self._order = np.argsort(numbers)
        self._numbers = numbers[self._order]

    def take(self, numbers: NDArray[np.integer]) -> Rows:
        """The rows of these numbers."""
        at = np.searchsorted(self._numbers, numbers)
        found = at < len(self._numbers)
        found[found] = self._numbers[at[found]] == numbers[found]
        if not found.all():
            raise RuntimeError(
                f"A part came with {np.count_nonzero(found)} rows instead of {len(numbers)}: the DataFrame "
                "gave other rows when it was computed again. Save it, or checkpoint it, before the fit."
            )
        return self._rows[self._order[at]]
