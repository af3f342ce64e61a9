"""Cells: the space divided among centres, each point being that of the nearest one (Voronoi)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sodm import _core
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.query_blocks import query_blocks
from sodm.problem.row_types import Rows, is_sparse

BORDER = 1.3  # the second centre counts where its squared distance is less than so many times the first's
_OfDistances = Callable[[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
VALUES_AT_ONCE = 2**19  # of the rows that a thread looks at


@dataclass(frozen=True)
class Places:
    """Where rows are.

    Attributes
    ----------
    cells : ndarray of int, shape (n, 2)
        The nearest two cells of each row, the nearest first; twice the same if there is but one.
    share : ndarray, shape (n,)
        What the nearest cell has to say of the row, from 1/2 on the border to 1 in the inside; the other has
        the rest. Squared distances d1 <= d2 give 1/2 + 1/2 (d2 / d1 - 1) / (BORDER - 1).
    """

    cells: NDArray[np.intp]
    share: NDArray[np.float64]

    def members(self, cell: int) -> NDArray[np.intp]:
        """The rows of a cell: those inside, and those on a border of it."""
        mine = self.cells[:, 0] == cell
        mine |= (self.cells[:, 1] == cell) & (self.share < 1)
        return np.flatnonzero(mine)

    def by_cell(self) -> list[tuple[int, NDArray[np.intp], NDArray[np.float64]]]:
        """For each cell that has any: its rows, in order, and its share in them."""
        rows = np.arange(len(self.share))
        border = np.flatnonzero(self.share < 1)
        cell = np.concatenate([self.cells[:, 0], self.cells[border, 1]])
        row = np.concatenate([rows, border])
        share = np.concatenate([self.share, 1 - self.share[border]])
        order = np.argsort(cell * len(rows) + row)  # by cell, then by row
        cell, row, share = cell[order], row[order], share[order]
        first = np.flatnonzero(np.append(True, cell[1:] != cell[:-1])) if len(cell) else np.zeros(0, np.intp)
        bounds = np.append(first, len(cell))
        return [(int(cell[a]), row[a:b], share[a:b]) for a, b in pairwise(bounds)]


@dataclass(frozen=True)
class Cells:
    """Centres in the space of the features.

    Attributes
    ----------
    centres : ndarray or CSR matrix, shape (n_cells, n_features)

    Examples
    --------
    >>> places = Cells(np.array([[0.0], [1.0]])).places(np.array([[0.1], [0.5], [0.9]]))
    >>> places.cells[:, 0].tolist(), places.share.tolist()
    ([0, 0, 1], [1.0, 0.5, 1.0])
    """

    centres: Rows

    def __len__(self) -> int:
        return int(self.centres.shape[0])

    def places(self, X: Rows, n_threads: int = 1) -> Places:
        """Where the rows of X are; of each row that depends on nothing but the row."""
        return places_of(self.look(X, n_threads))

    def nearest(self, X: Rows, n_threads: int = 1) -> NDArray[np.float64]:
        """The number of the nearest cell of each row of X, and the squared distance of its centre."""
        return self._map(X, 2, _nearest, n_threads)

    def look(self, X: Rows, n_threads: int = 1) -> NDArray[np.float64]:
        """`places` as one table with a row for each row of X: nearest cell, second cell, share."""
        return self._map(X, 3, _two_nearest, n_threads)

    def homes(self, X: Rows, n_threads: int = 1) -> NDArray[np.int32]:
        """The cells that the rows of X are members of: the nearest, and the second for a row on a border of
        the two, else -1."""
        return self._map(X, 2, _homes, n_threads, np.int32)

    def _map(
        self, X: Rows, width: int, function: _OfDistances, n_threads: int, dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """A table of what is told by the squared distances of rows, for some of them at a time."""
        found = np.empty((X.shape[0], width), dtype=dtype)
        finder = NearestCells(self)

        def look_at(rows: slice) -> None:
            block = X[rows]
            found[rows] = function(*finder.two(finder.points(block)), squares(block))

        blocks = list(query_blocks(X, most=VALUES_AT_ONCE))
        if n_threads == 1 or len(blocks) == 1:  # threads take longer to start
            for rows in blocks:
                look_at(rows)
            return found
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(look_at, blocks))
        return found


class NearestCells:
    """The nearest cells of rows that are prepared for the core, by squared distances that lack |x|^2:
    |c|^2 - 2 <x, c> tells the nearest, since |x|^2 is the same for all centres."""

    def __init__(self, cells: Cells) -> None:
        self._inner = KernelEvaluator(Kernel("linear"), "double")
        self._centres, self._norms = self._inner.points(cells.centres * -2.0), squares(cells.centres)

    def points(self, rows: Rows) -> _core.Points:
        """Rows prepared for the core, laid out like the centres."""
        return self._inner.points(rows, like=self._centres)

    def two(self, points: _core.Points, n_threads: int = 1) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Numbers of the nearest two cells of each row, and their distances; the second of one cell alone is
        infinitely far away."""
        return _core.two_nearest(points, self._centres, self._norms, n_threads)


def places_of(table: NDArray[np.float64]) -> Places:
    """The places of such a table, see `Cells.look`."""
    return Places(table[:, :2].astype(np.intp), table[:, 2])


def members_of(homes: NDArray[np.integer]) -> list[tuple[int, NDArray[np.intp]]]:
    """Each cell that has any rows, with these in order; of a table of `Cells.homes`.

    Examples
    --------
    >>> [(cell, rows.tolist()) for cell, rows in members_of(np.array([[2, -1], [0, 2], [2, 0]]))]
    [(0, [1, 2]), (2, [0, 1, 2])]
    """
    entry = np.flatnonzero(homes.ravel() >= 0)  # in the order of the rows
    cell = homes.ravel()[entry]
    cell = cell.astype(np.min_scalar_type(-int(cell.max(initial=0)) - 1))  # short ones are sorted faster
    order = np.argsort(cell, kind="stable")
    cell, row = cell[order], entry[order] // homes.shape[1]
    first = np.flatnonzero(np.append(True, cell[1:] != cell[:-1])) if len(cell) else np.zeros(0, np.intp)
    return [(int(cell[a]), row[a:b]) for a, b in pairwise(np.append(first, len(cell)))]


def _nearest(
    cells: NDArray[np.int32], distance: NDArray[np.float64], squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Nearest and its squared distance, from the nearest two and squared distances that lack |x|^2."""
    return np.column_stack([cells[:, 0], distance[:, 0] + squares])


def _two_nearest(
    cells: NDArray[np.int32], distance: NDArray[np.float64], squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Nearest, second and share, from the nearest two and squared distances that lack |x|^2."""
    first = np.maximum(distance[:, 0] + squares, 0.0)
    beyond = np.maximum(distance[:, 1] + squares, 0.0) - first
    share = 0.5 + 0.5 * beyond / np.maximum((BORDER - 1) * first, 1e-300)
    share[(beyond <= 0) & (first <= 0)] = 0.5
    return np.column_stack([cells, np.minimum(share, 1.0)])


def _homes(
    cells: NDArray[np.int32], distance: NDArray[np.float64], squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Nearest, and second where it has a share."""
    nearest, second, share = _two_nearest(cells, distance, squares).T
    return np.column_stack([nearest, np.where(share < 1, second, -1)])


def squares(X: Rows) -> NDArray[np.float64]:
    """|x|^2 of each row, in double precision."""
    if is_sparse(X):
        return np.asarray(X.astype(np.float64).multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)
