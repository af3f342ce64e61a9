"""How far a machine is from the best: its duality gap, in double, for the kernel that was asked for.

The gap is a sum over the rows of terms that are convex in the margin (`young` of the losses). Where a margin
is known to within e, its term is at most the larger one of those at m - e and m + e. So the gap is at most

    sum_i max( young(m_i - e_i, g_i), young(m_i + e_i, g_i) ).

Solvers know the margins in their own precision. What that is worth is seen where it is cheap: some support
vectors' margins are computed anew in double (all of them if they are not many). `rounding` says how errors
compare from row to row, and they are taken to be four times as large as the largest that was seen. If the
bound then is above the tolerance, all margins that count are computed in double.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sodm.problem.chunks import chunks
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.losses import Loss
from sodm.problem.row_types import Rows
from sodm.solvers.rounding import Rounding

Array = NDArray[np.float64]
Index = NDArray[np.intp]

SEEN = 512  # support vectors whose margins are computed anew
NOT_MANY = 2048  # up to so many, all of them
SAFETY = 4.0
AT_ONCE = 4096  # support vectors prepared in double at a time


@dataclass(frozen=True)
class Certificate:
    """What is known of machines, one entry for each.

    Attributes
    ----------
    decision : ndarray, shape (n_problems, n)
        f at the rows, in double where it was computed so.
    objective : ndarray
    gap : ndarray
        Bound on the relative duality gap.
    violation : ndarray
        Largest violation of the optimality conditions.
    """

    decision: Array
    objective: Array
    gap: Array
    violation: Array


@dataclass(frozen=True)
class Certifier:
    """Looks at machines on the same rows.

    Attributes
    ----------
    evaluator : KernelEvaluator
        In the precision of the solver.
    rounding : Rounding
    rows : ndarray or CSR matrix
        For a precomputed kernel, its matrix.
    signs : ndarray, shape (n_problems, n)
    weights : ndarray, shape (n,)
    loss : OdmLoss or HingeLoss
    offset : ndarray, shape (n_problems, n), optional
        What is added to the margins, signs * f + offset.
    """

    evaluator: KernelEvaluator
    rounding: Rounding
    rows: Rows
    signs: Array
    weights: Array
    loss: Loss
    offset: Array | None = None

    def certify(self, duals: Array, decision: Array, tol: float) -> Certificate:
        """Look at machines by their duals and what the solver takes for their f.

        Parameters
        ----------
        duals, decision : ndarrays, shape (n_problems, n)
        tol : float
            Relative gap that is to be shown; if it can be, no more is computed than that takes.
        """
        coefficients = self.signs * duals
        support = np.flatnonzero(np.any(coefficients != 0, axis=0))
        errors = self.rounding.of_values(coefficients, "double")
        decision = decision.copy()
        seen = support if len(support) <= NOT_MANY else support[:: -(-len(support) // SEEN)]
        anew = self.values(seen, support, coefficients)
        scale = self.rounding.of_values(coefficients, self.evaluator.precision)
        off = np.abs(decision[:, seen] - anew) / np.maximum(scale[:, seen], np.finfo(float).tiny)
        largest = np.max(off, axis=1, keepdims=True, initial=0.0)
        doubtful = errors + SAFETY * largest * scale
        decision[:, seen] = anew
        doubtful[:, seen] = errors[:, seen]
        certificate = self._bound(duals, decision, doubtful)
        if np.all(certificate.gap <= tol):
            return certificate
        rest = np.setdiff1d(self._that_count(duals, decision, doubtful), seen)
        decision[:, rest] = self.values(rest, support, coefficients)
        doubtful[:, rest] = errors[:, rest]
        return self._bound(duals, decision, doubtful)

    def values(self, at: Index, support: Index, coefficients: Array) -> Array:
        """f at these rows in double, shape (n_problems, len(at))."""
        double = replace(self.evaluator, precision="double")
        total = np.zeros((len(coefficients), len(at)))
        if len(at) == 0:
            return total
        asked = self.rows[at]
        for first in range(0, len(support), AT_ONCE):
            some = support[first : first + AT_ONCE]
            own = np.ascontiguousarray(coefficients[:, some].T)
            if double.precomputed:
                total += double.apply(asked[:, some], None, own).T
            else:
                total += double.apply(asked, self.rows[some], own).T
        return total

    def _bound(self, duals: Array, decision: Array, errors: Array) -> Certificate:
        objective, gap, violation = (np.empty(len(duals)) for _ in range(3))
        own_margins = self.signs * decision  # Q g
        margins = self._margins(decision)
        for some in chunks(len(duals), duals.shape[1]):
            m, g, e = margins[some], duals[some], errors[some]
            young = np.maximum(*(self.loss.young(end, g, self.weights) for end in (m - e, m + e)))
            losses = [self.loss.primal(own, self.weights) for own in m]
            objective[some] = np.einsum("ij,ij->i", g, own_margins[some]) / 2 + losses
            gap[some] = young.sum(axis=1) / np.maximum(np.abs(objective[some]), 1e-300)
            violation[some] = np.max(self._violation(m, g), axis=1)
        return Certificate(decision, objective, gap, violation)

    def _margins(self, decision: Array) -> Array:
        margins = self.signs * decision
        return margins if self.offset is None else margins + self.offset

    def _violation(self, margins: Array, g: Array) -> Array:
        """In units of the margin: the step that each dual would make on its own, times its curvature."""
        q = self.evaluator.diag(self.rows)
        to = self.loss.prox(q * g - margins, q, self.weights)
        rising, falling = self.loss.ridges(self.weights)
        return np.abs(to - g) * (q + np.where(to + g >= 0, rising, falling))

    def _that_count(self, duals: Array, decision: Array, errors: Array) -> Index:
        """Rows with a dual, or whose margins may have a loss."""
        counts = np.zeros(duals.shape[1], dtype=bool)
        margins = self._margins(decision)
        for c, g in enumerate(duals):
            m, e = margins[c], errors[c]
            counts |= (g != 0) | (self.loss.lift(m - e, self.weights) != 0)
            counts |= self.loss.lift(m + e, self.weights) != 0
        return np.flatnonzero(counts)
