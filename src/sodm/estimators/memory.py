"""How much memory kernel values may take."""

from __future__ import annotations

from pathlib import Path

MEGABYTE = 2**20
SHARE = 4  # "auto" is a quarter of what is free
UNKNOWN = 4000 * MEGABYTE  # taken to be free where the system does not say

_CONTROL_GROUP = Path("/sys/fs/cgroup")


def cache_bytes(cache_size: float | str) -> int:
    """The bytes of a `cache_size`: megabytes, or "auto" for a quarter of the free memory."""
    if cache_size == "auto":
        return free_memory() // SHARE
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
