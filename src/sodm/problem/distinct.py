"""Numbers of rows, each once: without a sort, for they are numbers up to that of all rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def distinct(numbers: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The numbers that occur, in order, and the place of each one among them; as `np.unique` would tell.

    Examples
    --------
    >>> values, places = distinct(np.array([7, 2, 7]))
    >>> values.tolist(), places.tolist()
    ([2, 7], [1, 0, 1])
    """
    there = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=bool)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]
