"""Work side by side on threads that Ctrl-C and a deadline can end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from sodm import _core

AWAKE = 0.1  # seconds: Ctrl-C and the deadline are seen within this time
Result = TypeVar("Result")


class OutOfTime(Exception):
    """The deadline has passed."""


def run_all(
    jobs: Sequence[Callable[[_core.StopToken], Result]], n_threads: int, deadline: float | None = None
) -> list[Result]:
    """What the jobs return, in their order. Each gets a stop token to hand on to the solver.

    Raises
    ------
    OutOfTime
        If `time.monotonic()` reaches the deadline before they are all done.
    """
    ended = _core.StopToken()

    def run(job: Callable[[_core.StopToken], Result]) -> Result | None:
        return None if ended.stopped else job(ended)

    with ThreadPoolExecutor(max(1, min(n_threads, len(jobs)))) as pool:
        try:
            futures = [pool.submit(run, job) for job in jobs]
            while True:
                left = AWAKE if deadline is None else min(AWAKE, max(0.0, deadline - time.monotonic()))
                done, running = wait(futures, left, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()  # raises what the job did
                if not running:
                    break
                if deadline is not None and time.monotonic() >= deadline:
                    raise OutOfTime
        except BaseException:  # nothing may go on behind the caller's back
            ended.stop()
            raise
    return [future.result() for future in futures]  # type: ignore[misc]
