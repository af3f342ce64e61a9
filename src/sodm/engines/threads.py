"""The default engine: a pool of threads in this process. The compiled solver releases the GIL."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from sodm import _core
from sodm.engines.base import Arrays, Engine, Part, Slot, Task

AWAKE = 0.1  # seconds: Ctrl-C, a deadline and the caller's stop token are seen within this time


class ThreadEngine(Engine):
    """Parts side by side on threads.

    With as many parts as threads or more, each part is solved by one thread, which is the cheapest way; with
    fewer, or where not so many fit into memory together, they share the threads out. No result depends on the
    number of threads, since a part gets the same memory whatever runs beside it.

    Parameters
    ----------
    n_threads : int
    memory : int or None
        Bytes: so many parts run at once that their `Part.memory` together stay below it, but at least one.

    Examples
    --------
    >>> import numpy as np
    >>> from sodm.engines.base import Table
    >>> engine = ThreadEngine(2)
    >>> engine.keep(Table(np.arange(6.0).reshape(6, 1), np.ones((1, 6)), np.ones(6)))
    >>> parts = [Part(np.array([0, 1])), Part(np.array([2, 5]))]
    >>> [result["sum"] for result in engine.map(lambda block, _, slot: {"sum": block.rows.sum()}, parts)]
    [np.float64(1.0), np.float64(7.0)]
    """

    def __init__(self, n_threads: int, memory: int | None = None) -> None:
        self.n_threads, self.memory = n_threads, memory

    def map(
        self,
        task: Task,
        parts: Sequence[Part],
        deadline: float | None = None,
        stop: _core.StopToken | None = None,
    ) -> list[Arrays | None]:
        began = time.perf_counter()
        at_once = self._at_once(parts)
        ended, busy = _core.StopToken(), [0.0] * len(parts)  # this call, not all that stop may end

        def run(k: int, n_threads: int) -> Arrays | None:
            if ended.stopped:
                return None
            started = time.perf_counter()
            try:
                return task(self._table.take(parts[k].index), parts[k].message, Slot(n_threads, ended))
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
                    extra = len(parts) == at_once and place < self.n_threads % at_once
                    futures[k] = pool.submit(run, k, self.n_threads // at_once + int(extra))
                if not _wait(futures.values(), deadline, stop):  # out of time, or one of them failed
                    ended.stop()
                    wait(futures.values())
            except BaseException:  # Ctrl-C or stop: nothing may go on behind the caller's back
                ended.stop()
                raise
        results = [futures[k].result() for k in range(len(parts))]
        self.overhead += max(0.0, time.perf_counter() - began - sum(busy) / at_once)
        return results

    def _at_once(self, parts: Sequence[Part]) -> int:
        """How many parts are worked on side by side."""
        largest = max((part.memory for part in parts), default=0)
        fitting = len(parts) if self.memory is None or largest == 0 else self.memory // largest
        return max(1, min(self.n_threads, len(parts), fitting))


def _wait(
    futures: Collection[Future[Arrays | None]], deadline: float | None, stop: _core.StopToken | None
) -> bool:
    """Whether all of them end in time, none with an error; raises when asked to stop."""
    while True:
        left = AWAKE if deadline is None else min(AWAKE, max(0.0, deadline - time.monotonic()))
        done, running = wait(futures, left, return_when=FIRST_EXCEPTION)
        if not running:
            return True
        if stop is not None and stop.stopped:
            raise _core.Interrupted("interrupted")
        late = deadline is not None and time.monotonic() >= deadline
        if late or any(future.exception() is not None for future in done):
            return False
