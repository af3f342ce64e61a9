"""Rows a few at a time, so that temporary arrays stay small."""

from __future__ import annotations

from collections.abc import Iterator

# Elements of a temporary array made at a time: 8 MB of doubles.
_BLOCK = 2**20


def chunks(n: int, width: int) -> Iterator[slice]:
    """Runs of n rows, so short that `width` values for each stay small."""
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, min(n, start + step)) for start in range(0, n, step))
