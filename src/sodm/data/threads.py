"""The number of threads a reader uses."""

from __future__ import annotations

from sodm import _core


def threads_for(n_threads: int | None) -> int:
    """As given; None is all cores."""
    return int(_core.resolve_threads(-1 if n_threads is None else n_threads))
