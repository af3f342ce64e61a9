"""Which rows go to which task: blocks are cut on the executors, and pieces know the numbers of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pyspark import RDD, Broadcast

from sodm.problem.row_types import Rows
from sodm.spark.blocks import PackedBlock, Place, in_form

if TYPE_CHECKING:
    from sodm.spark.rows import ClusterRows


@dataclass(frozen=True)
class Piece:
    """Rows of one block on their way, with their numbers in the DataFrame."""

    numbers: NDArray[np.integer]
    rows: Rows


@dataclass(frozen=True)
class Route:
    """Rows on their way to tasks.

    Attributes
    ----------
    pieces : RDD of pairs (task, Piece)
    plan : Broadcast or None
        Which rows go where. It is needed as long as the RDD is, and again if a partition is lost.
    """

    pieces: RDD[tuple[int, Piece]]
    plan: Broadcast[dict[Place, NDArray[Any]]] | None

    @classmethod
    def of(cls, rows: ClusterRows, tasks_of: NDArray[np.int32]) -> Route:
        """Cut the blocks by task.

        Parameters
        ----------
        rows : ClusterRows
        tasks_of : int array, shape (n, k)
            The tasks that each row of the DataFrame goes to; -1 for none.
        """
        context, numbers = rows.blocks.context, np.flatnonzero(tasks_of[:, 0] >= 0)
        known = rows.fetched.get(numbers)
        if known is not None:  # a sample: no need to look for its rows in all blocks
            return cls(context.parallelize(cut_by_task(tasks_of[numbers], numbers, known), 1), None)
        survey, as_csr = rows.survey, rows.sparse
        first = dict(zip(survey.places, survey.bounds.tolist(), strict=False))
        plan = context.broadcast(survey.by_block(tasks_of.astype(task_dtype(int(tasks_of.max())))))

        def cut(block: PackedBlock) -> list[tuple[int, Piece]]:
            tasks = plan.value[block.place]
            numbers = first[block.place] + np.arange(len(tasks))
            return cut_by_task(tasks, numbers, in_form(block.rows, as_csr))

        return cls(rows.blocks.flatMap(cut), plan)

    def release(self) -> None:
        """Take the plan back from the executors."""
        if self.plan is not None:
            self.plan.destroy()


def task_dtype(largest: int) -> np.dtype[Any]:
    """The smallest signed integers that hold task numbers up to this one, and -1 for none.

    Examples
    --------
    >>> task_dtype(127), task_dtype(128)
    (dtype('int8'), dtype('int16'))
    """
    # Signed integers that reach down to -m - 1 reach up to m.
    return np.min_scalar_type(-max(largest, 0) - 1)


def cut_by_task(tasks: NDArray[Any], numbers: NDArray[np.integer], rows: Rows) -> list[tuple[int, Piece]]:
    """Rows cut by task; `tasks` has one row for each, with the tasks that it goes to and -1 for none."""
    at, column = np.nonzero(tasks >= 0)
    task = tasks[at, column]
    order = np.argsort(task, kind="stable")
    at, task = at[order], task[order]
    cuts = np.append(np.flatnonzero(np.diff(task.astype(np.int64), prepend=-1)), len(task))
    return [(int(task[a]), Piece(numbers[at[a:b]], rows[at[a:b]])) for a, b in pairwise(cuts)]
