"""The accuracy of the linear machine on rows that it is not trained on, while it is trained."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sodm.estimators.kernel_machine import FLOATS
from sodm.estimators.labels import encode
from sodm.problem.csr import check_sparse
from sodm.problem.linear import RowMaker, core_rows
from sodm.problem.row_types import MatrixLike
from sodm.problem.rows import canonical

Array = NDArray[np.float64]


def accuracy_on(
    eval_set: tuple[MatrixLike, ArrayLike], n_features: int, maker: RowMaker
) -> Callable[[Array], float]:
    """A function from weights to the accuracy on the rows (X, y)."""
    X, y = eval_set
    X = check_array(check_sparse(X), accept_sparse="csr", dtype=FLOATS, accept_large_sparse=True)
    X = canonical(X)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    if X.shape[1] != n_features:
        raise ValueError(f"eval_set has {X.shape[1]} features, X has {n_features}.")
    codes = encode(np.asarray(y), maker.classes)
    rows = core_rows(X, None, None, maker.bias, maker.n_threads)

    def accuracy(w: Array) -> float:
        f = rows.decisions(np.ascontiguousarray(w))
        return float(np.mean(codes == (f[0] > 0 if len(f) == 1 else f.argmax(axis=0))))

    return accuracy
