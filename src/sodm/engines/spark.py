"""Parts as tasks of a Spark stage: the second engine.

A level is one plain job. Blocks of rows that lie on the executors are cut by task, one shuffle brings the
rows of each task together, and it solves some parts, one after the other. The rows stay for the next level.
No stage is a barrier: a task that is lost with its executor is run again elsewhere, and gives the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sodm import _core
from sodm.engines.base import Arrays, Block, Engine, Part, Slot, Table, Task
from sodm.spark.blocks import Piece
from sodm.spark.cluster import Cluster
from sodm.spark.placement import Arrived, Placement
from sodm.spark.rows import ClusterRows
from sodm.spark.shuffle import by_task, together


class SparkEngine(Engine):
    """Some parts a task.

    Parameters
    ----------
    cluster : Cluster
        What a task may use: a part that was promised more memory than an executor has gets less.
    Attributes
    ----------
    seconds : dict
        Summed over all calls: `solve`, the tasks themselves as if all slots had been busy all the time;
        `probe`, to look at the machines of the parts, likewise; `shuffle`, to cut blocks until the first task
        begins, and to put the rows of parts together; `schedule`, the rest, in which slots waited.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.seconds = {"solve": 0.0, "probe": 0.0, "shuffle": 0.0, "schedule": 0.0}
        self._placement: Placement | None = None

    def keep(self, table: Table) -> None:
        self._table = table

    def release(self) -> None:
        """Give up the rows that were moved."""
        if self._placement is not None:
            self._placement.release()
            self._placement = None

    def map(
        self, task: Task, parts: Sequence[Part], deadline: float | None = None, stop: Any = None
    ) -> list[Arrays | None]:
        if stop is not None and stop.stopped:  # between levels only: a job is not broken off
            raise _core.Interrupted("interrupted")
        if not parts:
            return []
        began = time.perf_counter()
        rows: ClusterRows = self._table.rows
        context = rows.blocks.context
        largest = max(len(part.index) for part in parts)
        self.cluster.check_fits(largest, rows.row_bytes, rows.shape[0])
        memory = int(self.cluster.kernel_bytes(largest * rows.row_bytes))
        until = None if deadline is None else time.time() + deadline - time.monotonic()
        numbers = [rows.numbers(part.index) for part in parts]
        placement, tasks = self._place(rows, numbers)
        common = _common([part.message for part in parts])
        sent = context.broadcast({name: parts[0].message[name] for name in common})
        notes = context.parallelize(
            [(tasks[k], self._told(k, part, numbers[k], common)) for k, part in enumerate(parts)],
            min(len(parts), self.cluster.slots),
        )
        form = rows.shape[1], rows.sparse, rows.found.dtype
        work = _Work(task, sent, self.cluster.task_cpus, memory, until, form)
        submitted = time.time()
        with self.cluster.errors(f"{len(parts)} parts of up to {largest} rows"):
            placed = together(context, placement.pairs, by_task(notes, placement.n_tasks))
            done = placed.mapPartitions(work).collect()
        sent.destroy()
        wall = time.perf_counter() - began
        self._count(done, wall, submitted, min(placement.n_tasks, self.cluster.slots))
        by_part = {one.part: one.result for one in done}
        return [by_part[k] for k in range(len(parts))]

    def _place(self, rows: ClusterRows, numbers: Sequence[Any]) -> tuple[Placement, list[int]]:
        """Where the rows of the parts are, and the task of each part."""
        tasks = None if self._placement is None else self._placement.tasks_for(numbers)
        if tasks is None:
            self.release()
            self._placement = Placement.of(rows, numbers, self.cluster)
            tasks = self._placement.tasks_for(numbers)
        assert self._placement is not None and tasks is not None
        return self._placement, tasks

    def _told(self, k: int, part: Part, numbers: Any, common: set[str]) -> _Told:
        message = {name: value for name, value in part.message.items() if name not in common}
        signs, weights = self._table.signs[:, part.index], self._table.weights[part.index]
        alike = None if np.all(weights == 1) else weights
        return _Told(k, _narrow(numbers), signs.astype(np.int8), alike, message)

    def _count(self, done: Sequence[_Done], wall: float, submitted: float, at_once: int) -> None:
        probe = sum((one.result or {}).get("probe_seconds", 0.0) for one in done) / at_once
        solve = sum(one.solving for one in done) / at_once - probe
        # Clocks of executors may be wrong: then this is, and nothing else.
        cutting = min(max(0.0, min(one.began for one in done) - submitted), wall - solve)
        shuffle = cutting + sum(one.reading for one in done) / at_once
        spent = {"solve": solve, "probe": probe, "shuffle": shuffle}
        for name, value in (spent | {"schedule": wall - sum(spent.values())}).items():
            self.seconds[name] += max(0.0, value)
        self.overhead += max(0.0, wall - solve)


class _Told(NamedTuple):
    """What a task is told of a part: the numbers of its rows, signs, weights if they are not all one."""

    part: int
    numbers: Any
    signs: Any
    weights: Any
    message: Arrays


class _Done(NamedTuple):
    """A part's result: when its task began, seconds to bring its rows together, and to solve it."""

    part: int
    result: Arrays | None
    began: float
    reading: float
    solving: float


class _Work:
    """What one task of the stage does."""

    def __init__(
        self, task: Task, sent: Any, n_threads: int, memory: int, until: float | None, form: Any
    ) -> None:
        self.task, self.sent, self.n_threads, self.memory, self.until = task, sent, n_threads, memory, until
        self.form = form

    def __call__(self, items: Iterable[Any]) -> Iterator[_Done]:
        hour, began = time.time(), time.perf_counter()
        pieces: list[Piece] = []
        told: list[_Told] = []
        for item in items:
            (pieces if isinstance(item, Piece) else told).append(item)
        arrived = Arrived(pieces, *self.form)
        del pieces
        reading = (time.perf_counter() - began) / max(1, len(told))
        for one in sorted(told, key=lambda one: one.part):
            started = time.perf_counter()
            rows = arrived.take(one.numbers)
            taken = time.perf_counter()
            result = self._solve(rows, one)
            yield _Done(one.part, result, hour, reading + taken - started, time.perf_counter() - taken)

    def _solve(self, rows: Any, told: _Told) -> Arrays | None:
        stop = _core.StopToken()
        clock = None
        if self.until is not None:
            clock = threading.Timer(max(0.0, self.until - time.time()), stop.stop)
            clock.start()
        weights = np.ones(rows.shape[0]) if told.weights is None else told.weights
        block = Block(rows, told.numbers, told.signs.astype(np.float64), weights)
        try:
            if self.until is None or time.time() < self.until:
                slot = Slot(self.n_threads, stop, self.memory)
                return self.task(block, self.sent.value | told.message, slot)
        except _core.Interrupted:
            pass
        finally:
            if clock is not None:
                clock.cancel()
        return None


def _narrow(numbers: Any) -> Any:
    """In four bytes each, if they fit."""
    return numbers.astype(np.int32) if len(numbers) == 0 or numbers.max() < 2**31 else numbers


def _common(messages: Sequence[Arrays]) -> set[str]:
    """What all tasks are told alike: it is sent to each executor once."""
    first = messages[0]
    return {
        name
        for name, value in first.items()
        if all(name in message and message[name] is value for message in messages)
    }
