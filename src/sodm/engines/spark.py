"""Parts as tasks of a Spark stage: the second engine.

A level is one plain job. Blocks of rows that lie on the executors are cut by part, one shuffle brings the
pieces of each part together with what is told of it, and a task solves some parts, one after the other. No
stage is a barrier: a task that is lost with its executor is run again elsewhere, and gives the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Any, NamedTuple

from sodm import _core
from sodm.engines.base import Arrays, Block, Engine, Part, Slot, Table, Task
from sodm.spark.blocks import Piece, in_parts
from sodm.spark.cluster import Cluster
from sodm.spark.rows import ClusterRows
from sodm.spark.shuffle import shuffled

TASKS_PER_SLOT = 4  # each task costs some 50 ms; fewer tasks leave slots idle at the end of a level


class SparkEngine(Engine):
    """Some parts a task.

    Parameters
    ----------
    cluster : Cluster
        What a task may use.
    cache_bytes : int
        What the task's solver has been promised for kernel values; it gets less where an executor has less.

    Attributes
    ----------
    seconds : dict
        Summed over all calls: `solve`, the tasks themselves as if all slots had been busy all the time;
        `shuffle`, to cut blocks by part until the first task begins, and to put the rows of parts together;
        `schedule`, the rest, in which slots waited.
    """

    def __init__(self, cluster: Cluster, cache_bytes: int) -> None:
        self.cluster, self.cache_bytes = cluster, cache_bytes
        self.seconds = {"solve": 0.0, "shuffle": 0.0, "schedule": 0.0}

    def keep(self, table: Table) -> None:
        self._table = table

    def map(self, task: Task, parts: Sequence[Part], deadline: float | None = None) -> list[Arrays | None]:
        if not parts:
            return []
        began = time.perf_counter()
        rows: ClusterRows = self._table.rows
        largest = max(len(part.index) for part in parts)
        self.cluster.check_fits(largest, rows.row_bytes, rows.shape[0])
        share = min(1.0, self.cluster.kernel_bytes(largest * rows.row_bytes) / self.cache_bytes)
        until = None if deadline is None else time.time() + deadline - time.monotonic()
        tasks = self._count_tasks(parts, rows.row_bytes)
        pieces, routes = rows.pieces([part.index for part in parts], tasks)
        context = pieces.context
        common = _common([part.message for part in parts])
        sent = context.broadcast({name: parts[0].message[name] for name in common})
        told = context.parallelize(
            [(k % tasks, self._told(k, part, common)) for k, part in enumerate(parts)],
            min(tasks, self.cluster.slots),
        )
        work = _Work(
            task, sent, self.cluster.task_cpus, share, until, rows.shape[1], rows.sparse, rows.found.dtype
        )
        submitted = time.time()
        with self.cluster.errors(f"{len(parts)} parts of up to {largest} rows"):
            done = shuffled([told, pieces], tasks).mapPartitions(work).collect()
        sent.destroy()
        routes.destroy()
        results: list[Arrays | None] = [None] * len(parts)
        at_once = min(tasks, self.cluster.slots)
        wall = time.perf_counter() - began
        solve = sum(one.solving for one in done) / at_once
        # Clocks of executors may be wrong: then this is, and nothing else.
        cutting = min(one.began for one in done) - submitted
        shuffle = sum(one.reading for one in done) / at_once + min(max(0.0, cutting), wall - solve)
        for one in done:
            results[one.part] = one.result
        for name, value in (("solve", solve), ("shuffle", shuffle), ("schedule", wall - solve - shuffle)):
            self.seconds[name] += max(0.0, value)
        self.overhead += max(0.0, wall - solve)
        return results

    def _count_tasks(self, parts: Sequence[Part], row_bytes: float) -> int:
        """As few as keep all slots busy; more if the rows of a task would not fit beside a part."""
        n_rows = sum(len(part.index) for part in parts)
        for_memory = ceil(n_rows * row_bytes / self.cluster.waiting_bytes)
        return min(len(parts), max(TASKS_PER_SLOT * self.cluster.slots, for_memory))

    def _told(self, k: int, part: Part, common: set[str]) -> _Told:
        message = {name: value for name, value in part.message.items() if name not in common}
        signs, weights = self._table.signs[:, part.index], self._table.weights[part.index]
        return _Told(k, part.index, signs, weights, message)


class _Told(NamedTuple):
    """What a task is told of a part besides its rows."""

    part: int
    index: Any
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
        self,
        task: Task,
        sent: Any,
        n_threads: int,
        share: float,
        until: float | None,
        n_features: int,
        as_csr: bool,
        dtype: Any,
    ) -> None:
        self.task, self.sent, self.n_threads, self.share, self.until = task, sent, n_threads, share, until
        self.n_features, self.as_csr, self.dtype = n_features, as_csr, dtype

    def __call__(self, arrived: Iterable[Any]) -> Iterator[_Done]:
        hour, began = time.time(), time.perf_counter()
        pieces: list[Piece] = []
        told: list[_Told] = []
        for item in arrived:
            (pieces if isinstance(item, Piece) else told).append(item)
        rows = in_parts(pieces, self.n_features, self.as_csr, self.dtype)
        del pieces
        reading = (time.perf_counter() - began) / max(1, len(told))
        for one in sorted(told, key=lambda one: one.part):
            started = time.perf_counter()
            result = self._solve(rows.pop(one.part, None), one)
            yield _Done(one.part, result, hour, reading, time.perf_counter() - started)

    def _solve(self, rows: Any, told: _Told) -> Arrays | None:
        index, found = told.index, 0 if rows is None else rows.shape[0]
        if found != len(index):
            raise RuntimeError(
                f"A part came with {found} rows instead of {len(index)}: the DataFrame gave other "
                "rows when it was computed again. Save it, or checkpoint it, before the fit."
            )
        stop = _core.StopToken()
        clock = None
        if self.until is not None:
            clock = threading.Timer(max(0.0, self.until - time.time()), stop.stop)
            clock.start()
        result = None
        try:
            if self.until is None or time.time() < self.until:
                block = Block(rows, index, told.signs, told.weights)
                slot = Slot(self.n_threads, self.share, stop)
                result = self.task(block, self.sent.value | told.message, slot)
        except _core.Interrupted:
            pass
        finally:
            if clock is not None:
                clock.cancel()
        return result


def _common(messages: Sequence[Arrays]) -> set[str]:
    """What all tasks are told alike: it is sent to each executor once."""
    first = messages[0]
    return {
        name
        for name, value in first.items()
        if all(name in message and message[name] is value for message in messages)
    }
