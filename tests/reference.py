"""A plain NumPy twin of the exact solver, to compare the compiled one with. Slow, dense, double precision.

Both methods minimise, with K the Gram matrix, f = K a, a = y g and margins m = y f,

    p(a) = 1/2 a' K a + loss.primal(m, s)        (ODM: piecewise quadratic; hinge: piecewise linear loss)

(m = y f + o where there are offsets o), and stop on the relative duality gap and
the largest violation of the optimality conditions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sodm.problem.losses import HingeLoss, Loss, OdmLoss
from sodm.solvers.result import SolveResult


def solve(
    source: np.ndarray,
    signs: np.ndarray,
    weights: np.ndarray,
    loss: Loss,
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int = 100_000,
    cache_bytes: int = 0,
    seed: int = 0,
    n_threads: int = 1,
    start: np.ndarray | None = None,
    progress: Any = None,
    offset: np.ndarray | None = None,
) -> SolveResult:
    """The signature of sodm.solvers.exact.solve; `source` is the Gram matrix itself."""
    K = np.asarray(source, dtype=np.float64)
    signs, weights = np.atleast_2d(signs).astype(float), np.asarray(weights, dtype=np.float64)
    shift = max(0.0, -2 * float(np.linalg.eigvalsh(K)[0]))
    shift = shift if shift > 1e-4 * np.abs(K).max() else 0.0
    K = K + shift * np.eye(len(K))
    newton = isinstance(loss, OdmLoss) and solver != "dcd"
    rng = np.random.default_rng(seed)
    duals, steps = np.zeros_like(signs), np.zeros(len(signs), dtype=np.int64)
    offset = np.zeros_like(signs) if offset is None else offset
    for k, (y, o) in enumerate(zip(signs, offset, strict=True)):
        g = np.zeros(len(y)) if start is None else np.array(start[k], dtype=np.float64)
        if newton:
            duals[k], steps[k] = _newton(K, y, weights, loss, g, tol, max_iter, o)
        else:
            duals[k], steps[k] = _descend(K, y, weights, loss, g, tol, max_iter, rng, o)
        if progress:
            gap = certificate(K, y, weights, loss, duals[k], o)[1]
            progress(
                {
                    "stage": "newton" if newton else "dcd",
                    "rows": len(y),
                    "iteration": int(steps[k]),
                    "gap": gap,
                }
            )
    decision = (signs * duals) @ K
    machines = zip(signs, duals, offset, strict=True)
    numbers = np.array([certificate(K, y, weights, loss, g, o) for y, g, o in machines])
    objective, gap, violation = numbers.T
    return SolveResult(
        duals=duals,
        decision=decision,
        objective=objective,
        gap=gap,
        violation=violation,
        n_iter=steps,
        converged=(gap <= tol) & (violation <= tol),
        solver="newton" if newton else "dcd",
        n_kernel_evaluations=K.size,
        kernel_seconds=0.0,
        ridge_shift=shift,
    )


def certificate(
    K: np.ndarray, y: np.ndarray, weights: np.ndarray, loss: Loss, g: np.ndarray, o: np.ndarray | float = 0.0
) -> tuple[float, float, float]:
    """Primal objective, relative duality gap and largest violation at g."""
    own = y * (K @ (y * g))
    margins = own + o
    norm = g @ own
    primal = norm / 2 + loss.primal(margins, weights)
    dual = norm / 2 + np.sum(o * g) + loss.dual(g, weights)
    violation = float(loss.violation(margins, g, weights).max())
    return primal, (primal + dual) / abs(primal), violation


def _done(
    K: np.ndarray, y: np.ndarray, weights: np.ndarray, loss: Loss, g: np.ndarray, tol: float, o: np.ndarray
) -> bool:
    _, gap, violation = certificate(K, y, weights, loss, g, o)
    return gap <= tol and violation <= tol


def _newton(
    K: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    loss: OdmLoss,
    g: np.ndarray,
    tol: float,
    max_iter: int,
    o: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Active set Newton: (K_AA + D_A) a_A = t_A - y o_A on the rows outside the zone, then a line search."""
    ridge_below, ridge_above = loss.ridges(weights)
    a = y * g
    for step in range(1, max_iter + 1):
        margins = y * (K @ a) + o
        below, above = margins < 1 - loss.theta, margins > 1 + loss.theta
        active = np.flatnonzero(below | above)
        ridge = np.where(below, ridge_below, ridge_above)[active]
        target = (y * (np.where(below, 1 - loss.theta, 1 + loss.theta) - o))[active]
        new = np.zeros_like(a)
        new[active] = np.linalg.solve(K[np.ix_(active, active)] + np.diag(ridge), target)
        if _done(K, y, weights, loss, y * new, tol, o):
            return y * new, step
        a = a + _line_search(K, y, weights, loss, a, new - a, o) * (new - a)
    return y * new, max_iter


def _line_search(
    K: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    loss: OdmLoss,
    a: np.ndarray,
    direction: np.ndarray,
    o: np.ndarray,
) -> float:
    """Where the derivative of the convex p(a + t direction) changes sign in [0, 1], by bisection."""
    Ka, Kd = K @ a, K @ direction

    def slope(t: float) -> float:
        return float((a + t * direction) @ Kd - loss.lift(y * (Ka + t * Kd) + o, weights) @ (y * Kd))

    low, high = 0.0, 1.0
    if slope(high) <= 0:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return (low + high) / 2


def _descend(
    K: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    loss: Loss,
    g: np.ndarray,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    o: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Coordinate descent on the dual, one exact step at a time, in random order."""
    Q = y[:, None] * y * K
    if isinstance(loss, HingeLoss):
        g = np.clip(g, 0, loss.bounds(weights))
    margins = Q @ g + o
    a, b = loss.ridges(weights)
    upper = loss.bounds(weights) if isinstance(loss, HingeLoss) else None
    for sweep in range(1, max_iter + 1):
        for i in rng.permutation(len(y)):
            q = Q[i, i]
            r = q * g[i] - margins[i]
            if upper is not None:
                new = min(max((r + 1) / q, 0.0), upper[i]) if q > 0 else (upper[i] if r > -1 else 0.0)
            elif r > -(1 - loss.theta):
                new = (r + 1 - loss.theta) / (q + a[i])
            else:
                new = min((r + 1 + loss.theta) / (q + b[i]), 0.0)
            if new != g[i]:
                margins += (new - g[i]) * Q[i]
                g[i] = new
        if sweep % 10 == 0 or sweep == max_iter:
            margins = Q @ g + o
            if _done(K, y, weights, loss, g, tol, o):
                break
    return g, sweep
