"""Speed-up on more machines than there are, from pieces that were measured.

A fit is, level by level: the parts, which run side by side; what it takes to bring their rows together, which
all cores share; and what the driver does while all wait. So on c cores::

    T(c) = packing / c + sum over levels ( makespan(part seconds, c) + shuffle / c + schedule )
           + pilot + driver

A sample is solved alone before all parts (the pilot). The makespan is that of tasks given out longest
first, which is what Spark comes near to. `packing`, with all other passes over the rows, and `shuffle` are
core seconds of the whole fit; `schedule` is the time in which no task was busy, and does not shrink. Not in
it: executors that are slower than others, and a network that is shared with somebody else.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Pieces:
    """Seconds of one fit."""

    packing: float
    shuffle: float
    schedule: float
    pilot: float
    driver: float
    levels: list[list[float]]
    """The seconds of all parts, level by level."""


def makespan(tasks: Sequence[float], cores: int) -> float:
    """When the last task ends, if the longest begin first.

    >>> makespan([3.0, 2.0, 2.0, 1.0], 2)
    4.0
    """
    ends = [0.0] * min(cores, max(1, len(tasks)))
    for seconds in sorted(tasks, reverse=True):
        heapq.heappush(ends, heapq.heappop(ends) + seconds)
    return max(ends)


def time_on(pieces: Pieces, cores: int) -> float:
    """T(c) above."""
    waiting = pieces.schedule + pieces.pilot + pieces.driver
    shared = (pieces.packing + pieces.shuffle) / cores
    return waiting + shared + sum(makespan(tasks, cores) for tasks in pieces.levels)
