"""Sparse matrices whose indices do not fit, refused before compiled code follows them into memory.

SciPy trusts what a matrix says of itself: `sum_duplicates`, `has_canonical_format`, `astype` and changes of
format read and write wherever the indices point. So the check comes before all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm import _core
from sodm.problem.row_types import Csr
from sodm.problem.text_columns import refuse_text


def check_csr(X: Csr) -> bool:
    """Refuse a CSR matrix that is none; otherwise, whether its indices ascend in every row.

    One pass over the indices, as fast as memory: next to nothing beside any fit.

    Raises
    ------
    ValueError
        Naming what does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> X = sparse.csr_matrix(np.eye(3))
    >>> check_csr(X)
    True
    >>> X.indices[2] = 7
    >>> check_csr(X)
    Traceback (most recent call last):
    ValueError: X is no CSR matrix: row 2 has the index 7 where there are 3 columns, numbered from 0.
    """
    fault, ascending = _check_parts(X, X.shape[0], X.shape[1])
    if fault:
        raise ValueError(f"X is no {X.format.upper()} matrix: {fault}.")
    return ascending


def check_sparse(X: Any) -> Any:
    """X as it is; a sparse matrix that scikit-learn or SciPy would convert is checked before they do, and
    columns of text are refused by name.

    A CSR matrix of floats is left to `canonical`, through which all rows go.
    """
    if not sparse.issparse(X):
        return refuse_text(X)
    if X.format == "csr":
        if X.dtype not in (np.float32, np.float64):
            check_csr(X)
    elif X.format in ("csc", "bsr"):
        rows, columns = X.shape if X.format == "bsr" else X.shape[::-1]
        height, width = X.blocksize if X.format == "bsr" else (1, 1)
        fault = _check_parts(X, rows // height, columns // width)[0]
        if fault:
            raise ValueError(f"X is no {X.format.upper()} matrix: {fault}.")
    elif X.format == "coo":
        for name, numbers, n in (("row", X.row, X.shape[0]), ("column", X.col, X.shape[1])):
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < n):
                raise ValueError(f"X is no COO matrix: a {name} number is beyond its shape, {X.shape}.")
    return X


def _check_parts(X: Csr, n_rows: int, n_columns: int) -> tuple[str, bool]:
    """What is wrong with the arrays of a compressed matrix, and whether its indices ascend."""
    indptr, indices = np.asarray(X.indptr), np.asarray(X.indices)
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.dtype.kind != "i" or indices.dtype.kind != "i":
        return "indptr and indices must be one-dimensional arrays of integers", False
    if len(indptr) != n_rows + 1:
        return f"indptr has {len(indptr)} entries where there must be {n_rows + 1}", False
    if len(indices) != len(X.data):
        return f"there are {len(indices)} indices for {len(X.data)} values", False
    indptr, indices = _alike(indptr, indices)
    return _core.check_csr(indptr, indices, n_columns)


def _alike(indptr: NDArray[Any], indices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as int32 or both as int64, one after the other in memory; copied only where they are not."""
    width = np.promote_types(indices.dtype, indptr.dtype)
    width = np.dtype(np.int32) if width.itemsize <= 4 else np.dtype(np.int64)
    return np.ascontiguousarray(indptr, dtype=width), np.ascontiguousarray(indices, dtype=width)
