"""Rows of a linear problem with targets instead of labels.

The margin <w, x_i> + 1 - t_i of regression (`TargetLoss`) is that of a machine for labels, all of them +1, on
rows that have 1 - t_i as one more feature, whose weight is held at 1. So the same compiled sums serve both;
the entries of that feature are left out of what comes back. In single precision it is two features, the
second being what rounding has left of the first.

Inside, targets are measured in a unit of their own (`sodm.problem.targets`), for beside 1 a target of 1e-20
would be nothing: with w and t over u the sums are those over u^2. What goes in and comes out is in the unit
of the targets as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.problem.linear.memory import LongRows, MemoryRows
from sodm.problem.linear.sums import Array, Curvature, Sums
from sodm.problem.losses import TargetLoss
from sodm.problem.ordered_sums import row_sums
from sodm.problem.row_types import Rows
from sodm.problem.targets import units_of


@dataclass(frozen=True)
class TargetSums:
    """What a pass over targets finds: of several lots of rows the sum is that of all.

    Attributes
    ----------
    weight : float
        Of all rows.
    total : array of shape (n_targets,)
        The weighted sum of each target.
    low, high : arrays of shape (n_targets,)
        The smallest and the largest of those that have weight.
    """

    weight: float
    total: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, targets: Array, weights: Array | None) -> TargetSums:
        """Of targets of shape (n, n_targets)."""
        if weights is None:
            weights = np.ones(len(targets))
        some = targets[weights > 0]
        low, high = some.min(axis=0, initial=np.inf), some.max(axis=0, initial=-np.inf)
        return cls(float(weights.sum()), row_sums(targets.T, weights), low, high)

    def __add__(self, other: TargetSums) -> TargetSums:
        return TargetSums(
            self.weight + other.weight,
            self.total + other.total,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def maker(self, loss: TargetLoss, centred: bool, bias: float, n_threads: int) -> TargetMaker:
        """What makes rows of such targets; `centred` takes their mean off."""
        centre = self.total / self.weight if centred else np.zeros_like(self.total)
        size = np.maximum(self.high - centre, centre - self.low)
        return TargetMaker(centre, units_of(size, loss.theta), loss, bias, n_threads)


@dataclass(frozen=True)
class TargetMaker:
    """How rows, targets and weights become rows of the linear problem; plain values, as `RowMaker`.

    Attributes
    ----------
    centre : array of shape (n_targets,)
        What is taken off the targets.
    unit : array of shape (n_targets,)
        What they are measured in, where the sums are made.
    loss : TargetLoss
    bias : float
        Value of the constant feature that carries the intercept; 0 for none.
    n_threads : int
        No result depends on it.
    """

    centre: Array
    unit: Array
    loss: TargetLoss
    bias: float
    n_threads: int

    @property
    def positive(self) -> NDArray[np.int32]:
        """One entry for each problem, as there is one for each class of `RowMaker`."""
        return np.zeros(len(self.centre), dtype=np.int32)

    def width(self, n_features: int) -> int:
        """Weights of one problem."""
        return n_features + int(self.bias != 0)

    def rows(self, X: Rows, targets: Array, weights: Array | None) -> TargetRows:
        """Rows of the problem, of targets of shape (n, n_targets)."""
        own = 1 - (targets - self.centre) / self.unit
        split = [_split(column, X.dtype) for column in own.T]
        columns = np.ascontiguousarray(np.column_stack([column for pair in split for column in pair]))
        if sparse.issparse(X):
            wide = sparse.csr_matrix(sparse.hstack([X, sparse.csr_matrix(columns)], format="csr"))
            wide.sort_indices()
        else:
            wide = np.hstack([X, columns])
        one_class = np.zeros(X.shape[0], dtype=np.int32)
        loss = replace(self.loss, theta=self.loss.theta / float(self.unit.max()))
        of_problem = weights, self.positive, loss, self.bias, self.n_threads
        plain, inner = (MemoryRows(rows, one_class, *of_problem) for rows in (X, wide))
        long = None
        if plain.has_long_rows():
            long = LongRows(plain.steppable(), np.ascontiguousarray(own.T), self.unit)
        return TargetRows(inner, X.shape[1], self.unit, long)

    def split(self, w: Array) -> tuple[Array, Array]:
        """The w of the problem as coefficients and intercepts."""
        if not self.bias:
            return w.copy(), self.centre.copy()
        return w[:, :-1].copy(), self.centre + w[:, -1] * self.bias

    def join(self, coef: Array, intercept: Array) -> Array:
        """Coefficients and intercepts as the w of the problem."""
        if not self.bias:
            return coef.copy()
        return np.hstack([coef, (intercept - self.centre)[:, None] / self.bias])


class TargetRows:
    """Rows of an array or CSR matrix with targets: a `RowSums`.

    Attributes
    ----------
    inner : MemoryRows
        With the features of the targets behind those of the rows.
    n_features : int
        Of the rows.
    unit : array of shape (n_targets,)
    long : LongRows or None
        The rows without these features, if they are long.
    """

    def __init__(self, inner: MemoryRows, n_features: int, unit: Array, long: LongRows | None = None) -> None:
        self.inner, self.n_features, self.unit, self.long = inner, n_features, unit, long
        self.columns = (inner.width - n_features - int(inner.bias != 0)) // len(unit)  # of a target
        constant = [inner.width - 1] if inner.bias else []
        self.kept = np.array([*range(n_features), *constant])
        self.n, self.weight, self.width = inner.n, inner.weight, len(self.kept)
        self.positive = inner.positive

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
        unit = self.unit[list(problems)]
        sums = self.inner.evaluate(problems, self._full(problems, w / unit[:, None], 1.0))
        curvature = sums.curvature
        if curvature is not None:
            curvature = curvature[:, self.kept]
            curvature = curvature[:, :, self.kept] if curvature.ndim == 3 else curvature
        return Sums(sums.loss * unit**2, sums.gradient[:, self.kept] * unit[:, None], curvature)

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return self.inner.times(problems, self._full(problems, v, 0.0))[:, self.kept]

    def half_gradient_at_zero(self) -> Array:
        """Of each target. Ends the evaluations begun with `start`."""
        self.start("none")
        n = len(self.unit)
        return self.evaluate(range(n), np.zeros((n, self.width))).gradient

    def gradient_at_zero(self) -> Array:
        return np.linalg.norm(self.every(1).half_gradient_at_zero(), axis=1)

    def every(self, step: int) -> TargetRows:
        """Every so many-th of these rows, evaluated on its own."""
        return TargetRows(self.inner.every(step), self.n_features, self.unit)

    def coarse(self) -> TargetRows | None:
        inner = self.inner.coarse()
        return None if inner is None else TargetRows(inner, self.n_features, self.unit)

    def gram_pays(self) -> bool:
        return self.inner.gram_pays()

    def gram_in_single(self) -> bool:
        return self.inner.gram_in_single()

    def steppable(self) -> None:
        return None

    def long_rows(self) -> LongRows | None:
        return self.long

    def in_memory(self) -> None:
        return None


def _split(values: Array, dtype: Any) -> list[Array]:
    """Columns of this type that add up to the values."""
    first = values.astype(dtype)
    return [first] if dtype == np.float64 else [first, (values - first).astype(dtype)]
