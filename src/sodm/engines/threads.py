"""The default engine: a pool of threads in this process. The compiled solver releases the GIL."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from sodm import _core
from sodm.engines.base import Arrays, Engine, Part, Slot, Table, Task

AWAKE = 0.1  # seconds: a signal that reached another thread is seen within this time


class ThreadEngine(Engine):
    """Parts side by side on threads.

    With as many parts as threads or more, each part is solved by one thread, which is the cheapest way; with
    fewer, they share the threads out. No result depends on the number of threads.

    Parameters
    ----------
    n_threads : int

    Examples
    --------
    >>> import numpy as np
    >>> engine = ThreadEngine(2)
    >>> engine.keep(Table(np.arange(6.0).reshape(6, 1), np.ones((1, 6)), np.ones(6)))
    >>> parts = [Part(np.array([0, 1])), Part(np.array([2, 5]))]
    >>> [result["sum"] for result in engine.map(lambda block, _, slot: {"sum": block.rows.sum()}, parts)]
    [np.float64(1.0), np.float64(7.0)]
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def keep(self, table: Table) -> None:
        self._table = table

    def map(self, task: Task, parts: Sequence[Part], deadline: float | None = None) -> list[Arrays | None]:
        began = time.perf_counter()
        at_once = max(1, min(self.n_threads, len(parts)))
        stop, busy = _core.StopToken(), [0.0] * len(parts)

        def run(k: int, n_threads: int) -> Arrays | None:
            if stop.stopped:
                return None
            started = time.perf_counter()
            try:
                return task(
                    self._table.take(parts[k].index), parts[k].message, Slot(n_threads, 1 / at_once, stop)
                )
            except _core.Interrupted:
                return None
            finally:
                busy[k] = time.perf_counter() - started

        # Long tasks first, so that none of them is left for the end.
        order = sorted(range(len(parts)), key=lambda k: (-len(parts[k].index), k))
        futures: dict[int, Future[Arrays | None]] = {}
        with ThreadPoolExecutor(at_once) as pool:
            try:
                for place, k in enumerate(order):
                    extra = len(parts) < self.n_threads and place < self.n_threads % len(parts)
                    futures[k] = pool.submit(run, k, self.n_threads // at_once + int(extra))
                if not _wait(futures.values(), deadline):  # out of time, or one of them failed
                    stop.stop()
                    wait(futures.values())
            except BaseException:  # Ctrl-C: nothing may go on behind the caller's back
                stop.stop()
                raise
        results = [futures[k].result() for k in range(len(parts))]
        self.overhead += max(0.0, time.perf_counter() - began - sum(busy) / at_once)
        return results


def _wait(futures: Collection[Future[Arrays | None]], deadline: float | None) -> bool:
    """Whether all of them end in time, none with an error."""
    while True:
        left = AWAKE if deadline is None else min(AWAKE, max(0.0, deadline - time.monotonic()))
        done, running = wait(futures, left, return_when=FIRST_EXCEPTION)
        if not running:
            return True
        late = deadline is not None and time.monotonic() >= deadline
        if late or any(future.exception() is not None for future in done):
            return False
