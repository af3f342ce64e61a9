"""A fit by all threads against one, beside what the machine's memory gives to as many.

What is bound by memory cannot be faster by more than memory is, and on a machine that is shared that depends
on the neighbours: the same fit may gain 1.6 times or 2.5 times from a second core.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from table import Row
from timing import best_of

VALUES = 2**26  # of four bytes: many times what caches hold


def row(what: str, seconds: float, alone: float, threads: int, bar: float | None) -> Row:
    """`seconds` by `threads` threads, `alone` by one."""
    note = f"memory is read at {read_speed(1):.0f} GB/s by one thread, {read_speed(threads):.0f} by {threads}"
    return Row(what, "one thread", f"{seconds:.2f} s", f"{alone:.2f} s", alone / seconds, bar, note=note)


def read_speed(threads: int) -> float:
    """GB/s at which so many threads together read what is in no cache; the best of some runs."""
    parts = np.array_split(np.ones(VALUES, dtype=np.float32), threads)
    with ThreadPoolExecutor(threads) as pool:
        seconds, _ = best_of(lambda: list(pool.map(np.max, parts)), 8)
    return 4e-9 * VALUES / seconds
