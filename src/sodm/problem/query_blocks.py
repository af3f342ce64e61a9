"""Queries in blocks, so that the memory they take does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sodm.problem.row_types import Rows, is_sparse

QUERIES_AT_ONCE = 2**22  # values of X prepared at a time


def query_blocks(X: Rows, *, dense: bool = False, most: int | None = None) -> Iterator[slice]:
    """Slices of consecutive rows of X with at most so many values together, one row at the least.

    Of a CSR matrix the stored values count, or, where they are going to be made `dense`, all of them. What
    comes out for a row does not depend on the block it is in.

    Examples
    --------
    >>> [(s.start, s.stop) for s in query_blocks(np.zeros((5, 3)), most=6)]
    [(0, 2), (2, 4), (4, 5)]
    >>> [(s.start, s.stop) for s in query_blocks(sparse.csr_matrix(np.eye(5)), most=4)]
    [(0, 2), (2, 4), (4, 5)]
    """
    n = X.shape[0]
    most = QUERIES_AT_ONCE if most is None else most
    if dense or not is_sparse(X):
        step = max(1, most // max(1, X.shape[1]))
        yield from (slice(start, min(n, start + step)) for start in range(0, n, step))
        return
    cost = X.indptr.astype(np.int64) + np.arange(n + 1)  # a row itself counts too: rows may be empty
    start = 0
    while start < n:
        stop = int(np.searchsorted(cost, cost[start] + most, side="right")) - 1
        stop = min(n, max(stop, start + 1))
        yield slice(start, stop)
        start = stop
