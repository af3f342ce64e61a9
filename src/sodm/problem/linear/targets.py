"""Rows of a linear problem with targets instead of labels.

The margin <w, x_i> + 1 - t_i of regression (`TargetLoss`) is that of a machine for labels, all of them +1, on
rows that have 1 - t_i as one more feature, whose weight is held at 1. So the same compiled sums serve both;
the entries of that feature are left out of what comes back. In single precision it is two features, the
second being what rounding has left of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from sodm.problem.linear.memory import MemoryRows
from sodm.problem.linear.sums import Array, Curvature, Sums
from sodm.problem.losses import TargetLoss


class TargetRows:
    """Rows of an array or CSR matrix with targets: a `RowSums`.

    Attributes
    ----------
    inner : MemoryRows
        With the features of the targets behind those of the rows.
    n_features : int
        Of the rows.
    n_targets : int
    """

    def __init__(self, inner: MemoryRows, n_features: int, n_targets: int) -> None:
        self.inner, self.n_features, self.n_targets = inner, n_features, n_targets
        self.columns = (inner.width - n_features - int(inner.bias != 0)) // n_targets  # of a target
        constant = [inner.width - 1] if inner.bias else []
        self.kept = np.array([*range(n_features), *constant])
        self.n, self.weight, self.width = inner.n, inner.weight, len(self.kept)
        self.positive = inner.positive

    @classmethod
    def of(
        cls, X: Any, targets: Array, weights: Array | None, loss: TargetLoss, bias: float, n_threads: int
    ) -> TargetRows:
        """Of rows X and targets of shape (n, n_targets)."""
        more = [_split(1 - own, X.dtype) for own in targets.T]
        columns = np.ascontiguousarray(np.column_stack([column for pair in more for column in pair]))
        if sparse.issparse(X):
            wide = sparse.csr_matrix(sparse.hstack([X, sparse.csr_matrix(columns)], format="csr"))
            wide.sort_indices()
        else:
            wide = np.hstack([X, columns])
        one_class = np.zeros(X.shape[0], dtype=np.int32)
        positive = np.zeros(targets.shape[1], dtype=np.int32)
        inner = MemoryRows(wide, one_class, weights, positive, loss, bias, n_threads)
        return cls(inner, X.shape[1], targets.shape[1])

    def _full(self, problems: Sequence[int], w: Array, held: float) -> Array:
        full = np.zeros((len(w), self.inner.width))
        full[:, self.kept] = w
        for place, problem in enumerate(problems):
            first = self.n_features + problem * self.columns
            full[place, first : first + self.columns] = held
        return full

    def start(self, curvature: Curvature) -> None:
        self.inner.start(curvature)

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        sums = self.inner.evaluate(problems, self._full(problems, w, 1.0))
        curvature = sums.curvature
        if curvature is not None:
            curvature = curvature[:, self.kept]
            curvature = curvature[:, :, self.kept] if curvature.ndim == 3 else curvature
        return Sums(sums.loss, sums.gradient[:, self.kept], curvature)

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return self.inner.times(problems, self._full(problems, v, 0.0))[:, self.kept]

    def half_gradient_at_zero(self) -> Array:
        """Of each target. Ends the evaluations begun with `start`."""
        self.start("none")
        everyone = range(self.n_targets)
        return self.evaluate(everyone, np.zeros((self.n_targets, self.width))).gradient

    def gradient_at_zero(self) -> Array:
        rows = TargetRows(self.inner.every(1), self.n_features, self.n_targets)
        return np.linalg.norm(rows.half_gradient_at_zero(), axis=1)

    def coarse(self) -> TargetRows | None:
        inner = self.inner.coarse()
        return None if inner is None else TargetRows(inner, self.n_features, self.n_targets)

    def gram_pays(self) -> bool:
        return self.inner.gram_pays()

    def gram_in_single(self) -> bool:
        return self.inner.gram_in_single()

    def steppable(self) -> None:
        return None

    def in_memory(self) -> None:
        return None


def _split(values: Array, dtype: Any) -> list[Array]:
    """Columns of this type that add up to the values."""
    first = values.astype(dtype)
    return [first] if dtype == np.float64 else [first, (values - first).astype(dtype)]
