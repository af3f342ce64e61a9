"""Rows as the core of the linear machine takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite

from sodm.problem.linear import core_rows
from sodm.problem.rows import canonical

# How scikit-learn is to check rows; that they are finite is checked by the core, which is much faster.
ROWS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "accept_large_sparse": True,
    "ensure_all_finite": False,
}


def finite_rows(X: Any, n_threads: int, machine: str) -> Any:
    """X as the core takes it; refuses NaN and infinity."""
    X = canonical(X)
    if not core_rows(X, None, None, 0.0, n_threads).finite():
        values = X.data if sparse.issparse(X) else X
        assert_all_finite(values, input_name="X", estimator_name=machine)
    return X
