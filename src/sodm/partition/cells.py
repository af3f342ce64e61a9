"""Cells of about equal size: Lloyd's passes on a sample, then those that are too large are divided anew.

Kernels fall with the distance of rows, so rows that matter to each other are near each other in the space of
the features; k-means in feature space costs many times as much, and told no other regions apart.
"""

from __future__ import annotations

from functools import partial
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.problem.cells import VALUES_AT_ONCE, Cells, squares
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.query_blocks import query_blocks
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import Rows
from sodm.problem.rows import canonical

ROWS_PER_CELL = 200  # of the sample by which cells are found and counted
PASSES = 8
TOO_LARGE = 1.6  # times the size that was asked for
ROUNDS = 5


def find_cells(rows: RowSet, size: float, seed: int, n_threads: int = 1) -> tuple[Cells, NDArray[np.float64]]:
    """Cells with about so many rows each, and where the rows are (a table, see `Cells.look`).

    A cell that has more than 1.6 times as many is divided; a few rounds of that do for all but rows that are
    equal or nearly so, which no division takes apart.
    """
    rng, n = np.random.RandomState(seed), rows.shape[0]
    count = max(1, round(n / size))
    sample = rows[np.sort(rng.permutation(n)[: ROWS_PER_CELL * count])]
    most = TOO_LARGE * size * sample.shape[0] / n  # rows of the sample in a cell
    prepared = _Sample(sample, count, n_threads)
    cells = _lloyd(prepared, count, rng)
    for _ in range(ROUNDS):
        nearest = prepared.nearest(cells)
        sizes = np.bincount(nearest, minlength=len(cells))
        large = np.flatnonzero(sizes > most)
        if len(large) == 0:
            break
        pieces = [cells.centres[np.flatnonzero((sizes > 0) & (sizes <= most))]]
        for cell in large:
            members = sample[np.flatnonzero(nearest == cell)]
            pieces_of_cell = ceil(TOO_LARGE * sizes[cell] / most)
            own = _Sample(members, pieces_of_cell, n_threads)
            pieces.append(_lloyd(own, pieces_of_cell, rng).centres)
        cells = Cells(_stack(pieces))
    return cells, rows.map_rows(partial(cells.look, n_threads=n_threads))


class _Sample:
    """Rows whose nearest cell is asked for again and again: prepared for the core once, since that takes as
    long as the products where features are many."""

    def __init__(self, rows: Rows, n_cells: int, n_threads: int) -> None:
        self.rows = rows
        self._inner = KernelEvaluator(Kernel("linear"), "double", n_threads)
        most = max(1, VALUES_AT_ONCE // max(1, n_cells)) * rows.shape[1]
        self._blocks = [(block, self._inner.points(rows[block])) for block in query_blocks(rows, most=most)]

    def nearest(self, cells: Cells) -> NDArray[np.intp]:
        """The nearest cell of each row."""
        norms, found = squares(cells.centres), np.empty(self.rows.shape[0], dtype=np.intp)
        for block, points in self._blocks:
            found[block] = (norms - 2 * self._inner.block(points, cells.centres)).argmin(axis=1)
        return found


def _lloyd(sample: _Sample, n_cells: int, rng: np.random.RandomState) -> Cells:
    """k-means of a sample, from rows drawn at random; a centre that loses all rows is left out."""
    n = sample.rows.shape[0]
    start = np.sort(rng.choice(n, min(n_cells, n), replace=False))
    cells = Cells(sample.rows[start].astype(np.float64))
    before: NDArray[np.intp] | None = None
    for _ in range(PASSES):
        nearest = sample.nearest(cells)
        if before is not None and np.array_equal(nearest, before):
            break
        cells, before = Cells(_means(sample.rows, nearest)), nearest
    return cells


def _means(sample: Rows, nearest: NDArray[np.intp]) -> Rows:
    """The mean of the rows of each cell that has any."""
    cells, nearest = np.unique(nearest, return_inverse=True)
    share = 1.0 / np.bincount(nearest)[nearest]
    shape = (len(cells), len(nearest))
    means = sparse.csr_matrix((share, (nearest, np.arange(len(nearest)))), shape=shape) @ sample
    return canonical(means) if sparse.issparse(means) else np.asarray(means, dtype=np.float64)


def _stack(pieces: list[Rows]) -> Rows:
    if sparse.issparse(pieces[0]):
        return sparse.csr_matrix(sparse.vstack(pieces))
    return np.concatenate(pieces)
