"""ODM solved exactly on a small Gram matrix, in plain NumPy: active-set Newton on the primal."""

import numpy as np


def solve_odm(K, y, loss, tol=1e-10):
    """The duals g of the exact solution: relative duality gap below tol.

    With a = y g and f = K a, each step solves (K_AA + D_A) a_A = t_A on the rows A outside the dead zone
    and goes towards its solution as far as the primal objective falls.
    """
    weights = np.ones(len(y))
    ridge_below, ridge_above = loss.ridges(weights)
    a = np.zeros(len(y))
    for _ in range(200):
        margins = y * (K @ a)
        below, above = margins < 1 - loss.theta, margins > 1 + loss.theta
        A = np.flatnonzero(below | above)
        ridge = np.where(below, ridge_below, ridge_above)[A]
        target = (y * np.where(below, 1 - loss.theta, 1 + loss.theta))[A]
        new = np.zeros_like(a)
        new[A] = np.linalg.solve(K[np.ix_(A, A)] + np.diag(ridge), target)
        f, g = K @ new, y * new
        primal = new @ f / 2 + loss.primal(y * f, weights)
        if primal + new @ f / 2 + loss.dual(g, weights) <= tol * abs(primal):
            return g
        a = a + _step(K @ a, f - K @ a, a, new - a, y, loss, weights) * (new - a)
    raise AssertionError("the plain solver did not converge")


def _step(f, change, a, direction, y, loss, weights):
    """Where the slope of the primal along the way from a to a + direction turns positive, by bisection."""

    def slope(t):
        g = loss.lift(y * (f + t * change), weights)
        return (a + t * direction) @ change - g @ (y * change)

    low, high = 0.0, 1.0
    if slope(high) <= 0:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return high


def solve_parts(K, y, assignment, loss):
    """The local solutions, each at its own rows."""
    g = np.zeros(len(y))
    for k in np.unique(assignment):
        rows = np.flatnonzero(assignment == k)
        g[rows] = solve_odm(K[np.ix_(rows, rows)], y[rows], loss)
    return g
