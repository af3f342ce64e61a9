"""CSVRG: SVRG whose anchor gradient is taken over a coreset (after Tan et al. 2019).

A ball cover: every row joins a centre of its own class within `radius`, or becomes a centre itself; a
centre weighs as much as the rows of its ball. The anchor gradient is that of the weighted centres. The
steps are SVRG's, on all rows.

How far off it can be. Let h(w) be the gradient over all rows, h_c(w) that over the centres. A row x in the
ball of z (same class, so same sign y) adds to the loss gradient e(m) y x with |e(m) - e(m')| <= |m - m'|,
so

    |e(m_x) x - e(m_z) z|  <=  |w| |x - z| |x| + |e(m_z)| |x - z|  <=  radius * ( |w| |x| + |e(m_z)| ),

    |h(w) - h_c(w)|  <=  radius * lam / (W (1-theta)^2) * sum_i s_i ( |w| |x_i| + |e(m_z(i))| )  =:  B(w).

The steps come to rest where h_c(w) = 0 in the mean, so there |grad p(w)| <= B(w), and since p is 1-strongly
convex p(w) - min p <= B(w)^2 / 2. The radius trades error for speed; radius -> 0 is SVRG.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm.problem.linear import LinearProblem, MemoryRows, Sums
from sodm.solvers.linear_result import History, LinearResult
from sodm.solvers.variance_reduced import Epochs, evaluate_all, run_epochs

Array = NDArray[np.float64]

PAIRS = 1000  # of rows, that the automatic radius is taken from


@dataclass(frozen=True)
class BallCover:
    """Centres, and who belongs to whom."""

    centre: NDArray[np.int64]  # (n,) row number of each row's centre
    centres: NDArray[np.int64]  # row numbers of the centres, ascending
    weights: Array  # weight of each centre: that of its ball
    radius: float


def cover(rows: MemoryRows, radius: float, rng: np.random.RandomState) -> BallCover:
    """A ball cover of the rows, class by class, in random order."""
    # Distances are bounded from below by those along a direction in which the rows are long.
    direction = long_direction(rows, rng)
    key = rows.core.decisions(direction[None, :])[0]
    norms = rows.core.squared_norms()
    centre = rows.core.ball_cover(norms, key, rng.permutation(rows.n), radius)
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    total = np.bincount(centre, weights, minlength=rows.n)
    centres = np.unique(centre)
    return BallCover(centre, centres, total[centres].astype(np.float64, copy=False), radius)


def long_direction(rows: MemoryRows, rng: np.random.RandomState) -> Array:
    """A unit vector along which a sample of the rows varies most, by a few power iterations."""
    sample = rows.X[np.sort(rng.permutation(rows.n)[:PAIRS])]
    mean = np.asarray(sample.mean(axis=0), dtype=np.float64).ravel()
    v = rng.standard_normal(sample.shape[1])
    for _ in range(10):
        along = sample @ v - mean @ v
        v = np.asarray(sample.T @ along - mean * along.sum(), dtype=np.float64).ravel()
        length = np.linalg.norm(v)
        if length == 0:
            break
        v /= length
    return np.append(v, 0.0) if rows.bias else v


def automatic_radius(rows: MemoryRows, rng: np.random.RandomState) -> float:
    """A tenth of the typical distance between two rows."""
    one, two = rng.randint(rows.n, size=(2, PAIRS))
    difference = rows.X[one] - rows.X[two]
    squares = difference.multiply(difference) if hasattr(difference, "multiply") else difference**2
    typical = float(np.sqrt(np.median(np.asarray(squares.sum(axis=1), dtype=np.float64))))
    return 0.1 * typical if typical > 0 else 1.0


def gradient_bound(rows: MemoryRows, balls: BallCover, scale: float, w: Array) -> Array:
    """B(w) of the module's first lines, for each problem."""
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    norms = np.sqrt(rows.core.squared_norms())
    signs = np.where(rows.labels == rows.positive[:, None], 1.0, -1.0)
    margins = signs * rows.core.decisions(w)
    low, high, upsilon = 1 - rows.loss.theta, 1 + rows.loss.theta, rows.loss.upsilon
    slopes = np.maximum(low - margins, 0.0) + upsilon * np.maximum(margins - high, 0.0)
    size = np.linalg.norm(w, axis=1)[:, None] * norms + slopes[:, balls.centre]
    return balls.radius * scale * (size @ weights)


class CsvrgPlan:
    """The centres for the anchor, all rows once for the steps."""

    name, exact_anchor = "csvrg", False

    def __init__(
        self, problem: LinearProblem, rows: MemoryRows, balls: BallCover, rng: np.random.RandomState
    ) -> None:
        self.rows, self.balls, self.rng = rows, balls, rng
        at = balls.centres
        labels = np.ascontiguousarray(rows.labels[at])
        centres = MemoryRows(
            rows.X[at], labels, balls.weights, rows.positive, rows.loss, rows.bias, rows.n_threads
        )
        self.core_problem = LinearProblem(centres, problem.n_problems, problem.loss)
        centres.start("none")
        problem.source.start("none")

    def anchor(self, w: Array) -> Sums:
        return evaluate_all(self.core_problem, w)

    def runs(self) -> Iterator[NDArray[np.int64]]:
        yield self.rng.permutation(self.rows.n)

    def work(self, n_steps: int) -> float:
        return (len(self.balls.centres) + n_steps) / self.rows.n


def csvrg(
    problem: LinearProblem,
    rows: MemoryRows,
    start: Array,
    settings: Epochs,
    history: History,
    rng: np.random.RandomState,
    radius: float,
) -> LinearResult:
    """Run CSVRG; `rows` is the source of `problem`, in C order."""
    plan = CsvrgPlan(problem, rows, cover(rows, radius, rng), rng)
    return run_epochs(problem, rows, plan, start, settings, history)
