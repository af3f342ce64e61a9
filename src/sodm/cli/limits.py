"""Time limit and peak memory of this process."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


class TimeIsUp(Exception):
    """The time limit was reached."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `TimeIsUp` in the block after so many seconds; the compiled core looks for signals, too."""
    if seconds is None:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp(f"not done within the time limit of {seconds:g} s.")

    if sys.platform == "win32":  # no alarm there: a thread presses Ctrl-C
        over = time.monotonic() + seconds
        keyboard = signal.default_int_handler
        before = signal.signal(
            signal.SIGINT, lambda *how: (ring if time.monotonic() >= over else keyboard)(*how)
        )
        timer = threading.Timer(seconds, _thread.interrupt_main)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            signal.signal(signal.SIGINT, before)
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def peak_memory_mb() -> float:
    """The most memory this process has used so far."""
    if sys.platform == "win32":
        return _peak_of_windows() / 2**20
    if sys.platform == "linux":  # where getrusage counts what the parent had before it started this process
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _peak_of_windows() -> int:
    """PeakWorkingSetSize of PROCESS_MEMORY_COUNTERS, in bytes."""
    import ctypes

    class Counters(ctypes.Structure):
        _fields_ = (
            ("size", ctypes.c_uint32),
            ("faults", ctypes.c_uint32),
            ("peak", ctypes.c_size_t),
            ("others", ctypes.c_size_t * 7),
        )

    counters = Counters(size=ctypes.sizeof(Counters))
    system = getattr(ctypes, "windll").kernel32  # noqa: B009 - there on Windows alone
    system.GetCurrentProcess.restype = ctypes.c_void_p
    process = ctypes.c_void_p(system.GetCurrentProcess())
    system.K32GetProcessMemoryInfo(process, ctypes.byref(counters), counters.size)
    return int(counters.peak)
