"""Some training rows at which each level's machine is looked at: its decisions there, and its objective.

The rows are drawn at random, so what is averaged over them estimates the average over all rows. With
a_i = y_i g_i::

    |f|^2 = sum_i a_i f(x_i)  ~  n / P sum_{i in probe} a_i f(x_i)

and likewise the loss and the dual. With all rows in the probe these are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays, Block, Table
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.pairs import codes_of, pairs_of, votes
from sodm.problem.problem import Problem
from sodm.trees.local import decide, machine_coefficients

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """What was seen of one machine.

    Attributes
    ----------
    decision : ndarray, shape (n_problems, P)
        Of each class against the rest, or of each pair.
    objective, dual : ndarrays, shape (n_problems,)
        Of the problem of all rows; the gap is their sum.
    exact : bool
        Whether all rows were looked at.
    """

    decision: Array
    objective: Array
    dual: Array
    exact: bool
    pairs: bool = False

    @property
    def gap(self) -> Array:
        """Relative duality gap."""
        return (self.objective + self.dual) / np.maximum(np.abs(self.objective), 1e-300)

    @property
    def classes(self) -> NDArray[np.intp]:
        """The class that each row is given, as a number."""
        return classes_of(self.decision, self.pairs)


class Probe:
    """At most so many rows of a problem, drawn at random."""

    def __init__(self, problem: Problem, kernel: KernelEvaluator, n_rows: int, seed: int) -> None:
        n = len(problem.weights)
        rows = np.arange(n)
        if n_rows < n:
            rows = np.sort(np.random.RandomState(seed).permutation(n)[:n_rows])
        self.problem, self.kernel = problem, kernel
        self.block = Table(problem.rows, problem.signs, problem.weights).take(rows)
        self.rows_per_probed = n / len(rows)  # how many rows each one stands for

    @property
    def message(self) -> Arrays:
        """What tasks are told, if they are to look at their machines themselves: where rows are elsewhere, it
        takes a pass over all of them otherwise."""
        return {} if self.problem.rows.in_memory else {"probe": self.block}

    def read(self, duals: Array, decision: Array | None = None) -> Reading:
        """Look at the machine with these duals; its f at these rows may be known already."""
        block, loss = self.block, self.problem.loss
        if decision is None:
            decision = machine_values(self.problem, self.kernel, duals, block)
        g, weights = duals[:, block.columns], block.weights
        rest = self.problem.weights.sum() - weights.sum()
        if self.rows_per_probed > 1 and rest > 0:
            # A row with dual 0 for all the others: then the weights add up to W, and the ridges are right.
            g, weights = np.hstack([g, np.zeros((len(g), 1))]), np.append(weights, rest)
        if self.problem.pairs:
            return self._read_pairs(duals, decision)
        objective, dual = np.empty(len(duals)), np.empty(len(duals))
        for c, signs in enumerate(block.signs):
            norm = float(np.sum(signs * g[c, : len(signs)] * decision[c])) / 2
            objective[c] = self.rows_per_probed * norm + loss.primal(signs * decision[c], block.weights)
            dual[c] = self.rows_per_probed * (norm + loss.dual(g[c], weights))
        return Reading(decision, objective, dual, self.rows_per_probed == 1.0)

    def _read_pairs(self, duals: Array, decision: Array) -> Reading:
        """Of each pair only its own rows count; W is the weight of all rows."""
        block, total = self.block, float(self.problem.weights.sum())
        codes, g = codes_of(block.signs), duals[:, block.columns]
        objective, dual = np.zeros(len(decision)), np.zeros(len(decision))
        for k, (c, d) in enumerate(pairs_of(len(duals) + 1).tolist()):
            at = np.flatnonzero((codes == c) | (codes == d))
            place = np.where(codes[at] == c, d - 1, c), at
            own, weights = g[place], block.weights[at]
            margins = block.signs[place] * decision[k, at]
            norm = float(np.sum(own * margins)) / 2
            # A row with dual 0 for all others, so that the weights add up to W and the ridges are right; its
            # margin is where there is no loss.
            weights, rest = np.append(weights, total - weights.sum()), total - weights.sum()
            if rest <= 0:
                weights = weights[:-1]
            else:
                own, margins = np.append(own, 0.0), np.append(margins, 1.0)
            objective[k] = self.rows_per_probed * (norm + self.problem.loss.primal(margins, weights))
            dual[k] = self.rows_per_probed * (norm + self.problem.loss.dual(own, weights))
        return Reading(decision, objective, dual, self.rows_per_probed == 1.0, pairs=True)


def machine_values(problem: Problem, kernel: KernelEvaluator, duals: Array, block: Block) -> Array:
    """f of the machine with these duals at the rows of a block, shape (n_problems, m)."""
    coefficients = machine_coefficients(problem.signs, duals, problem.pairs)
    support = np.flatnonzero(np.any(duals != 0, axis=0))
    if len(support) == 0:
        count = len(pairs_of(len(duals) + 1)) if problem.pairs else len(duals)
        return np.zeros((count, block.rows.shape[0]))
    if kernel.precomputed:  # its rows are known by their numbers
        return decide(kernel, block, support, coefficients[:, support], problem.pairs)
    return problem.rows.sum_over_rows(partial(decide, kernel, block, pairs=problem.pairs), coefficients)


def classes_of(decision: Array, pairs: bool = False) -> NDArray[np.intp]:
    """The number of the class that each column of decisions means, of classes or of pairs of them."""
    if pairs:
        n_classes = int(1 + np.sqrt(1 + 8 * len(decision))) // 2
        return votes(decision.T, n_classes).argmax(axis=1)
    return (decision[0] > 0).astype(np.intp) if len(decision) == 1 else decision.argmax(axis=0)
