"""The exact machine, solved by the compiled core (core/exact/newton.cpp, core/exact/coordinate_descent.cpp).

Problem (Eq. 1 of the paper with one signed dual per instance; W is the sum of the weights s_i)::

    min_g  1/2 g'Qg + sum_i dual(g_i),    Q_ij = y_i y_j k(x_i, x_j),    f = sum_j y_j g_j k(x_j, .)

    odm:    dual(g) = a/(2s) g^2 - (1-theta) g   (g >= 0),   b/(2s) g^2 - (1+theta) g   (g < 0)
            a = W (1-theta)^2 / lam,  b = a / upsilon
    hinge:  dual(g) = -g  on  0 <= g <= s lam / W

With offsets o of the margins, m_i = y_i f(x_i) + o_i, the dual has o'g besides.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from .. import _core
from ..problem.evaluator import Source
from ..problem.losses import HingeLoss, Loss, OdmLoss, TargetLoss
from .result import SolveResult

__all__ = ["solve", "violation_tolerance"]


def violation_tolerance(tol: float) -> float:
    """The largest KKT violation, in units of the margin, that goes with a relative duality gap of `tol`.

    The gap is quadratic in the violation; the factor was chosen so that neither criterion is idle: at the
    default tol a margin may be off by 0.1.
    """
    return sqrt(10 * tol)


def core_loss(loss: Loss) -> _core.LossNumbers:
    """A loss as the core takes it."""
    if not isinstance(loss, OdmLoss):
        return _core.LossNumbers("hinge", loss.lam)
    name = "targets" if isinstance(loss, TargetLoss) else "odm"
    return _core.LossNumbers(name, loss.lam, loss.upsilon, loss.theta)


def doubles(values: Any) -> Any:
    """An array as the core takes it; None stays None."""
    return None if values is None else np.ascontiguousarray(values, dtype=np.float64)


def solve(
    source: Source,
    signs: np.ndarray,
    weights: np.ndarray,
    loss: OdmLoss | HingeLoss,
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int = 1000,
    cache_bytes: int = 1000 << 20,
    seed: int = 0,
    n_threads: int = 1,
    start: np.ndarray | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    stop: _core.StopToken | None = None,
    start_decision: np.ndarray | None = None,
    violation: float | None = None,
    aim: float | None = None,
    offset: np.ndarray | None = None,
    exact: Callable[[], Source] | None = None,
) -> SolveResult:
    """Solve one machine per row of `signs`, all on the same kernel values.

    Parameters
    ----------
    source : Points, MatrixSource or FunctionSource of the core
        Where kernel values come from.
    signs : ndarray of shape (n_problems, n)
        Labels +1 and -1 of each machine.
    weights : ndarray of shape (n,)
        Positive instance weights.
    loss : OdmLoss or HingeLoss
    solver : {"auto", "newton", "dcd"}
        Newton is for the ODM loss only; "auto" picks.
    tol : float
        Relative duality gap to reach. The largest KKT violation must also be below
        ``violation_tolerance(tol)``, in units of the margin.
    start : ndarray of shape (n_problems, n), optional
        Duals to start from.
    progress : callable, optional
        Called with a dict (stage, rows, iteration, gap, violation) now and then.
    stop : StopToken of the core, optional
        Lets another thread end this call; it then raises `_core.Interrupted`.
    start_decision : ndarray of shape (n_problems, n), optional
        Values of any f at the rows, say of a machine of other rows: what is thought to be near the solution
        where no duals are known. Newton's first step goes from the active set of f; coordinate descent
        starts from the duals that the optimality conditions assign to f. Not used beside `start`.
    aim : float, optional
        A smaller relative gap to go on to while that is cheap; to miss it is no failure. Decisions on unseen
        rows depend less on the order of the rows, and on chance.
    violation : float, optional
        Another bound on the largest violation, for those who need the objective only.
    offset : ndarray of shape (n_problems, n), optional
        What is added to the margins, ``y f(x) + offset``. A dead zone around c instead of 1 is the offset
        1 - c; a function f0 that f is to correct is the offset y f0(x); targets t are y = 1 and 1 - t
        (`TargetLoss`). The result's decision is f alone.
    exact : callable, optional
        Gives the source in double, if `source` is in single precision. Newton asks for it beside a small
        ridge, and corrects its f by it.

    Returns
    -------
    SolveResult
    """
    options = _core.SolveOptions(
        solver,
        tol,
        violation_tolerance(tol) if violation is None else violation,
        max_iter,
        cache_bytes,
        seed,
        n_threads,
        tol if aim is None else aim,
        progress,
        stop,
    )
    result = _core.solve(
        source,
        doubles(signs),
        doubles(weights),
        core_loss(loss),
        options,
        doubles(start),
        doubles(start_decision),
        doubles(offset),
        exact,
    )
    return SolveResult.of_core(result, np.shape(signs))
