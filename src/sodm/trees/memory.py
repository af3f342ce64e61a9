"""How much memory a part gets for kernel values: by the number and the size of the parts alone.

Solvers choose their way by the memory they are given. So it must not depend on how many parts happen to be
solved at the same time, or the number of threads would change the machine: each part of a level gets an equal
share, an eighth at least, and where not so many parts fit together, fewer of them are solved at once.
"""

from __future__ import annotations

MOST_SHARES = 8  # more than so many parts are solved at once only if they need less than a share

_BYTES = 8  # of a value: what single precision cannot certify is finished in double
_TILE = 256  # a Gram matrix is kept in tiles, and the last ones are not full


def part_share(cache_bytes: int, n_parts: int) -> int:
    """Bytes of kernel values that each part of a level may keep.

    Examples
    --------
    >>> [part_share(1000, n) for n in (1, 4, 8, 100)]
    [1000, 250, 125, 125]
    """
    return cache_bytes // min(n_parts, MOST_SHARES)


def region_share(cache_bytes: int, n_parts: int, n_rows: int) -> int:
    """The same for a region of so many rows: enough for all its values in single precision, if half of the
    bytes are. Large regions of narrow kernels take ten times as long without.

    Examples
    --------
    >>> [region_share(10**9, 20, n) for n in (2560, 10_240, 25_600)]
    [125000000, 419430400, 500000000]
    """
    return max(part_share(cache_bytes, n_parts), min(cache_bytes // 2, most_needed(n_rows) // 2))


def most_needed(n_rows: int) -> int:
    """Bytes of all kernel values of a part: more than these are never kept."""
    return (-(-n_rows // _TILE) * _TILE) ** 2 * _BYTES
