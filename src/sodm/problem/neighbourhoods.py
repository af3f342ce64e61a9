"""Neighbourhoods: the rows nearest to some that were drawn, for trials of what near rows tell.

To divide all rows into cells takes a time that grows with their square; the rows around a few of them do for
a trial.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sodm.problem.cells import members_of

Index = NDArray[np.intp]

REGION_ROWS = 2000  # of a region, about
AROUND = 1.3  # times the rows of a region: those on its borders too


def neighbourhoods(table: NDArray[np.float64], size: int) -> Iterator[tuple[Index, Index]]:
    """Around each centre that has any rows: its nearest rows, AROUND * size of them, and the first `size`.

    Parameters
    ----------
    table : ndarray, shape (n, 2)
        The nearest centre of each row and the squared distance, see `sodm.problem.cells.Cells.nearest`.
    size : int

    Examples
    --------
    >>> table = np.array([[0, 3.0], [1, 0.0], [0, 2.0], [0, 1.0], [0, 9.0]])
    >>> [(rows.tolist(), inside.tolist()) for rows, inside in neighbourhoods(table, 2)]
    [([3, 2], [3, 2]), ([1], [1])]
    """
    cell, distance = np.ascontiguousarray(table.T)
    for _, own in members_of(cell.astype(np.int32)[:, None]):
        rows = _nearest(own, distance[own], int(AROUND * size))
        yield rows, rows[:size]


def _nearest(rows: Index, distance: NDArray[np.float64], count: int) -> Index:
    """So many of the rows, the nearest first, and those that are equally near in their order."""
    if len(rows) > count:
        near = np.flatnonzero(distance <= np.partition(distance, count - 1)[count - 1])
        rows, distance = rows[near], distance[near]
    return rows[np.argsort(distance, kind="stable")[:count]]
