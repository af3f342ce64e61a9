"""Rows as the core of the linear machine takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite

from sodm.problem.linear import core_rows
from sodm.problem.row_types import MatrixLike, Rows
from sodm.problem.rows import canonical

# How scikit-learn is to check rows; that they are finite is checked by the core, which is much faster.
ROWS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "accept_large_sparse": True,
    "ensure_all_finite": False,
}


def finite_rows(X: MatrixLike, n_threads: int, machine: str) -> Rows:
    """X as the core takes it; refuses NaN and infinity."""
    rows = canonical(X)
    if not core_rows(rows, None, None, 0.0, n_threads).finite():
        values = rows.data if sparse.issparse(rows) else rows
        assert_all_finite(values, input_name="X", estimator_name=machine)
    return rows
