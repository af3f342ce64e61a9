"""CSVRG: SVRG whose anchor gradient is taken over a coreset (after Tan et al. 2019, "Coreset stochastic
variance-reduced gradient with application to optimal margin distribution machine").

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
See `variance_reduced` for the problem, the step and the solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm.problem.linear import LinearProblem, MemoryRows, Sums
from sodm.problem.ordered_sums import row_sums
from sodm.solvers.linear_result import LinearResult
from sodm.solvers.linear_solver import MEMORY, LinearSolver, LinearTask
from sodm.solvers.variance_reduced import evaluate_all, run_epochs

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
    total = np.bincount(centre, rows.all_weights(), minlength=rows.n)
    centres = np.unique(centre)
    return BallCover(centre, centres, total[centres].astype(np.float64, copy=False), radius)


def long_direction(rows: MemoryRows, rng: np.random.RandomState) -> Array:
    """A unit vector along which a sample of the rows varies most, by a few power iterations."""
    sample = rows.X[np.sort(rng.permutation(rows.n)[:PAIRS])]
    mean = np.asarray(sample.mean(axis=0), dtype=np.float64).ravel()
    v = rng.standard_normal((sample.shape[1],))
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
    norms = np.sqrt(rows.core.squared_norms())
    slopes = np.abs(rows.loss.slope(rows.signs() * rows.core.decisions(w)))
    size = np.linalg.norm(w, axis=1)[:, None] * norms + slopes[:, balls.centre]
    return balls.radius * scale * row_sums(size, rows.all_weights())


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


def csvrg(task: LinearTask, rows: MemoryRows) -> LinearResult:
    """Cover the rows with balls and run CSVRG; `rows` is the source of the problem."""
    radius = task.settings.radius
    if radius == "auto":
        radius = automatic_radius(rows, task.rng)
    plan = CsvrgPlan(task.problem, rows, cover(rows, radius, task.rng), task.rng)
    return run_epochs(task, rows, plan)


CSVRG = LinearSolver("csvrg", MEMORY, needs_smooth_loss=True, patience="epochs", run=csvrg)
