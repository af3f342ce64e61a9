"""What one task of a level does on its executor: put the rows of its parts together, and solve one after the
other."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark import Broadcast, TaskContext

from sodm import _core
from sodm.engines.base import Arrays, Block, Slot, Task
from sodm.problem.row_types import Rows
from sodm.spark.accumulators import ListAccumulator
from sodm.spark.clock import JobClock
from sodm.spark.narrow import NarrowRows
from sodm.spark.processes import settle
from sodm.spark.routing import Piece
from sodm.spark.task_rows import RowForm, TaskRows


class PartRequest(NamedTuple):
    """What a task is told of a part: the numbers of its rows, signs, weights if they are not all one, what is
    added to the margins if anything is."""

    part: int
    numbers: NDArray[np.integer]
    signs: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    offset: NDArray[np.float64] | None
    message: Arrays


class Told(NamedTuple):
    """What all tasks of a level are sent: what all parts are told, and, where they are not long, all requests
    with the numbers of their tasks, pickled."""

    common: Arrays
    requests: list[tuple[int, bytes]]


class PartResult(NamedTuple):
    """A part's result, None if it was stopped; its support vectors with their numbers, if asked for; and the
    seconds it took to bring its rows together, and to solve it."""

    part: int
    result: Arrays | None
    support: tuple[NDArray[np.integer], NarrowRows] | None
    reading: float
    solving: float


@dataclass(frozen=True)
class PartWorker:
    """Works on the items of a task: pieces of rows, and requests that are not told.

    Parameters
    ----------
    task : Task
        What is done to each part.
    told : Broadcast
        What all tasks are told.
    n_threads : int
    memory : int
        Bytes that there are for kernel values.
    clock : JobClock
    form : RowForm
    results : ListAccumulator
        Where results are handed over. So those of tasks that have ended are there even if the job is
        cancelled before the others have.
    """

    task: Task
    told: Broadcast[Told]
    n_threads: int
    memory: int
    clock: JobClock
    form: RowForm
    results: ListAccumulator[PartResult]

    def __call__(self, items: Iterable[Piece | bytes]) -> None:
        settle()
        self.clock.elapsed()  # its time is counted from here on
        began = time.perf_counter()
        pieces: list[Piece] = []
        told = self.told.value
        context = TaskContext.get()
        assert context is not None
        sent = [request for task, request in told.requests if task == context.partitionId()]
        for item in items:
            if isinstance(item, Piece):
                pieces.append(item)
            else:
                sent.append(item)
        requests: list[PartRequest] = [pickle.loads(request) for request in sent]
        rows = TaskRows(pieces, self.form)
        del pieces
        reading = time.perf_counter() - began  # for all parts, told with the first
        for request in sorted(requests, key=lambda request: request.part):
            started = time.perf_counter()
            own = rows.take(request.numbers)
            taken = time.perf_counter()
            result = self._solve(own, request)
            solving = time.perf_counter() - taken
            support = None
            if result is not None and told.common.get("final"):
                used = np.flatnonzero(np.any(result["duals"] != 0, axis=0))
                support = request.numbers[used], NarrowRows.of(own[used])
            reading += taken - started
            self.results.add(PartResult(request.part, result, support, reading, solving))
            reading = 0.0

    def _solve(self, rows: Rows, request: PartRequest) -> Arrays | None:
        left = self.clock.left()
        if left == 0:
            return None
        stop = _core.StopToken()
        timer = None if left is None else threading.Timer(left, stop.stop)
        if timer is not None:
            timer.daemon = True
            timer.start()
        weights = np.ones(rows.shape[0]) if request.weights is None else request.weights
        signs = request.signs.astype(np.float64)
        block = Block(rows, request.numbers, signs, weights, request.offset)
        slot = Slot(self.n_threads, stop, self.memory)
        try:
            return self.task(block, self.told.value.common | request.message, slot)
        except _core.Interrupted:
            return None
        finally:
            if timer is not None:
                timer.cancel()
