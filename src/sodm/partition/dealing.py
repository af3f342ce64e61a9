"""Dealing rows to partitions, like cards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def deal(
    strata: NDArray[np.intp],
    classes: NDArray[np.intp],
    n_partitions: int,
    rng: np.random.RandomState,
) -> NDArray[np.intp]:
    """Deals each stratum, in random order, to the partitions in turn.

    Rows are dealt class by class and, within a class, stratum by stratum, always on from where the last
    stratum stopped. Any run of consecutive cards differs between two partitions by at most one. So these do
    too:

    - the sizes of the partitions,
    - the number of rows of each class (hence a class with at least K rows is in every partition),
    - the number of rows of each class within each stratum.

    The pieces of a whole stratum, one run for each class, differ by at most the number of classes.

    Examples
    --------
    >>> strata, classes = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 0, 1])
    >>> parts = deal(strata, classes, 2, np.random.RandomState(0))
    >>> [sorted(zip(strata[parts == k].tolist(), classes[parts == k].tolist())) for k in range(2)]
    [[(0, 0), (0, 1), (1, 0)], [(0, 0), (1, 0), (1, 1)]]
    """
    n = len(strata)
    groups = classes * (int(strata.max(initial=0)) + 1) + strata
    if groups.max(initial=0) <= np.iinfo(np.uint16).max:
        groups = groups.astype(np.uint16)  # which NumPy sorts in linear time
    order = rng.permutation(n)
    order = order[np.argsort(groups[order], kind="stable")]
    hands = rng.permutation(n_partitions)
    assignment = np.empty(n, dtype=np.intp)
    assignment[order] = hands[np.arange(n) % n_partitions]
    return assignment


def sample_rows(
    n: int, at_most: int, rng: np.random.RandomState, always: int | None = None
) -> NDArray[np.intp]:
    """At most so many of the rows 0..n-1 at random, in order; `always` is a row to have among them."""
    if n <= at_most:
        return np.arange(n)
    rows = rng.permutation(n)[:at_most]
    if always is not None and always not in rows:
        rows[0] = always
    return np.sort(rows)
