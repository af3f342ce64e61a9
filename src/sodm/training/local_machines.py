"""A machine for each cell of the space, on top of one for all of it: f = f0 + what the cells say."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.cells import Cells
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.query_blocks import query_blocks
from sodm.problem.row_types import Rows

Array = NDArray[np.float64]

AT_ONCE = 16_384  # rows of a task, at most: so long does Ctrl-C wait for it


@dataclass(frozen=True)
class LocalMachines:
    """Support vectors by number, with what each cell makes of its own.

    Attributes
    ----------
    cells : Cells
    members : ndarray of int, shape (n_members,)
        The support vectors of the first cell, of the second, ...; then those of f0. A vector on a border is
        a member of two cells.
    bounds : ndarray of int, shape (n_cells + 2,)
        Where the members of each cell begin, those of f0, and where they end.
    coefficients : ndarray, shape (n_problems, n_members)
    intercept : float
        What the kernel adds to every value of it (`Kernel.offset`).
    """

    cells: Cells
    members: NDArray[np.int64]
    bounds: NDArray[np.int64]
    coefficients: Array
    intercept: float

    def decide(self, kernel: KernelEvaluator, X: Rows, parts: list[Any]) -> Array:
        """f at the rows of X, shape (n, n_problems); `parts` are the `vectors` of the cells and of f0.

        Cells are looked at side by side; what comes out for a row depends on that row only.
        """
        places = self.cells.places(X, kernel.n_threads)
        values = np.zeros((X.shape[0], len(self.coefficients)))
        base = len(self.cells)
        if parts[base] is not None:
            for block in query_blocks(X):
                values[block] += self._part(kernel, base, X[block], parts)
        asked = [
            (cell, rows[first : first + AT_ONCE], share[first : first + AT_ONCE])
            for cell, rows, share in places.by_cell()
            for first in range(0, len(rows), AT_ONCE)
        ]
        one = replace(kernel, n_threads=1)
        with ThreadPoolExecutor(kernel.n_threads) as pool:
            try:
                said = pool.map(lambda ask: self._part(one, ask[0], X[ask[1]], parts), asked)
                for (_, rows, share), local in zip(asked, said, strict=True):
                    values[rows] += share[:, None] * local
            except BaseException:  # Ctrl-C: what has not begun is not waited for
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return values

    def vectors(self, kernel: KernelEvaluator, support_vectors: Rows) -> list[Any]:
        """The vectors of each cell and of f0 as the core takes them, to be made once; None where none are."""
        made: list[Any] = []
        for first, last in pairwise(self.bounds.tolist()):
            rows = support_vectors[self.members[first:last]] if last > first else None
            made.append(kernel.points(rows) if rows is not None and kernel.kernel.compiled else rows)
        return made

    def plain(self) -> dict[str, Any]:
        """All that there is, in arrays and numbers: what may be stored without a name of a class of ours."""
        return {**vars(self), "cells": self.cells.centres, "intercept": float(self.intercept)}

    @classmethod
    def of_plain(cls, parts: dict[str, Any]) -> LocalMachines:
        """What `plain` took apart."""
        return cls(**{**parts, "cells": Cells(parts["cells"])})

    def _part(self, kernel: KernelEvaluator, part: int, X: Rows, parts: list[Any]) -> Array:
        coefficients = self.coefficients[:, self.bounds[part] : self.bounds[part + 1]].T
        if parts[part] is None:
            return np.zeros((X.shape[0], len(self.coefficients)))
        values = kernel.apply(X, parts[part], coefficients)
        return values + self.intercept * coefficients.sum(axis=0)
