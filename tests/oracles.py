"""The training problem given to a quadratic-programming solver (cvxpy with Clarabel)."""

from __future__ import annotations

import cvxpy
import numpy as np

from sodm.problem.losses import HingeLoss, Loss


def quadratic_program(
    K: np.ndarray, y: np.ndarray, weights: np.ndarray, loss: Loss, offset: np.ndarray | float = 0.0
) -> tuple[float, np.ndarray]:
    """The smallest objective p, and the decisions f at the rows.

    With K = R R' and f = R w the problem is one in w, |w|^2 being the squared norm of f.
    """
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-13 * values[-1]
    R = vectors[:, keep] * np.sqrt(values[keep])
    w = cvxpy.Variable(R.shape[1])
    margins = cvxpy.multiply(y, R @ w) + offset
    below = cvxpy.Variable(len(y))
    W = weights.sum()
    # Dividing by lam keeps the numbers of the program near 1, which the solver's tolerances refer to.
    norm = cvxpy.sum_squares(w) / (2 * loss.lam)
    if isinstance(loss, HingeLoss):
        value = norm + weights @ below / W
        constraints = [below >= 0, margins >= 1 - below]
    else:
        above = cvxpy.Variable(len(y))
        root = np.sqrt(weights / (2 * W * loss.unit))
        value = norm + cvxpy.sum_squares(cvxpy.multiply(root, below))
        value += loss.upsilon * cvxpy.sum_squares(cvxpy.multiply(root, above))
        constraints = [margins >= 1 - loss.theta - below, margins <= 1 + loss.theta + above]
    problem = cvxpy.Problem(cvxpy.Minimize(value), constraints)
    tight = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}
    problem.solve(solver=cvxpy.CLARABEL, **tight)
    f = R @ w.value
    # The program's own value is only as good as its slacks: evaluate p at its f.
    return float(w.value @ w.value / 2 + loss.primal(y * f + offset, weights)), f
