"""The minimal principal angle between strata (tau of Theorem 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.partition.base import KernelLike, evaluator_of
from sodm.partition.basis import Basis, chunks, diagonal
from sodm.problem.array_rows import as_row_set
from sodm.problem.kernels import Kernel


def minimal_principal_angle(
    X: Any,
    strata: NDArray[np.intp],
    kernel: Kernel | KernelLike,
    rows: NDArray[np.intp] | None = None,
) -> float:
    """The smallest angle, in feature space, between two rows of different strata.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, n_features)
    strata : int array of shape (n,)
    kernel : Kernel or KernelLike
    rows : int array, optional
        Only pairs of these rows count; the result is then an upper bound of the angle over all rows. All
        rows cost n^2 kernel values, a block at a time.

    Returns
    -------
    tau : float
        In radians, from 0 to pi. It is pi where there is no pair: one stratum only. Rows that are zero in
        feature space have no angle and are left out. Angles near zero are known to the square root of the
        precision of kernel values.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from sodm.problem.evaluator import KernelEvaluator
    >>> from sodm.problem.kernels import Kernel
    >>> X = np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    >>> linear = KernelEvaluator(Kernel("linear"), "double")
    >>> tau = minimal_principal_angle(X, np.array([0, 0, 1, 1]), linear)
    >>> round(math.degrees(tau), 6)
    45.0
    """
    X = as_row_set(X)
    rows = np.arange(X.shape[0]) if rows is None else rows
    values = evaluator_of(kernel)
    norms = np.sqrt(np.maximum(diagonal(values, X, rows), 0.0))
    rows, norms = rows[norms > 0], norms[norms > 0]
    basis = Basis.of(values, X, rows)
    largest = -1.0
    for run in chunks(len(rows), len(rows)):
        cosine = basis.block(X[rows[run]]) / (norms[run, None] * norms)
        cosine[strata[rows[run], None] == strata[rows]] = -1.0
        largest = max(largest, float(cosine.max(initial=-1.0)))
    return float(np.arccos(min(largest, 1.0)))
