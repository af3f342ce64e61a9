"""How large the parts should be, and where they start: what a small sample, solved first, tells.

Working sets make a part of m rows with a share r of support vectors cost about (r m)^2, so all parts
together cost r^2 m for each row. Parts of m = 2,000 (1/2 / r)^2 rows hold that cost where it is for 2,000
rows of which half are support vectors: where few rows matter, parts are larger and know more, for the same
price.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays

# Up to this many distinct rows the exact machine takes a second or so, and nothing is to be gained by parts.
EXACT_ROWS = 10_000

PILOT_ROWS = 2000
FEWEST_ROWS, MOST_ROWS = 2000, 8000
USUAL_SHARE = 0.5


@dataclass(frozen=True)
class Pilot:
    """A sample of the rows, solved.

    Attributes
    ----------
    share : float
        Of its rows that are support vectors.
    machine : Arrays
        Its f as a message to the parts, empty if they are to start from zero.
    seconds : float
    """

    share: float
    machine: Arrays
    seconds: float = 0.0


def sample(n: int, n_partitions: int | None, seed: int) -> NDArray[np.intp]:
    """The rows of the pilot: no more than a part has."""
    size = PILOT_ROWS if n_partitions is None else min(PILOT_ROWS, ceil(n / n_partitions))
    return np.sort(np.random.RandomState(seed).permutation(n)[:size])


def parts_for(n: int, share: float, branching: int) -> int:
    """The number of parts for n rows, a multiple of the branching number.

    Examples
    --------
    >>> parts_for(100_000, 0.9, 2), parts_for(100_000, 0.3, 2), parts_for(100_000, 0.01, 2)
    (50, 18, 14)
    """
    rows = FEWEST_ROWS * (USUAL_SHARE / max(share, 1e-9)) ** 2
    return branching * ceil(n / (branching * min(max(rows, FEWEST_ROWS), MOST_ROWS)))
