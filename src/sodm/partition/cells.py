"""Cells of about equal size: Lloyd's passes on a sample, then those that are too large are divided anew.

Kernels fall with the distance of rows, so rows that matter to each other are near each other in the space of
the features; k-means in feature space costs many times as much, and told no other regions apart.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.problem.cells import VALUES_AT_ONCE, Cells, squares
from sodm.problem.distinct import distinct
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.query_blocks import query_blocks
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import Rows
from sodm.problem.rows import canonical

Index = NDArray[np.intp]

ROWS_PER_CELL = 200  # of the sample by which cells are found and counted
PASSES = 8
TOO_LARGE = 1.6  # times the size that was asked for
ROUNDS = 5
VALUES_WORTH_IT = 2**18  # of the sample: fewer are looked at sooner than a thread is started


def find_cells(
    rows: RowSet, size: float, seed: int, n_threads: int = 1, threads_here: int | None = None
) -> tuple[Cells, NDArray[np.float64]]:
    """Cells with about so many rows each, and where the rows are (a table, see `Cells.look`).

    `threads_here` are those for the sample, if not as many as where the rows are.

    A cell that has more than 1.6 times as many is divided; a few rounds of that do for all but rows that are
    equal or nearly so, which no division takes apart.
    """
    rng, n = np.random.RandomState(seed), rows.shape[0]
    count = count_of(n, size)
    sample = rows[sample_for(n, size, rng)]
    most = TOO_LARGE * size * sample.shape[0] / n  # rows of the sample in a cell
    threads_here = threads_here or n_threads
    prepared = _Sample(sample, count, threads_here)
    cells = _lloyd(prepared, _start(sample.shape[0], count, rng))
    for _ in range(ROUNDS):
        nearest = prepared.nearest(cells)
        sizes = np.bincount(nearest, minlength=len(cells))
        large = np.flatnonzero(sizes > most)
        if len(large) == 0:
            break
        counts = [ceil(TOO_LARGE * sizes[cell] / most) for cell in large]
        starts = [_start(sizes[cell], count, rng) for cell, count in zip(large, counts, strict=True)]

        def divide(cell: int, start: Index, nearest: Index = nearest) -> Rows:
            own = _Sample(sample[np.flatnonzero(nearest == cell)], len(start), 1)
            return _lloyd(own, start).centres

        with ThreadPoolExecutor(threads_here) as pool:
            divided = list(pool.map(divide, large, starts))
        cells = Cells(_stack([cells.centres[np.flatnonzero((sizes > 0) & (sizes <= most))], *divided]))
    return cells, rows.map_rows(partial(cells.look, n_threads=n_threads))


def count_of(n: int, size: float) -> int:
    """How many cells are begun with."""
    return max(1, round(n / size))


def sample_for(n: int, size: float, rng: np.random.RandomState) -> Index:
    """The rows by which cells are found, in order."""
    return np.sort(rng.permutation(n)[: ROWS_PER_CELL * count_of(n, size)])


class _Sample:
    """Rows whose nearest cell is asked for again and again: prepared for the core once, since that takes as
    long as the products where features are many."""

    def __init__(self, rows: Rows, n_cells: int, n_threads: int) -> None:
        self.rows = rows
        self._inner, self._n_threads = KernelEvaluator(Kernel("linear"), "double"), n_threads
        most = max(1, VALUES_AT_ONCE // max(1, n_cells)) * rows.shape[1]
        share = -(-rows.shape[0] // n_threads) * rows.shape[1]  # something to do for each of them
        most = min(most, max(share, VALUES_WORTH_IT))
        self._blocks = [(block, self._inner.points(rows[block])) for block in query_blocks(rows, most=most)]

    def nearest(self, cells: Cells) -> NDArray[np.intp]:
        """The nearest cell of each row."""
        norms, found = squares(cells.centres), np.empty(self.rows.shape[0], dtype=np.intp)
        centres = self._inner.points(cells.centres * -2.0)

        def look_at(block: slice, points: Any) -> None:
            distance = self._inner.block(points, centres)
            distance += norms
            found[block] = distance.argmin(axis=1)

        with ThreadPoolExecutor(self._n_threads) as pool:
            list(pool.map(look_at, *zip(*self._blocks, strict=True)))
        return found


def _start(n: int, n_cells: int, rng: np.random.RandomState) -> Index:
    """Which of n rows are the first centres."""
    return np.sort(rng.choice(n, min(n_cells, n), replace=False))


def _lloyd(sample: _Sample, start: Index) -> Cells:
    """k-means of a sample, from some of its rows; a centre that loses all rows is left out."""
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
    cells, nearest = distinct(nearest)
    share = 1.0 / np.bincount(nearest)[nearest]
    shape = (len(cells), len(nearest))
    means = sparse.csr_matrix((share, (nearest, np.arange(len(nearest)))), shape=shape) @ sample
    return canonical(means) if sparse.issparse(means) else np.asarray(means, dtype=np.float64)


def _stack(pieces: list[Rows]) -> Rows:
    if sparse.issparse(pieces[0]):
        return sparse.csr_matrix(sparse.vstack(pieces))
    return np.concatenate(pieces)
