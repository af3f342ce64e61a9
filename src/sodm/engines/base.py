"""What an engine takes and gives.

A tree knows row numbers only. An engine keeps the rows where they will be worked on (`keep`), runs a task on
each part (`map`), combines what came back (`reduce`), and reports the time that was lost around the tasks.
What travels to a task and back is plain arrays, so that a part may be worked on in another process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sodm import _core

T = TypeVar("T")
Arrays = dict[str, Any]  # plain arrays and numbers by name


@dataclass(frozen=True)
class Block:
    """The rows of one part, as a task gets them.

    Attributes
    ----------
    rows : ndarray or CSR matrix, shape (m, n_features)
        For a precomputed kernel, the values of these rows with all n rows.
    columns : ndarray of int, shape (m,)
        The numbers of the rows in the whole table.
    signs : ndarray, shape (n_problems, m)
    weights : ndarray, shape (m,)
    offset : ndarray, shape (n_problems, m), or None
        What is added to the margins, signs * f + offset.
    """

    rows: Any
    columns: NDArray[np.integer]
    signs: NDArray[np.float64]
    weights: NDArray[np.float64]
    offset: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Table:
    """All rows of a problem."""

    rows: Any
    signs: NDArray[np.float64]
    weights: NDArray[np.float64]
    offset: NDArray[np.float64] | None = None

    def take(self, index: NDArray[np.intp]) -> Block:
        """The rows of these numbers."""
        offset = None if self.offset is None else self.offset[:, index]
        return Block(self.rows[index], index, self.signs[:, index], self.weights[index], offset)


@dataclass(frozen=True)
class Part:
    """Row numbers, and what a task is told about them.

    Attributes
    ----------
    index : ndarray of int
    message : Arrays
    memory : int
        Bytes that its task may come to hold besides its rows.
    """

    index: NDArray[np.intp]
    message: Arrays = field(default_factory=dict)
    memory: int = 0


@dataclass(frozen=True)
class Slot:
    """What a task may use.

    Attributes
    ----------
    n_threads : int
    stop : StopToken of the core
        Ends the task early when it is set.
    memory : int or None
        Bytes that there are for kernel values, where that may be less than the task was promised.
    """

    n_threads: int
    stop: _core.StopToken
    memory: int | None = None


Task = Callable[[Block, Arrays, Slot], Arrays]


class Engine(ABC):
    """Runs tasks on parts.

    Attributes
    ----------
    overhead : float
        Seconds of the calls to `map` in which no task was running, summed over all calls.
    threads_here : int or None
        Threads of this process, where tasks run elsewhere; None if they run here.
    """

    overhead: float = 0.0
    threads_here: int | None = None
    _table: Table

    def keep(self, table: Table) -> None:
        """Take over the rows; parts name them by number."""
        self._table = table

    @abstractmethod
    def map(
        self,
        task: Task,
        parts: Sequence[Part],
        deadline: float | None = None,
        stop: _core.StopToken | None = None,
    ) -> list[Arrays | None]:
        """The results of the task on all parts, in their order, whatever the order they were worked on.

        A row may be in several parts.

        Parameters
        ----------
        task : callable
            Takes a block, the part's message and a slot, and gives plain arrays.
        parts : sequence of Part
        deadline : float, optional
            On the clock of `time.monotonic`: tasks that have not ended by then are stopped, and their result
            is None.
        stop : StopToken of the core, optional
            Another thread may set it: then this call ends soon, with `_core.Interrupted`.
        """

    def map_here(
        self, task: Task, parts: Sequence[Part], stop: _core.StopToken | None = None
    ) -> list[Arrays | None]:
        """The same in this process, wherever others run: for few parts whose rows were brought here."""
        return self.map(task, parts, None, stop)

    def homes(self, cells: Any, sizes: NDArray[np.integer], n_threads: int) -> NDArray[np.integer]:
        """The cells of each row, as `Cells.homes` tells them; the parts of the next `map` are their rows.

        Parameters
        ----------
        cells : Cells
        sizes : int array
            About how many rows each has, in proportion: an engine that moves rows may do so on this occasion.
        n_threads : int
        """
        return self._table.rows.map_rows(partial(cells.homes, n_threads=n_threads))

    def homes_and(
        self,
        look: Callable[[Any], NDArray[Any]],
        cells: Any,
        sizes: NDArray[np.integer],
        n_threads: int,
    ) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """`homes`, and what `look` tells of rows, one result for each: of rows elsewhere in one pass."""
        return self.homes(cells, sizes, n_threads), self._table.rows.map_rows(look)

    def reduce(self, function: Callable[[T, T], T], values: Sequence[T]) -> T:
        """The values combined from left to right: in a fixed order sums come out the same everywhere."""
        return reduce(function, values)
