"""Rows moved to the tasks that need them, and kept there for as long as they serve.

The parts of a level are merged from those of the level before. So parts that follow each other go to the same
task, and the parts of the next level find their rows where they are: one shuffle serves several levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.cells import Cells
from sodm.problem.row_types import Rows
from sodm.spark.cluster import Cluster
from sodm.spark.private import keyed_by_task, move, persist_pairs
from sodm.spark.routing import Route, task_dtype, tasks_of_homes
from sodm.spark.rows import ClusterRows

if TYPE_CHECKING:
    from sodm.spark.private import JavaPairs

Index = NDArray[np.intp]

TASKS_PER_SLOT = 4  # a task costs some 50 ms whatever it does; fewer of them leave slots idle at the end
MOST_AT_ONCE = 6  # times the mean: a row on a border is in two cells, the first tasks have thrice the mean
LEAST_USED = 0.5  # of the rows that were moved: if fewer are needed, moving those is cheaper than reading all


@dataclass(frozen=True)
class Placement:
    """Where rows are.

    Attributes
    ----------
    pairs : JavaPairRDD
        Pieces of rows, by task.
    tasks_of : int array, shape (n, k)
        The tasks that each row of the DataFrame is sent to, see `tasks_of_rows`.
    tasks : list of int
        The task of each of the parts that it was made for.
    n_tasks, n_rows : int
    route : Route
        How they get there; needed again if a partition is lost.
    """

    pairs: JavaPairs
    tasks_of: NDArray[np.signedinteger[Any]]
    tasks: list[int]
    n_tasks: int
    n_rows: int
    route: Route

    @classmethod
    def of(cls, rows: ClusterRows, numbers: Sequence[Index], cluster: Cluster) -> Placement:
        """Move the rows of parts, given by their numbers in the DataFrame."""
        n_rows = sum(map(len, numbers))
        n_tasks = count_tasks(len(numbers), n_rows * rows.row_bytes, cluster)
        tasks = largest_first(deal(len(numbers), n_tasks), [len(part) for part in numbers])
        tasks_of = tasks_of_rows(rows.survey.n, numbers, tasks)
        route = Route.of(rows, tasks_of)
        pairs = keyed_by_task(route.pieces, n_tasks)
        if n_tasks < len(numbers):
            persist_pairs(rows.blocks.context, pairs)
        return cls(pairs, tasks_of, tasks, n_tasks, n_rows, route).moved(rows)

    @classmethod
    def by_cells(
        cls,
        rows: ClusterRows,
        cells: Cells,
        sizes: NDArray[np.integer],
        cluster: Cluster,
        look: Callable[[Rows], NDArray[Any]] | None = None,
    ) -> tuple[Placement, NDArray[np.integer], NDArray[Any] | None]:
        """Move the rows of cells, about so large in proportion, and tell their `Cells.homes`, and what `look`
        tells of each row.

        They are not kept when they were used: what is trained on cells is one level.
        """
        n_tasks = count_tasks(len(cells), MOST_AT_ONCE * rows.shape[0] * rows.row_bytes, cluster)
        tasks = largest_first(deal_ever_fewer(sizes, n_tasks, cluster.slots), sizes.tolist())
        task_of = np.array(tasks, dtype=np.int32)
        route, told = Route.by_cells(rows, cells, task_of, cluster.task_cpus, look)
        pairs = keyed_by_task(route.pieces, n_tasks)
        # In columns of few bytes: it is asked for the rows of all parts.
        tasks_of = np.full((rows.survey.n, 2), -1, dtype=task_dtype(n_tasks), order="F")
        placement = cls(pairs, tasks_of, tasks, n_tasks, 0, route).moved(rows)
        blocks = told.take()
        homes = rows.in_order({block.place: block.homes for block in blocks})
        seen = {block.place: block.seen for block in blocks if block.seen is not None}
        tasks_of[slice(None) if rows.index is None else rows.index] = tasks_of_homes(homes, task_of)
        placement = replace(placement, n_rows=int(np.count_nonzero(tasks_of >= 0)))
        return placement, homes, rows.in_order(seen) if seen else None

    def moved(self, rows: ClusterRows) -> Placement:
        """It, when the rows are on their way."""
        try:
            move(rows.blocks.context, self.pairs)
        except BaseException:
            self.release()
            raise
        return self

    def tasks_for(self, numbers: Sequence[Index]) -> list[int] | None:
        """A task that has all rows of each part, or None if some part has none, or too few are used."""
        if sum(map(len, numbers)) < LEAST_USED * self.n_rows:
            return None
        tasks = []
        for part in numbers:
            found = [column[part] for column in self.tasks_of.T]
            whole = [
                task
                for task in [column[0] for column in found]
                if task >= 0 and np.logical_or.reduce([column == task for column in found]).all()
            ]
            if not whole:
                return None
            tasks.append(int(whole[0]))
        return tasks

    def release(self) -> None:
        """Give it up."""
        self.pairs.unpersist()
        self.route.release()


def count_tasks(n_parts: int, n_bytes: float, cluster: Cluster) -> int:
    """How many tasks there are for so many parts and bytes of rows."""
    return min(n_parts, max(TASKS_PER_SLOT * cluster.slots, ceil(n_bytes / cluster.waiting_bytes)))


def tasks_of_rows(n: int, parts: Sequence[Index], tasks: Sequence[int]) -> NDArray[np.int32]:
    """The tasks that n rows are needed by, one or several for each, then -1; shape (n, most that a row has).

    Parts that share rows, as regions do on their borders, may be in different tasks: each is sent its own.

    Examples
    --------
    >>> tasks_of_rows(4, [np.array([0, 1]), np.array([1, 2])], [0, 5]).tolist()
    [[0, -1], [0, 5], [5, -1], [-1, -1]]
    """
    columns = [np.full(n, -1, dtype=np.int32)]
    for part, task in zip(parts, tasks, strict=True):
        left, at = np.asarray(part), 0
        while len(left):
            if at == len(columns):
                columns.append(np.full(n, -1, dtype=np.int32))
            there = columns[at][left]
            columns[at][left[there < 0]] = task
            left, at = left[(there >= 0) & (there != task)], at + 1
    return np.column_stack(columns)


def largest_first(tasks: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Tasks numbered by the rows of their parts: Spark starts them in this order, the last should be short.

    Examples
    --------
    >>> largest_first([0, 0, 1, 2], [1, 1, 5, 2])
    [1, 1, 0, 2]
    """
    order = np.argsort(-np.bincount(tasks, sizes), kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank[tasks].tolist()


def deal_ever_fewer(sizes: NDArray[np.integer], n_tasks: int, slots: int) -> list[int]:
    """The task of each cell: for each slot a large task, then smaller ones, so that all slots end together.

    Where a slot gets four of them they have 16, 9, 4 and 1 of 30 parts of its rows: slots are idle in the end
    for half the time that the last ones take, and cells of as many rows take times that differ tenfold.

    Examples
    --------
    >>> np.bincount(deal_ever_fewer(np.full(60, 7), 8, 2)).tolist()
    [16, 16, 9, 9, 4, 4, 1, 1]
    """
    waves = ceil(n_tasks / slots)
    share = (waves - np.arange(n_tasks) // slots) ** 2
    ends = np.cumsum(share) / share.sum()
    middle = (np.cumsum(sizes) - sizes / 2) / sizes.sum()
    return np.searchsorted(ends, middle).tolist()


def deal(n_parts: int, n_tasks: int) -> list[int]:
    """The task of each part: in turn, and where there are many parts, those that will be merged together.

    Examples
    --------
    >>> deal(6, 3)
    [0, 0, 1, 1, 2, 2]
    >>> deal(16, 2)[6:10]
    [0, 0, 1, 1]
    """
    per_task = n_parts / n_tasks
    step = 4 if per_task >= 16 else 2 if per_task >= 8 else 1
    n_steps = ceil(n_parts / step)
    return [(k // step) * n_tasks // n_steps for k in range(n_parts)]
