"""Rows as the core takes them: dense arrays with any strides, or canonical CSR parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.problem.csr import check_csr, check_sparse
from sodm.problem.row_types import Csr, Rows


def csr_parts(X: Csr) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """`data`, `indices`, `indptr` of a canonical CSR matrix, the index arrays both int32 or both int64."""
    width = np.promote_types(X.indices.dtype, X.indptr.dtype)
    width = np.dtype(np.int32) if width.itemsize <= 4 else np.dtype(np.int64)
    return X.data, X.indices.astype(width, copy=False), X.indptr.astype(width, copy=False)


def canonical(X: Any) -> Rows:
    """X as the core takes it: float32 or float64; a sparse matrix as CSR, sorted, without repeats.

    The caller's matrix is never changed; it is copied only where it has to be. A sparse one whose indices do
    not fit is refused.
    """
    if not sparse.issparse(X):
        X = np.asarray(X)
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    X = check_sparse(X).tocsr()
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if not check_csr(X):
        X = X.copy()
        X.has_sorted_indices = X.has_canonical_format = False  # whatever it says of itself
        X.sum_duplicates()
    if len(X.data) > X.indptr[-1]:  # room that it does not use
        used = slice(int(X.indptr[-1]))
        X = type(X)((X.data[used], X.indices[used], X.indptr), shape=X.shape, copy=False)
    return X
