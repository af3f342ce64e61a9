"""The Python processes of executors, which Spark uses for one task after the other."""

from __future__ import annotations

import gc
import sys

_modules = 0  # that were there when this process was looked at last


def settle() -> None:
    """Tell Python's collector to leave alone what is there for good: modules, classes, functions.

    Spark's daemon calls `gc.collect()` between two tasks of a process, and the next task waits for it. With
    all that we import there are some 130,000 objects to look at, in 70 ms: more than most of our tasks take.
    Where a task begins, all that earlier ones have left behind has just been collected.
    """
    global _modules
    if len(sys.modules) != _modules:
        gc.freeze()
        _modules = len(sys.modules)
