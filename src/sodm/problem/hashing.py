"""A hash of the values of each row, by which rows are ordered and repeats found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm import _core
from sodm.problem.row_types import Rows
from sodm.problem.rows import csr_parts


def hash_rows(X: Rows, labels: NDArray[np.int64] | None = None, n_threads: int = 1) -> NDArray[np.uint64]:
    """A hash of the values of every row of an array or CSR matrix, and of its label where labels are given.

    It is the same for dense and CSR, single and double.
    """
    if sparse.issparse(X):
        return _core.hash_csr(*csr_parts(X), X.shape[1], n_threads, labels)
    return _core.hash_dense(X, n_threads, labels)
