"""How far the values f(x_i) = sum_j a_j k(x_j, x_i) of a machine can be off because numbers are rounded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.evaluator import KernelEvaluator, Precision, Source
from sodm.problem.ordered_sums import row_sums
from sodm.problem.row_types import Rows

Array = NDArray[np.float64]

UNIT = {"single": 2.0**-24, "double": 2.0**-53}
SUMS = 64.0  # a sum over values that are given, in units of its terms


@dataclass(frozen=True)
class Rounding:
    """Bounds on the errors of kernel values, u [pair p_i p_j + point (q_i + q_j) + one].

    See core/kernel/rounding.hpp.

    Attributes
    ----------
    p, q : ndarrays, shape (n,)
    pair, point, one : float
    """

    p: Array
    q: Array
    pair: float
    point: float
    one: float

    @classmethod
    def of(cls, evaluator: KernelEvaluator, source: Source, rows: Rows) -> Rounding:
        """That of a kernel on some rows; `source` is where a solver takes its values from."""
        if isinstance(source, _core.Points):
            return cls(*source.rounding())
        # Values that are given: |k(x, z)|^2 <= k(x, x) k(z, z) if the kernel is one.
        p = np.sqrt(np.abs(evaluator.diag(rows)))
        return cls(p, np.zeros_like(p), SUMS, 0.0, 0.0)

    def of_diagonal(self, precision: Precision) -> float:
        """Bound on the errors of the values k(x, x)."""
        return float(UNIT[precision] * np.max(self.pair * self.p**2 + 2 * self.point * self.q + self.one))

    def of_values(self, coefficients: Array, precision: Precision) -> Array:
        """Bounds on the errors of f at all rows, for coefficients of shape (n_problems, n)."""
        size = np.abs(coefficients)
        total = size.sum(axis=1, keepdims=True)
        pairs = self.pair * row_sums(size, self.p)[:, None] * self.p
        singles = self.point * (total * self.q + row_sums(size, self.q)[:, None])
        return UNIT[precision] * (pairs + singles + self.one * total)


def rounding_of_diagonal(evaluator: KernelEvaluator, source: Source, rows: Rows) -> float:
    """Bound on the errors of the values k(x, x) that a solver takes from this source."""
    if isinstance(source, _core.Points):
        return UNIT[evaluator.precision] * source.rounding_of_diagonal()
    return Rounding.of(evaluator, source, rows).of_diagonal(evaluator.precision)
