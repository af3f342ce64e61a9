"""Rows moved to the tasks that need them, and kept there for as long as they serve.

The parts of a level are merged from those of the level before. So parts that follow each other go to the same
task, and the parts of the next level find their rows where they are: one shuffle serves several levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.spark.cluster import Cluster
from sodm.spark.private import keyed_by_task, persist_pairs
from sodm.spark.routing import Route
from sodm.spark.rows import ClusterRows

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
    task_of : int array
        The task of each row of the DataFrame, -1 for rows that were not moved.
    n_tasks, n_rows : int
    route : Route
        How they get there; needed again if a partition is lost.
    """

    pairs: Any
    task_of: NDArray[np.int32]
    n_tasks: int
    n_rows: int
    route: Route

    @classmethod
    def of(cls, rows: ClusterRows, numbers: Sequence[Index], cluster: Cluster) -> Placement:
        """Move the rows of parts, given by their numbers in the DataFrame; it happens when they are used."""
        n_rows = sum(map(len, numbers))
        for_memory = ceil(n_rows * rows.row_bytes / cluster.waiting_bytes)
        n_tasks = min(len(numbers), max(TASKS_PER_SLOT * cluster.slots, for_memory))
        task_of = np.full(rows.survey.n, -1, dtype=np.int32)
        for part, task in zip(numbers, deal(len(numbers), n_tasks), strict=True):
            task_of[part] = task
        route = Route.of(rows, np.concatenate(numbers), task_of)
        pairs = keyed_by_task(route.pieces, n_tasks)
        if n_tasks < len(numbers):
            persist_pairs(rows.blocks.context, pairs)
        return cls(pairs, task_of, n_tasks, n_rows, route)

    def tasks_for(self, numbers: Sequence[Index]) -> list[int] | None:
        """The task that has the rows of each part, or None if some part's are in several, or too few used."""
        if sum(map(len, numbers)) < LEAST_USED * self.n_rows:
            return None
        tasks = []
        for part in numbers:
            found = self.task_of[part]
            if found[0] < 0 or np.any(found != found[0]):
                return None
            tasks.append(int(found[0]))
        return tasks

    def release(self) -> None:
        """Give it up."""
        self.pairs.unpersist()
        self.route.release()


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
