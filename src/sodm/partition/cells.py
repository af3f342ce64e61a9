"""Cells of about equal size: Lloyd's passes on a sample, then those that are too large are divided anew.

Kernels fall with the distance of rows, so rows that matter to each other are near each other in the space of
the features; k-means in feature space costs many times as much, and told no other regions apart.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm import _core
from sodm.problem.cells import Cells, NearestCells
from sodm.problem.distinct import distinct
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.row_types import Rows, is_sparse
from sodm.problem.rows import canonical

Index = NDArray[np.intp]

ROWS_PER_CELL = 200  # of the sample by which cells are found and counted
PASSES = 8
TOO_LARGE = 1.6  # times the size that was asked for
ROUNDS = 5
FEW_FEATURES = 64  # up to which sparse rows are divided as arrays: the core finds their means, by all threads


class GivenUp(Exception):
    """Nobody wants the cells any more."""


@dataclass(frozen=True)
class FoundCells:
    """Cells, and how many rows of the sample each has."""

    cells: Cells
    sizes: Index


def find_cells(
    sample: Rows,
    n: int,
    size: float,
    rng: np.random.RandomState,
    n_threads: int = 1,
    given_up: Callable[[], bool] = lambda: False,
) -> FoundCells:
    """Cells with about so many of n rows each, by a sample of these rows.

    A cell that has more than 1.6 times as many is divided; a few rounds of that do for all but rows that are
    equal or nearly so, which no division takes apart. `given_up` is asked now and then whether nobody wants
    them any more, which ends with `GivenUp`.
    """
    if is_sparse(sample) and sample.shape[1] <= FEW_FEATURES:
        found = find_cells(sample.toarray(), n, size, rng, n_threads, given_up)
        return FoundCells(Cells(sparse.csr_matrix(found.cells.centres)), found.sizes)
    count = count_of(n, size)
    most = TOO_LARGE * size * sample.shape[0] / n  # rows of the sample in a cell
    prepared = _Sample(sample, n_threads, given_up)
    cells = _lloyd(prepared, _start(sample.shape[0], count, rng))
    for _ in range(ROUNDS):
        nearest = prepared.nearest(cells)
        sizes = np.bincount(nearest, minlength=len(cells))
        large = np.flatnonzero(sizes > most)
        if len(large) == 0:
            return FoundCells(cells, sizes)
        counts = [ceil(TOO_LARGE * sizes[cell] / most) for cell in large]
        starts = [_start(sizes[cell], count, rng) for cell, count in zip(large, counts, strict=True)]

        def divide(cell: int, start: Index, nearest: NDArray[np.int32] = nearest) -> Rows:
            own = _Sample(sample[np.flatnonzero(nearest == cell)], 1, given_up)
            return _lloyd(own, start).centres

        with ThreadPoolExecutor(n_threads) as pool:
            divided = list(pool.map(divide, large, starts))
        cells = Cells(_stack([cells.centres[np.flatnonzero((sizes > 0) & (sizes <= most))], *divided]))
    return FoundCells(cells, np.bincount(prepared.nearest(cells), minlength=len(cells)))


def count_of(n: int, size: float) -> int:
    """How many cells are begun with."""
    return max(1, round(n / size))


def sample_for(n: int, size: float, rng: np.random.RandomState) -> Index:
    """The rows by which cells are found, in order."""
    return np.sort(rng.permutation(n)[: ROWS_PER_CELL * count_of(n, size)])


class _Sample:
    """Rows whose nearest cell is asked for again and again: prepared for the core once, since that takes as
    long as the products where features are many."""

    def __init__(self, rows: Rows, n_threads: int, given_up: Callable[[], bool]) -> None:
        self.rows, self.n_threads, self._given_up = rows, n_threads, given_up
        self._points = KernelEvaluator(Kernel("linear"), "double", n_threads).points(rows)

    def nearest(self, cells: Cells) -> NDArray[np.int32]:
        """The nearest cell of each row."""
        if self._given_up():
            raise GivenUp
        return np.ascontiguousarray(NearestCells(cells).two(self._points, self.n_threads)[0][:, 0])


def _start(n: int, n_cells: int, rng: np.random.RandomState) -> Index:
    """Which of n rows are the first centres."""
    return np.sort(rng.choice(n, min(n_cells, n), replace=False))


def _lloyd(sample: _Sample, start: Index) -> Cells:
    """k-means of a sample, from some of its rows; a centre that loses all rows is left out."""
    cells = Cells(sample.rows[start].astype(np.float64))
    before: NDArray[np.int32] | None = None
    for _ in range(PASSES):
        nearest = sample.nearest(cells)
        if before is not None and np.array_equal(nearest, before):
            break
        cells, before = Cells(_means(sample.rows, nearest, sample.n_threads)), nearest
    return cells


def _means(sample: Rows, nearest: NDArray[np.int32], n_threads: int) -> Rows:
    """The mean of the rows of each cell that has any."""
    cells, place = distinct(nearest)
    if not sparse.issparse(sample):
        return _core.cell_means(sample, place.astype(np.int64, copy=False), len(cells), n_threads)
    share = 1.0 / np.bincount(place)[place]
    shape = (len(cells), len(place))
    return canonical(sparse.csr_matrix((share, (place, np.arange(len(place)))), shape=shape) @ sample)


def _stack(pieces: list[Rows]) -> Rows:
    if sparse.issparse(pieces[0]):
        return sparse.csr_matrix(sparse.vstack(pieces))
    return np.concatenate(pieces)
