"""Rows moved to the tasks that need them, and kept there for as long as they serve.

The parts of a level are merged from those of the level before. So parts that follow each other go to the same
task, and the parts of the next level find their rows where they are: one shuffle serves several levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sodm.spark.cluster import Cluster
from sodm.spark.private import keyed_by_task, persist_pairs
from sodm.spark.routing import Route
from sodm.spark.rows import ClusterRows

if TYPE_CHECKING:
    from sodm.spark.private import JavaPairs

Index = NDArray[np.intp]

TASKS_PER_SLOT = 4  # a task costs some 50 ms whatever it does; fewer of them leave slots idle at the end
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
    tasks_of: NDArray[np.int32]
    tasks: list[int]
    n_tasks: int
    n_rows: int
    route: Route

    @classmethod
    def of(cls, rows: ClusterRows, numbers: Sequence[Index], cluster: Cluster) -> Placement:
        """Move the rows of parts, given by their numbers in the DataFrame; it happens when they are used."""
        n_rows = sum(map(len, numbers))
        for_memory = ceil(n_rows * rows.row_bytes / cluster.waiting_bytes)
        n_tasks = min(len(numbers), max(TASKS_PER_SLOT * cluster.slots, for_memory))
        tasks = largest_first(deal(len(numbers), n_tasks), [len(part) for part in numbers])
        tasks_of = tasks_of_rows(rows.survey.n, numbers, tasks)
        route = Route.of(rows, tasks_of)
        pairs = keyed_by_task(route.pieces, n_tasks)
        if n_tasks < len(numbers):
            persist_pairs(rows.blocks.context, pairs)
        return cls(pairs, tasks_of, tasks, n_tasks, n_rows, route)

    def tasks_for(self, numbers: Sequence[Index]) -> list[int] | None:
        """A task that has all rows of each part, or None if some part has none, or too few are used."""
        if sum(map(len, numbers)) < LEAST_USED * self.n_rows:
            return None
        tasks = []
        for part in numbers:
            found = self.tasks_of[part]
            whole = [
                task for task in found[0].tolist() if task >= 0 and np.all(np.any(found == task, axis=1))
            ]
            if not whole:
                return None
            tasks.append(whole[0])
        return tasks

    def release(self) -> None:
        """Give it up."""
        self.pairs.unpersist()
        self.route.release()


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
