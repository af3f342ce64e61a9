"""Rows of a linear problem that were seen once and are gone: what `partial_fit` remembers of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sodm.problem.linear.memory import MemoryRows
from sodm.problem.linear.sums import Array, Curvature, Sums


@dataclass
class QuadraticRows:
    """Rows seen in the past, remembered as the quadratic that their sums were where they were last seen.

    With the sides of the dead zone held, the sum of losses *is* a quadratic: w'Cw - 2 b'w + c. Where there
    are too many features for the matrix C, its diagonal stands in.
    """

    matrix: Array  # (problems, width, width) or (problems, width)
    linear: Array  # (problems, width)
    constant: Array  # (problems,)
    weight: float
    width: int = field(init=False)

    def __post_init__(self) -> None:
        self.width = self.linear.shape[1]

    @property
    def is_diagonal(self) -> bool:
        return self.matrix.ndim == 2

    @classmethod
    def of(cls, rows: MemoryRows, w: Array, *, diagonal: bool) -> QuadraticRows:
        """The quadratic that touches the sums of these rows at w."""
        rows.start("diagonal" if diagonal else "gram_in_double")
        sums = rows.evaluate(range(len(w)), w)
        assert sums.curvature is not None
        product = _product(sums.curvature, w)
        constant = sums.loss - np.sum((2 * sums.gradient - product) * w, axis=1)
        return cls(sums.curvature, product - sums.gradient, constant, rows.weight)

    def add(self, other: QuadraticRows) -> QuadraticRows:
        return QuadraticRows(
            self.matrix + other.matrix,
            self.linear + other.linear,
            self.constant + other.constant,
            self.weight + other.weight,
        )

    def evaluate(self, problems: Sequence[int], w: Array, curvature: bool) -> Sums:
        at = list(problems)
        product = _product(self.matrix[at], w)
        loss = np.sum(w * (product - 2 * self.linear[at]), axis=1) + self.constant[at]
        return Sums(loss, product - self.linear[at], self.matrix[at] if curvature else None)

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return _product(self.matrix[list(problems)], v)


def _product(matrix: Array, v: Array) -> Array:
    """One matrix, or diagonal, times one vector for each problem."""
    return matrix * v if matrix.ndim == 2 else np.einsum("kij,kj->ki", matrix, v)


class RowsWithPast:
    """Rows in memory together with those remembered as a quadratic: a `RowSums`."""

    def __init__(self, rows: MemoryRows, past: QuadraticRows) -> None:
        self.rows, self.past = rows, past
        self.width = rows.width
        self.weight = rows.weight + past.weight

    def start(self, curvature: Curvature) -> None:
        self.rows.start(curvature)

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        sums = self.rows.evaluate(problems, w)
        return sums + self.past.evaluate(problems, w, sums.curvature is not None)

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return self.rows.times(problems, v) + self.past.times(problems, v)

    def gradient_at_zero(self) -> Array:
        return np.linalg.norm(self.rows.every(1).half_gradient_at_zero() - self.past.linear, axis=1)

    def coarse(self) -> None:
        return None

    def gram_pays(self) -> bool:
        return not self.past.is_diagonal

    def gram_in_single(self) -> bool:
        return False  # most of the matrix is the past's, which is in double

    def steppable(self) -> None:
        return None

    def long_rows(self) -> None:
        return None

    def in_memory(self) -> None:
        return None
