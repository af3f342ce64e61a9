"""The exact machine with a certificate: what single precision cannot show is finished in double."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.evaluator import KernelEvaluator, Source
from sodm.problem.losses import Loss, TargetLoss
from sodm.problem.row_types import Rows
from sodm.solvers.certificate import Certifier
from sodm.solvers.exact import solve, violation_tolerance
from sodm.solvers.pair_batch import HEADROOM, WORTH_THREADS, PairBatch, most_rows
from sodm.solvers.result import SolveResult
from sodm.solvers.rounding import Rounding

Array = NDArray[np.float64]

# Where both bounds are mostly rounding they tell nothing of who is nearer: the one in double is.
NO_WORSE = 2.0


def solve_certified(
    evaluator: KernelEvaluator,
    rows: Rows,
    signs: Array,
    weights: Array,
    loss: Loss,
    *,
    tol: float,
    max_iter: int,
    **options: Any,
) -> SolveResult:
    """Solve one machine per row of `signs`; gap, objective and violation of the result hold in double.

    If the solution in single precision does not stand up to that, it is where a second one in double starts
    from.

    Parameters
    ----------
    evaluator : KernelEvaluator
    rows : ndarray or CSR matrix
        For a precomputed kernel, its matrix.
    signs, weights, loss, tol, max_iter, options
        As for `sodm.solvers.exact.solve`.
    """
    small = signs.size * signs.shape[1] < WORTH_THREADS
    if small:
        evaluator = KernelEvaluator(evaluator.kernel, evaluator.precision, 1)
    first: SolveResult | None = None
    plain = options.get("progress") is None and options.get("offset") is None
    if small and plain and len(signs) == 1 and not isinstance(loss, TargetLoss):
        first = _certified_in_core(
            evaluator, rows, signs, weights, loss, tol=tol, max_iter=max_iter, **options
        )
    if first is None:
        first = _certified_once(evaluator, rows, signs, weights, loss, tol=tol, max_iter=max_iter, **options)
    left = max_iter - int(first.n_iter.max())
    if first.converged.all() or first.precision == "double" or first.ridge_shift > 0 or left <= 0:
        return first
    options |= {"start": first.duals, "start_decision": None, "aim": None}
    double = evaluator.in_double()
    second = _certified_once(double, rows, signs, weights, loss, tol=tol, max_iter=left, **options)
    better = second if np.max(second.gap) <= NO_WORSE * np.max(first.gap) else first
    return replace(
        better,
        n_iter=first.n_iter + second.n_iter,
        n_kernel_evaluations=first.n_kernel_evaluations + second.n_kernel_evaluations,
        kernel_seconds=first.kernel_seconds + second.kernel_seconds,
    )


ONE_PAIR = np.array([[0, 1]])


def _certified_in_core(
    evaluator: KernelEvaluator,
    rows: Rows,
    signs: Array,
    weights: Array,
    loss: Loss,
    *,
    cache_bytes: int = 1000 << 20,
    solver: str = "auto",
    seed: int = 0,
    offset: None = None,
    aim: float | None = None,
    **options: Any,
) -> SolveResult | None:
    """A problem so small that what surrounds the solver counts; None if it is not as small as that.

    It is solved to `tol`: of `aim`, which is for many rows, nothing is asked.
    """
    if signs.shape[1] > most_rows(evaluator, rows, cache_bytes):
        return None
    batch = PairBatch(evaluator, rows, signs, weights, loss)
    return batch.solve(ONE_PAIR, solver=solver, cache_bytes=cache_bytes, seed=seed, **options)[0]


def _certified_once(
    evaluator: KernelEvaluator,
    rows: Rows,
    signs: Array,
    weights: Array,
    loss: Loss,
    *,
    tol: float,
    **options: Any,
) -> SolveResult:
    source = evaluator.source(rows)
    rounding = Rounding.of(evaluator, source, rows)
    ridge = float(loss.ridges(weights)[0].min())
    if evaluator.precision == "single" and 0 < ridge < rounding.of_diagonal("single"):
        # K + D differs from K by less than K is known to: no method would get anywhere.
        evaluator = evaluator.in_double()
        source = evaluator.source(rows)
    options |= {"tol": HEADROOM * tol, "n_threads": evaluator.n_threads}
    exact = InDouble(evaluator, rows)
    if evaluator.precision == "single" and (evaluator.kernel.compiled or evaluator.precomputed):
        options["exact"] = exact
    result = solve(source, signs, weights, loss, **options)
    certifier = Certifier(evaluator, rounding, rows, signs, weights, loss, options.get("offset"))
    # Of a kernel that is not positive semidefinite a neighbour was solved, k + shift I; what is said is said
    # of the kernel that was asked for.
    decision = result.decision - result.ridge_shift * signs * result.duals
    certificate = certifier.certify(result.duals, decision, tol)
    met = (certificate.gap <= tol) & (certificate.violation <= violation_tolerance(tol))
    return replace(
        result,
        decision=certificate.decision,
        objective=certificate.objective,
        gap=certificate.gap,
        violation=certificate.violation,
        converged=result.converged if result.ridge_shift > 0 else met,
        precision="double" if exact.asked else evaluator.precision,
    )


@dataclass
class InDouble:
    """Gives the source in double to a solver that asks; what it finds is to be summed in double, too."""

    evaluator: KernelEvaluator
    rows: Rows
    asked: bool = False

    def __call__(self) -> Source:
        """Make it."""
        self.asked = True
        return self.evaluator.in_double().source(self.rows)
