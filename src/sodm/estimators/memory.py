"""How much memory kernel values may take."""

from __future__ import annotations

from pathlib import Path

MEGABYTE = 2**20
SHARE = 4  # "auto" is a quarter of what is free,
LEAST = 1000 * MEGABYTE  # but so much at least: below it solvers go other ways, and the machine's last digits
# would depend on who else is running
UNKNOWN = 4000 * MEGABYTE  # taken to be free where the system does not say

_CONTROL_GROUP = Path("/sys/fs/cgroup")


def cache_bytes(cache_size: float | str, in_parts: bool = False, n_rows: int | None = None) -> int:
    """The bytes of a `cache_size`: megabytes, or "auto" for a quarter of the free memory, 1000 MB at least.

    Parts share what there is, and are small: there "auto" is the 1000 MB, whatever is free. So it is where
    all kernel values of `n_rows` rows are fewer.
    """
    if cache_size == "auto":
        small = in_parts or (n_rows is not None and 8 * n_rows**2 <= LEAST)
        return LEAST if small else max(free_memory() // SHARE, LEAST)
    return int(float(cache_size) * MEGABYTE)


def free_memory() -> int:
    """Bytes that this process may still take, by the system and by the limit of its container."""
    free = _available()
    try:
        limit = (_CONTROL_GROUP / "memory.max").read_text().strip()
        used = int((_CONTROL_GROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return free
    return free if limit == "max" else max(min(free, int(limit) - used), MEGABYTE)


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return UNKNOWN
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return UNKNOWN
