"""A machine of few landmarks that learns from all rows.

Where the kernel is smooth, few rows span nearly all that it can tell apart. With landmarks z_1..z_m, drawn
by pivoted Cholesky, K(z, z) = L L', every row has m features F(x) = L^-1 k(z, x), and

    k(x, y) = <F(x), F(y)> + a rest that is k(x, x) - |F(x)|^2 at most.

So the machine of all rows is a linear one on these features, solved by Newton's method (Williams and Seeger
2001; Falkon, Rudi et al. 2017, has the same problem), in a time that grows with the rows::

    min_w  1/2 |w|^2 + lam / (2 W (1-theta)^2) sum_i s_i loss( y_i <w, F(x_i)> ),
    f = sum_j a_j k(z_j, .),   a = L^-T w

The rest stands beside the ridge W (1-theta)^2 / lam on the diagonal of the dual problem: where it is a small
share of that, nothing is lost by leaving it out. That is when landmarks *carry* a problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.problem import Problem
from sodm.problem.row_types import Rows

Array = NDArray[np.float64]
Index = NDArray[np.intp]

POOL = 4096  # rows that landmarks are chosen from
MOST, BY_ROOT = 1200, 6.0  # landmarks at the most, and times the root of the number of rows
# Shares of the ridge: landmarks are added until the mean rest of the pool is no larger than the first; they
# carry the problem if it is no larger than the second. Settled on a9a, susy-subset, cod-rna and ijcnn1, see
# docs/regions-study.md.
ENOUGH, CARRIES = 1e-3, 0.05
# More rows than so many tell more than the same landmarks can say: the first goes down with their cube root.
MANY = 100_000
# A fourth of the pool and of the landmarks tells whether there is any hope: a mean rest above so many times
# what they may leave does not come down to it. Read off seven sets (docs/regions-study.md): .07 ridges at
# most where landmarks carry the problem, 1.2 to 12 where they do not.
LOOK, HOPE = 4, 20.0


@dataclass(frozen=True)
class Landmarks:
    """Rows in whose span a machine is looked for.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers.
    points : ndarray or CSR matrix
        The rows.
    lower : ndarray, shape (m, m)
        L, K(z, z) = L L'.
    rest : float
        The mean of k(x, x) - |F(x)|^2, over the ridge.
    pool : ndarray of int
        The rows that they were chosen from.
    pool_features : ndarray, shape (len(pool), m)
        F of these, a by-product of the choice.
    """

    rows: Index
    points: Rows
    lower: Array
    rest: float
    pool: Index
    pool_features: NDArray[Any]

    @classmethod
    def choose(cls, problem: Problem, kernel: KernelEvaluator, seed: int) -> Landmarks | None:
        """As many as the rows of a sample ask for; None if they do not carry the problem."""
        n, total = len(problem.weights), float(problem.weights.sum())
        drawn = np.random.RandomState(seed).permutation(n)[:POOL]
        ridge, most = 1 / problem.loss.scale(total), min(MOST, int(BY_ROOT * np.sqrt(n)))
        enough = ENOUGH * ridge * min(1.0, (MANY / n) ** (1 / 3))
        problem.rows.bring(drawn)
        few = problem.rows[np.sort(drawn[: len(drawn) // LOOK])]
        if _factored(kernel, few, most // LOOK, enough, seed).rest > HOPE * CARRIES * ridge:
            return None
        pool = np.sort(drawn)
        rows = problem.rows[pool]
        found = _factored(kernel, rows, most, enough, seed)
        if found.rest > CARRIES * ridge:
            return None
        lower = np.ascontiguousarray(found.factor[found.pivots], dtype=np.float64)
        return cls(pool[found.pivots], rows[found.pivots], lower, found.rest / ridge, pool, found.factor)

    def values(self, kernel: KernelEvaluator, X: Rows, out: NDArray[Any]) -> None:
        """k(z, x) of some rows, into an array of shape (n, m), in the precision of the kernel."""
        points = kernel.points(self.points)
        _core.features(points, kernel.points(X, like=points), None, out, kernel.n_threads)

    def features(self, kernel: KernelEvaluator, X: Rows, out: NDArray[Any]) -> None:
        """F of some rows, likewise."""
        points, inverse = kernel.points(self.points), _core.inverse_of_lower(self.lower, kernel.n_threads)
        _core.features(points, kernel.points(X, like=points), inverse, out, kernel.n_threads)

    def coefficients(self, w: Array) -> Array:
        """Those of f, L^-T w, shape (n_problems, m); without BLAS, whose threads change bits."""
        return _core.solve_lower(self.lower, w, transposed=True)

    def gradient(self, slopes: Array) -> Array:
        """Sums of F, L^-1 times those of k(z, x), shape (n_problems, m)."""
        return _core.solve_lower(self.lower, slopes)


@dataclass(frozen=True)
class _Factored:
    pivots: NDArray[np.int64]
    factor: NDArray[Any]  # of all rows
    rest: float  # the mean


def _factored(kernel: KernelEvaluator, rows: Rows, most: int, enough: float, seed: int) -> _Factored:
    """As many pivots as leave no larger mean rest than `enough`, `most` of them at the most."""
    largest = float(np.max(kernel.diag(rows)))
    pivots, residual, factor = _core.pivoted_cholesky(
        kernel.source(rows),
        most,
        tolerance=enough / largest if largest > 0 else 0.0,
        seed=seed,
        return_factor=True,
        n_threads=kernel.n_threads,
    )
    assert factor is not None  # it was asked for
    rest = float(residual.mean()) if len(pivots) else np.inf  # rows that are all zero
    return _Factored(pivots, factor, rest)
