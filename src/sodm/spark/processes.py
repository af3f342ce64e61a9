"""The Python processes of executors, which Spark uses for one task after the other."""

from __future__ import annotations

import ctypes
import gc
import sys

# Of glibc's malloc.h, and bytes: of the largest arrays that are cut from the heap, as large as it allows, and
# of the heap's free end that a process keeps. A task's blocks of 8 MB are several arrays each.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
CUT_FROM_HEAP, KEPT = 32 * 2**20, 256 * 2**20

_modules = 0  # that were there when this process was looked at last


def settle() -> None:
    """Tell Python's collector to leave alone what is there for good: modules, classes, functions. And keep
    the memory of a task for the next: the system clears all that it hands out, which took a tenth of the time
    of a fit besides solving.

    Spark's daemon calls `gc.collect()` between two tasks of a process, and the next task waits for it. With
    what our tasks import there are some 54,000 objects to look at, in 20 ms: as long as a short task takes.
    Where a task begins, all that earlier ones have left behind has just been collected.
    """
    global _modules
    if _modules == 0:
        _keep_memory()
    if len(sys.modules) != _modules:
        gc.freeze()
        _modules = len(sys.modules)


def _keep_memory() -> None:
    """Where the C library is glibc; others are left as they are."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, CUT_FROM_HEAP)
        mallopt(M_TRIM_THRESHOLD, KEPT)
