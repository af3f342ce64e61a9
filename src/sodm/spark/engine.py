"""Parts as tasks of a Spark stage: the engine for clusters.

A level is one plain job. Blocks of rows that lie on the executors are cut by task, one shuffle brings the
rows of each task together, and it solves some parts, one after the other. The rows stay for the next level.
No stage is a barrier: a task that is lost with its executor is run again elsewhere, and gives the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.engines.base import Arrays, Block, Engine, Part, Slot, Table, Task
from sodm.engines.threads import ThreadEngine
from sodm.problem.distinct import distinct
from sodm.problem.row_types import Rows
from sodm.spark.accumulators import ListAccumulator
from sodm.spark.blocks import stack
from sodm.spark.broadcasts import broadcast
from sodm.spark.clock import GRACE, JobClock, cancelled_when
from sodm.spark.cluster import Cluster
from sodm.spark.part_worker import PartRequest, PartResult, PartWorker
from sodm.spark.placement import Index, Placement
from sodm.spark.private import joined_by_task, keyed_by_task
from sodm.spark.rows import ClusterRows
from sodm.spark.task_rows import RowForm

T = TypeVar("T")

BYTES_HERE = 2**30  # of kernel values at the driver


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
        cut blocks until the first task begins, and to put the rows of parts together; `schedule`, the rest,
        in which slots waited.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.threads_here = cluster, cluster.driver_cpus
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
        self,
        task: Task,
        parts: Sequence[Part],
        deadline: float | None = None,
        stop: _core.StopToken | None = None,
    ) -> list[Arrays | None]:
        left = None if deadline is None else deadline - time.monotonic()
        if not parts or (left is not None and left <= 0):
            return [None] * len(parts)
        began = time.perf_counter()
        rows: ClusterRows = self._table.rows
        context = rows.blocks.context
        largest = max(len(part.index) for part in parts)
        self.cluster.check_fits(largest, rows.row_bytes, rows.shape[0])
        memory = int(self.cluster.kernel_bytes(largest * rows.row_bytes))
        numbers = [rows.numbers(part.index) for part in parts]
        placement, tasks = self._place(rows, numbers)
        common = _common([part.message for part in parts])
        requests = [(tasks[k], self._request(k, part, numbers[k], common)) for k, part in enumerate(parts)]
        clock = JobClock(left)
        results: ListAccumulator[PartResult] = ListAccumulator(context)
        form = RowForm(rows.shape[1], rows.sparse, rows.dtype)
        what = f"{len(parts)} parts of up to {largest} rows"
        with (
            broadcast(context, {name: parts[0].message[name] for name in common}) as sent,
            self.cluster.errors(what),
            cancelled_when(context, None if deadline is None else deadline + GRACE, stop),
        ):
            # The requests come first, so that all processes hear of the job before they cut blocks.
            told = context.parallelize(requests, min(len(parts), self.cluster.slots))
            told = told.mapPartitions(lambda own: _started(clock, own))
            told = keyed_by_task(told, placement.n_tasks)
            worker = PartWorker(task, sent, self.cluster.task_cpus, memory, clock, form, results)
            joined_by_task(context, told, placement.pairs).foreachPartition(worker)
        done = results.take()
        wall = time.perf_counter() - began
        self._count(done, wall, min(placement.n_tasks, self.cluster.slots))
        _hold_support(rows, [one.support for one in done if one.support is not None])
        by_part = {one.part: one.result for one in done}
        return [by_part.get(k) for k in range(len(parts))]

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
            self._placement = Placement.of(rows, numbers, self.cluster)
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
        cutting = min((one.waited for one in done), default=0.0)
        shuffle = min(cutting, wall - solve) + sum(one.reading for one in done) / at_once
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


def _started(clock: JobClock, items: Iterable[T]) -> Iterable[T]:
    """The items as they are; on an executor, whose process counts the time of the job from here on."""
    clock.elapsed()
    return items


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
