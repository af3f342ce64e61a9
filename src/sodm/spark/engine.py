"""Parts as tasks of a Spark stage: the engine for clusters.

A level is one plain job. Blocks of rows that lie on the executors are cut by task, one shuffle brings the
rows of each task together, and it solves some parts, one after the other. The rows stay for the next level.
No stage is a barrier: a task that is lost with its executor is run again elsewhere, and gives the same.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.engines.base import Arrays, Block, Engine, Part, Slot, Task
from sodm.engines.threads import ThreadEngine
from sodm.problem.cells import Cells
from sodm.problem.distinct import distinct
from sodm.problem.row_types import Rows
from sodm.spark.accumulators import ListAccumulator
from sodm.spark.blocks import stack
from sodm.spark.broadcasts import broadcast
from sodm.spark.clock import GRACE, JobClock, Stopwatch, cancelled_when
from sodm.spark.cluster import Cluster
from sodm.spark.part_worker import PartRequest, PartResult, PartWorker, Told
from sodm.spark.placement import Index, Placement
from sodm.spark.private import joined_by_task, sent_to_tasks
from sodm.spark.rows import ClusterRows
from sodm.spark.task_rows import RowForm

BYTES_HERE = 2**30  # of kernel values at the driver
# Bytes of requests that all executors are sent: each would be enough with its own, but that takes a stage.
MOST_TOLD = 16 * 2**20


class SparkEngine(Engine):
    """Some parts a task.

    Parameters
    ----------
    cluster : Cluster
        What a task may use: a part that was promised more memory than an executor has gets less.

    Attributes
    ----------
    seconds : dict
        Summed over all calls: `solve`, the tasks themselves as if all slots had been busy all the time, or
        at the driver all its threads; `probe`, to look at the machines of the parts, likewise; `shuffle`, to
        cut blocks by task, the look at the cells of their rows included where these tell the task, and to put
        the rows of parts together; `schedule`, the rest, in which slots waited.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.threads_here = cluster, cluster.driver_cpus
        self.seconds = {"solve": 0.0, "probe": 0.0, "shuffle": 0.0, "schedule": 0.0}
        self._placement: Placement | None = None

    def release(self) -> None:
        """Give up the rows that were moved."""
        if self._placement is not None:
            self._placement.release()
            self._placement = None

    def map(
        self,
        task: Task,
        parts: Sequence[Part],
        deadline: float | None = None,
        stop: _core.StopToken | None = None,
    ) -> list[Arrays | None]:
        if not parts or (deadline is not None and time.monotonic() >= deadline):
            return [None] * len(parts)
        began, moved = time.perf_counter(), self.seconds["shuffle"]
        rows: ClusterRows = self._table.rows
        context = rows.blocks.context
        largest = max(len(part.index) for part in parts)
        self.cluster.check_fits(largest, rows.row_bytes, rows.shape[0])
        memory = int(self.cluster.kernel_bytes(largest * rows.row_bytes))
        numbers = [rows.numbers(part.index) for part in parts]
        common = _common([part.message for part in parts])
        results: ListAccumulator[PartResult] = ListAccumulator(context)
        form = RowForm(rows.shape[1], rows.sparse, rows.dtype)
        what, at_once = f"{len(parts)} parts of up to {largest} rows", 1
        with (
            self.cluster.errors(what),
            cancelled_when(context, None if deadline is None else deadline + GRACE, stop),
        ):
            placement, tasks = self._place(rows, numbers)
            at_once = min(placement.n_tasks, self.cluster.slots)
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            clock = JobClock(left)
            requests = [
                (tasks[k], pickle.dumps(self._request(k, part, numbers[k], common), protocol=5))
                for k, part in enumerate(parts)
            ]
            brought = [placement.pairs]
            if sum(len(request) for _, request in requests) > MOST_TOLD:
                slices = min(len(parts), self.cluster.slots)
                brought.append(sent_to_tasks(context, requests, placement.n_tasks, slices))
                requests = []
            told = Told({name: parts[0].message[name] for name in common}, requests)
            with broadcast(context, told) as sent:
                worker = PartWorker(task, sent, self.cluster.task_cpus, memory, clock, form, results)
                joined_by_task(context, *brought).foreachPartition(worker)
        done = results.take()
        moved = self.seconds["shuffle"] - moved
        self._count(done, time.perf_counter() - began - moved, at_once)
        self.overhead += moved
        support = [one.support for one in done if one.support is not None]
        _hold_support(rows, [(own, vectors.widened()) for own, vectors in support])
        by_part = {one.part: one.result for one in done}
        return [by_part.get(k) for k in range(len(parts))]

    def homes(self, cells: Cells, sizes: NDArray[np.integer], n_threads: int) -> NDArray[np.integer]:
        """The cells of each row; the rows are sent to the tasks of these cells as they are looked at."""
        return self._send_home(cells, sizes)[0]

    def homes_and(
        self,
        look: Callable[[Rows], NDArray[Any]],
        cells: Cells,
        sizes: NDArray[np.integer],
        n_threads: int,
    ) -> tuple[NDArray[np.integer], NDArray[Any]]:
        homes, seen = self._send_home(cells, sizes, look)
        assert seen is not None
        return homes, seen

    def _send_home(
        self,
        cells: Cells,
        sizes: NDArray[np.integer],
        look: Callable[[Rows], NDArray[Any]] | None = None,
    ) -> tuple[NDArray[np.integer], NDArray[Any] | None]:
        self.release()
        moving = Stopwatch()
        with moving, self.cluster.errors("the cells of all rows"):
            self._placement, homes, seen = Placement.by_cells(
                self._table.rows, cells, sizes, self.cluster, look
            )
        self.seconds["shuffle"] += moving.seconds
        return homes, seen

    def map_here(
        self, task: Task, parts: Sequence[Part], stop: _core.StopToken | None = None
    ) -> list[Arrays | None]:
        """The same on the threads of the driver: a job would take longer than a few parts do."""
        began = time.perf_counter()
        spent: list[float] = []

        def timed(block: Block, message: Arrays, slot: Slot) -> Arrays:
            started = time.perf_counter()
            try:
                return task(block, message, slot)
            finally:
                spent.append(time.perf_counter() - started)

        threads = ThreadEngine(self.cluster.driver_cpus, BYTES_HERE)
        threads.keep(self._table)
        results = threads.map(timed, parts, None, stop)
        at_once = min(self.cluster.driver_cpus, len(parts))
        probe = sum((result or {}).get("probe_seconds", 0.0) for result in results) / at_once
        self.seconds["solve"] += sum(spent) / at_once - probe
        self.seconds["probe"] += probe
        self.overhead += max(0.0, time.perf_counter() - began - sum(spent) / at_once)
        return results

    def _place(self, rows: ClusterRows, numbers: Sequence[Index]) -> tuple[Placement, list[int]]:
        """Where the rows of the parts are, and the task of each part."""
        tasks = None if self._placement is None else self._placement.tasks_for(numbers)
        if tasks is None:
            self.release()
            moving = Stopwatch()
            with moving:
                self._placement = Placement.of(rows, numbers, self.cluster)
            self.seconds["shuffle"] += moving.seconds
            tasks = self._placement.tasks
        assert self._placement is not None
        return self._placement, tasks

    def _request(self, k: int, part: Part, numbers: Index, common: set[str]) -> PartRequest:
        message = {name: value for name, value in part.message.items() if name not in common}
        table, index = self._table, part.index
        weights = table.weights[index]
        own = None if np.all(weights == 1) else weights
        offset = None if table.offset is None else table.offset[:, index]
        return PartRequest(k, _narrow(numbers), table.signs[:, index].astype(np.int8), own, offset, message)

    def _count(self, done: Sequence[PartResult], wall: float, at_once: int) -> None:
        probe = sum((one.result or {}).get("probe_seconds", 0.0) for one in done) / at_once
        solve = sum(one.solving for one in done) / at_once - probe
        shuffle = sum(one.reading for one in done) / at_once
        spent = {"solve": solve, "probe": probe, "shuffle": shuffle}
        for name, value in (spent | {"schedule": wall - sum(spent.values())}).items():
            self.seconds[name] += max(0.0, value)
        self.overhead += max(0.0, wall - solve)


def _hold_support(rows: ClusterRows, pieces: Sequence[tuple[NDArray[np.integer], Rows]]) -> None:
    """Keep the support vectors that tasks have sent: whoever makes a machine of them asks for no others."""
    if not pieces:
        return
    numbers, places = distinct(np.concatenate([numbers for numbers, _ in pieces]))
    if rows.sparse:
        first = np.empty(len(numbers), dtype=np.intp)
        first[places] = np.arange(len(places))
        vectors = stack([own for _, own in pieces], rows.shape[1], True, rows.dtype)[first]
    else:
        vectors = np.empty((len(numbers), rows.shape[1]), dtype=rows.dtype)
        cuts = np.cumsum([len(own) for own, _ in pieces[:-1]])
        for place, (_, own) in zip(np.split(places, cuts), pieces, strict=True):
            vectors[place] = own
    rows.fetched.add(numbers, vectors, most=np.inf)


def _narrow(numbers: Index) -> NDArray[np.integer]:
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
