"""A machine on at most so many basis points, for fast prediction.

The basis z_1..z_B are landmarks chosen by pivoted Cholesky, and the machine is the best one in their span,
by its own objective on a sample S of the rows::

    min_c  1/2 c'K_BB c + lam / (2 W_S (1-theta)^2) sum_{i in S} s_i [...],    f = sum_b c_b k(z_b, .)

Not only the values of the full machine's f are fitted: what counts is on which side of the dead zone a row
is, and the loss knows. Newton's method in the coordinates z = L'c, K_BB = L L', where the problem is well
conditioned.

Landmarks of all rows would be outliers, each far from all others, and a bad basis for f; rows drawn at random
do better, and landmarks of 3 B support vectors drawn in proportion to their squared coefficients were best of
those tried on ijcnn1 (docs/trees.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from sodm.engines.base import Block, Table
from sodm.partition.basis import greedy_pivots
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.losses import Loss
from sodm.problem.pairs import pairs_of
from sodm.problem.problem import Problem
from sodm.solvers.result import SolveResult
from sodm.training.context import Context
from sodm.trees.local import decide
from sodm.trees.probe import Probe

Array = NDArray[np.float64]

CANDIDATES_PER_POINT = 3  # support vectors to choose the basis from
ROWS_PER_POINT, FEWEST_ROWS = 25, 20_000  # of the sample
CHUNK = 4096  # rows of K(S, B) at a time
MAX_STEPS, ENOUGH = 30, 1e-3
ROUND = 0.25  # the hinge loss gets a round corner of this half-width, for Newton needs a curvature


def compress(problem: Problem, result: SolveResult, budget: int, context: Context) -> SolveResult:
    """The machine on at most `budget` of the training rows; as it is, if it has no more support vectors."""
    importance = np.sum(result.duals**2, axis=0)
    support = np.flatnonzero(importance)
    if len(support) <= budget:
        return result
    rng, n = np.random.RandomState(context.seed), len(problem.weights)
    kernel = context.evaluator(problem.kernel)
    count = min(CANDIDATES_PER_POINT * budget, len(support))
    share = importance[support] / importance[support].sum()
    candidates = np.sort(rng.choice(support, count, replace=False, p=share))
    basis = candidates[greedy_pivots(kernel, problem.rows, candidates, budget)]
    table = Table(problem.rows, problem.signs, problem.weights)
    sample = np.sort(rng.permutation(n)[: max(FEWEST_ROWS, ROWS_PER_POINT * budget)])
    duals = np.zeros_like(problem.signs)
    if problem.pairs:
        _compress_pairs(kernel, problem, basis, sample, duals)
    else:
        # Most steps are taken on an eighth of the sample, for an eighth of the price.
        few, all_rows = (
            _Reduced(kernel, problem.loss, table.take(basis), table.take(rows))
            for rows in (sample[::8], sample)
        )
        for c in range(len(problem.signs)):
            z = all_rows.solve(c, few.solve(c, np.zeros(len(basis))))
            duals[c, basis] = problem.signs[c, basis] * all_rows.coefficients(z)
    reading = Probe(problem, kernel, len(result.decision[0]), context.seed).read(duals)
    # The coefficients are no duals of the problem, so there is no gap to speak of.
    unknown = np.full(len(result.gap), np.nan)
    return replace(result, duals=duals, decision=reading.decision, objective=reading.objective, gap=unknown)


def _compress_pairs(
    kernel: KernelEvaluator,
    problem: Problem,
    basis: NDArray[np.intp],
    sample: NDArray[np.intp],
    duals: Array,
) -> None:
    """Fill in the duals of each pair, on the basis points and the sample of its two classes."""
    codes, share = problem.codes, len(sample) / len(problem.weights)
    total = float(problem.weights.sum())
    for c, d in pairs_of(len(duals) + 1).tolist():
        points, rows = (index[(codes[index] == c) | (codes[index] == d)] for index in (basis, sample))
        if len(points) == 0 or len(rows) == 0:
            continue
        place = np.where(codes[points] == c, d - 1, c), points
        signs = np.where(codes == c, 1.0, -1.0)[None, :]
        table = Table(problem.rows, signs, problem.weights)
        # The sample stands for all rows: its weight over theirs is what W was multiplied by.
        weight = float(problem.weights[rows].sum())
        loss = replace(problem.loss, lam=problem.loss.lam * weight / (share * total))
        reduced = _Reduced(kernel, loss, table.take(points), table.take(rows))
        z = reduced.solve(0, np.zeros(len(points)))
        duals[place] = problem.signs[place] * reduced.coefficients(z)


class _Reduced:
    """The problem in the span of a basis."""

    def __init__(self, kernel: KernelEvaluator, loss: Loss, basis: Block, sample: Block) -> None:
        self.kernel, self.loss, self.basis, self.sample = kernel, loss, basis, sample
        gram = self._block(basis)
        gram[np.diag_indices_from(gram)] += 1e-5 * np.trace(gram) / len(gram)
        self.factor = cholesky(gram, lower=True)

    def solve(self, c: int, z: Array) -> Array:
        """z of problem c, by Newton's method from the one given."""
        signs, weights = self.sample.signs[c], self.sample.weights
        value, margins = self._objective(z, c)
        for _ in range(MAX_STEPS):
            slope, curvature = self.loss.derivatives(margins, weights, corner=ROUND)
            gradient, hessian = np.zeros_like(z), np.zeros((len(z), len(z)))
            for rows, block in self._blocks():
                gradient += block.T @ (signs[rows] * slope[rows])
                bent = curvature[rows] > 0
                scaled = block[bent] * np.sqrt(curvature[rows][bent])[:, None]
                hessian += scaled.T @ scaled
            gradient = z + solve_triangular(self.factor, gradient, lower=True)
            half = solve_triangular(self.factor, hessian, lower=True)
            hessian = solve_triangular(self.factor, half.T, lower=True)
            hessian[np.diag_indices_from(hessian)] += 1.0
            step = -cho_solve(cho_factor(hessian, lower=True), gradient)
            length, before = 1.0, value
            while True:
                value, margins = self._objective(z + length * step, c)
                if value <= before + 1e-4 * length * float(gradient @ step) or length < 1e-4:
                    break
                length /= 2
            z = z + length * step
            if before - value <= ENOUGH * abs(value):
                break
        return z

    def coefficients(self, z: Array) -> Array:
        """c of z = L'c."""
        return solve_triangular(self.factor, z, lower=True, trans="T")

    def _objective(self, z: Array, c: int) -> tuple[float, Array]:
        values = decide(self.kernel, self.sample, self.basis, self.coefficients(z)[None, :])[0]
        margins = self.sample.signs[c] * values
        return float(z @ z) / 2 + self.loss.primal(margins, self.sample.weights), margins

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        for first in range(0, len(self.sample.weights), CHUNK):
            rows = slice(first, first + CHUNK)
            yield rows, self._block(replace(self.sample, rows=self.sample.rows[rows]))

    def _block(self, block: Block) -> Array:
        """Kernel values of the rows of a block with the basis."""
        if self.kernel.precomputed:
            return self.kernel.block(block.rows[:, self.basis.columns], None)
        return self.kernel.block(block.rows, self.basis.rows)
