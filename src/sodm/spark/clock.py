"""Time limits of jobs, without comparing the clocks of two machines: one may be minutes ahead of the other.

The driver says how many seconds are left when it submits a job. Each executor counts them, on the monotonic
clock of its machine, from when one of its Python processes first hears of that job: so a task that waited in
the queue while others ran in its place has no more time than they had, also where Spark gives it to another
process. What is left out is the time until the job reached the executor. So the driver cancels what has not
ended some seconds after its own deadline.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from pyspark import SparkContext, SparkFiles, TaskContext

from sodm import _core

AWAKE = 0.1  # seconds: a deadline and the caller's stop token are seen within this time
GRACE = 5.0  # seconds after the deadline, for tasks to notice and for their results to arrive
REMEMBERED = 64  # jobs a process remembers: some may run side by side, and those before them are over

_first_heard: dict[str, float] = {}  # by the name of a job


class JobClock:
    """The time of one job, as the processes of the executors count it.

    Parameters
    ----------
    limit : float or None
        Seconds left when the job is submitted.
    """

    def __init__(self, limit: float | None) -> None:
        self.name, self.limit = uuid4().hex, limit

    def elapsed(self) -> float:
        """Seconds since this executor first heard of the job; the first call is what starts to count."""
        now = time.monotonic()
        if self.name not in _first_heard:
            _first_heard[self.name] = now if self.limit is None else _told_by_others(self.name, now)
            while len(_first_heard) > REMEMBERED:
                del _first_heard[next(iter(_first_heard))]
        return now - _first_heard[self.name]

    def left(self) -> float | None:
        """Seconds left, 0 if there are none; None without a limit."""
        return None if self.limit is None else max(0.0, self.limit - self.elapsed())


def _told_by_others(name: str, now: float) -> float:
    """When the first Python process of this executor heard of a job: a file in its folder tells the others.

    An executor may have more processes than slots: one is started where the last is not yet free.
    """
    if TaskContext.get() is None:
        return now
    path = os.path.join(SparkFiles.getRootDirectory(), f"sodm-{name}")
    try:
        with open(path, "x") as file:
            file.write(repr(now))
    except FileExistsError:
        with open(path) as file:
            return float(file.read() or now)  # empty: it was made just now
    except OSError:  # a folder that cannot be written to
        pass
    return now


class Stopwatch:
    """Seconds that were spent inside of it."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        self.seconds += time.perf_counter() - self._began


@contextmanager
def cancelled_when(
    context: SparkContext, deadline: float | None, stop: _core.StopToken | None = None
) -> Iterator[None]:
    """Cancels the jobs that are run inside of it, at a deadline or when they are to stop.

    Parameters
    ----------
    context : SparkContext
    deadline : float or None
        On the driver's `time.monotonic`. Jobs that are cancelled then end without an error.
    stop : StopToken of the core, or None
        Jobs that are cancelled because it was set end with `_core.Interrupted`.
    """
    if deadline is None and stop is None:
        yield
        return
    tag, over, cancelled = f"sodm-{uuid4().hex}", threading.Event(), threading.Event()

    def is_due() -> bool:
        late = deadline is not None and time.monotonic() >= deadline
        return late or (stop is not None and stop.stopped)

    def watch() -> None:
        while not over.wait(AWAKE):
            if is_due():
                cancelled.set()
                context.cancelJobsWithTag(tag)  # again and again: it may not have begun when this is due

    watcher = threading.Thread(target=watch, daemon=True)
    context.addJobTag(tag)
    watcher.start()
    try:
        yield
    except Exception as error:
        if not (cancelled.is_set() and type(error).__module__.startswith(("py4j", "pyspark"))):
            raise
    finally:
        over.set()
        watcher.join()
        context.removeJobTag(tag)
    if stop is not None and stop.stopped:
        raise _core.Interrupted("interrupted")
