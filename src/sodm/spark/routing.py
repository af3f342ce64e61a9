"""Which rows go to which task: blocks are cut on the executors, and pieces know the numbers of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark import RDD, Broadcast

from sodm.problem.cells import Cells
from sodm.problem.row_types import Rows
from sodm.spark.accumulators import ListAccumulator
from sodm.spark.blocks import PackedBlock, Place, in_form
from sodm.spark.narrow import NarrowRows, NarrowValues
from sodm.spark.processes import settle

if TYPE_CHECKING:
    from sodm.spark.rows import ClusterRows


@dataclass(frozen=True)
class Piece:
    """Rows of one block on their way, with their numbers in the DataFrame."""

    numbers: NDArray[np.integer]
    rows: Rows

    def __reduce__(self) -> tuple[Any, ...]:
        return _piece, (NarrowValues.of(self.numbers), NarrowRows.of(self.rows))


def _piece(numbers: NarrowValues, rows: NarrowRows) -> Piece:
    return Piece(numbers.widened(), rows.widened())


class SeenBlock(NamedTuple):
    """What is told of the rows of a block that are sent to their cells: these (see `Cells.homes`), and what
    else was asked for."""

    place: Place
    homes: NDArray[np.integer]
    seen: NDArray[Any] | None


@dataclass(frozen=True)
class Route:
    """Rows on their way to tasks.

    Attributes
    ----------
    pieces : RDD of pairs (task, Piece)
    plan : Broadcast or None
        What tells which rows go where. It is needed as long as the RDD is, and again if a partition is lost.
    """

    pieces: RDD[tuple[int, Piece]]
    plan: Broadcast[Any] | None

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

    @classmethod
    def by_cells(
        cls,
        rows: ClusterRows,
        cells: Cells,
        task_of: NDArray[np.int32],
        n_threads: int,
        look: Callable[[Rows], NDArray[Any]] | None = None,
    ) -> tuple[Route, ListAccumulator[SeenBlock]]:
        """Cut the blocks by the tasks of their rows' cells, which are found on the way: the cells of the rows
        of each block (see `Cells.homes`) come to the driver when the rows are sent.

        Parameters
        ----------
        rows : ClusterRows
        cells : Cells
        task_of : int array
            The task of each cell.
        n_threads : int
        look : callable, optional
            What else is to be told of the rows of each block.
        """
        context, survey, as_csr = rows.blocks.context, rows.survey, rows.sparse
        first = dict(zip(survey.places, survey.bounds.tolist(), strict=False))
        dtype = task_dtype(len(cells))
        plan = context.broadcast((cells, task_of, rows.meant_by_block()))
        told: ListAccumulator[SeenBlock] = ListAccumulator(context)

        def cut(blocks: Iterable[PackedBlock]) -> Iterator[tuple[int, Piece]]:
            settle()
            cells, task_of, meant = plan.value
            for block in blocks:
                own = in_form(block.rows, as_csr)
                homes = cells.homes(own, n_threads)
                told.add(SeenBlock(block.place, homes.astype(dtype), None if look is None else look(own)))
                tasks = tasks_of_homes(homes, task_of, None if meant is None else meant[block.place])
                yield from cut_by_task(tasks, first[block.place] + np.arange(len(tasks)), own)

        return cls(rows.blocks.mapPartitions(cut), plan), told

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


def tasks_of_homes(
    homes: NDArray[np.integer], task_of: NDArray[np.int32], meant: NDArray[np.bool_] | None = None
) -> NDArray[np.int32]:
    """The tasks of rows by their cells: each once, then -1; of rows that are not meant none.

    Examples
    --------
    >>> tasks_of_homes(np.array([[0, -1], [0, 1], [2, 0]]), np.array([5, 5, 6])).tolist()
    [[5, -1], [5, -1], [6, 5]]
    """
    tasks = np.append(task_of, -1)[homes]  # the last one for -1
    tasks[tasks[:, 1] == tasks[:, 0], 1] = -1
    if meant is not None:
        tasks[~meant] = -1
    return tasks


def cut_by_task(tasks: NDArray[Any], numbers: NDArray[np.integer], rows: Rows) -> list[tuple[int, Piece]]:
    """Rows cut by task; `tasks` has one row for each, with the tasks that it goes to and -1 for none."""
    at, column = np.nonzero(tasks >= 0)
    task = tasks[at, column]
    order = np.argsort(task, kind="stable")
    at, task = at[order], task[order]
    cuts = np.append(np.flatnonzero(np.diff(task.astype(np.int64), prepend=-1)), len(task))
    return [(int(task[a]), Piece(numbers[at[a:b]], rows[at[a:b]])) for a, b in pairwise(cuts)]
