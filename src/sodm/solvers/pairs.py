"""One against one: the machines of all pairs of classes, each on the rows of its two.

The loss of every pair is that of the problem of all rows: W in it is the weight of all rows, so that the
ridge W (1-theta)^2 / lam on the diagonal, which is what LIBSVM's C decides, is the same in all pairs and the
same as in machines of one class against the rest. (A pair of m of the M rows solved alone would take lam m /
M for that.)

Small pairs go to the core all at once, one thread each; a large one is solved by all threads, as if it were
alone. Which is which depends on the memory that may be used, not on the number of threads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.losses import Loss
from sodm.problem.pairs import pairs_of
from sodm.problem.row_types import Rows
from sodm.solvers.certified import solve_certified
from sodm.solvers.exact import solve
from sodm.solvers.pair_batch import PairBatch, most_rows
from sodm.solvers.result import SolveResult

Array = NDArray[np.float64]

Place = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows and columns of the duals of a pair

OF_PAIRS = ("objective", "gap", "violation", "n_iter", "converged")


def solve_pairs(
    evaluator: KernelEvaluator,
    rows: Rows,
    signs: Array,
    weights: Array,
    loss: Loss,
    *,
    tol: float,
    max_iter: int,
    cache_bytes: int,
    certified: bool = True,
    **options: Any,
) -> SolveResult:
    """Solve one machine per pair of classes.

    Parameters
    ----------
    evaluator : KernelEvaluator
    rows : ndarray or CSR matrix
        For a precomputed kernel, its matrix.
    signs : ndarray, shape (n_classes - 1, n)
        As `sodm.problem.pairs` lays them out; so are `start`, `start_decision` and the duals of the result.
    weights, loss, tol, max_iter, options
        As for `sodm.solvers.exact.solve`.
    certified : bool
        Whether gap, objective and violation are to hold in double.

    Returns
    -------
    SolveResult
        Objective, gap, violation, iterations and convergence are one number per pair.
    """
    pairs = pairs_of(len(signs) + 1)
    batch = PairBatch(evaluator, rows, signs, weights, loss)
    small = batch.counts[pairs].sum(axis=1) <= most_rows(evaluator, rows, cache_bytes)
    options |= {"tol": tol, "max_iter": max_iter, "cache_bytes": cache_bytes}
    result, shift = batch.solve(pairs[small], certified=certified, **options)
    if small.all() and (result.converged.all() or not certified):
        return result
    result = _spread(result, small)
    by_class = [np.flatnonzero(batch.codes == c) for c in range(len(signs) + 1)]

    def place_of(k: int) -> Place:
        """Where the duals of a pair are."""
        c, d = pairs[k].tolist()
        index = np.concatenate([by_class[c], by_class[d]])
        return np.repeat([d - 1, c], [len(by_class[c]), len(by_class[d])]), index

    if certified and result.precision == "single":
        # What single precision cannot show is finished in double, from where it stands.
        shown = result.converged[small] | (shift > 0) | (result.n_iter[small] >= max_iter)
        double = replace(batch, evaluator=evaluator.in_double())
        for k in np.flatnonzero(small)[~shown].tolist():
            rest = options | {"start": result.duals, "max_iter": max_iter - int(result.n_iter[k])}
            result = _with_pair(result, k, place_of(k), _solve_alone(double, place_of(k), certified, rest))
    for k in np.flatnonzero(~small).tolist():
        result = _with_pair(result, k, place_of(k), _solve_alone(batch, place_of(k), certified, options))
    return result


def _spread(result: SolveResult, chosen: NDArray[np.bool_]) -> SolveResult:
    """The result of some pairs as one of all pairs; nothing is known of the others."""

    def spread(values: NDArray[Any]) -> NDArray[Any]:
        whole = np.zeros(len(chosen), dtype=values.dtype)
        whole[chosen] = values
        return whole

    whole: dict[str, Any] = {name: spread(getattr(result, name)) for name in OF_PAIRS}
    return replace(result, **whole)


def _solve_alone(batch: PairBatch, place: Place, certified: bool, options: dict[str, Any]) -> SolveResult:
    """One pair by all threads; `place` is where its duals are."""
    evaluator, index = batch.evaluator, place[1]
    own = batch.rows[index]
    if evaluator.precomputed:
        own = own[:, index]
    weights = batch.weights[index]
    # W is the weight of all rows.
    loss = replace(batch.loss, lam=batch.loss.lam * float(weights.sum() / batch.weights.sum()))
    options = dict(options)
    for name in ("start", "start_decision"):
        given = options.get(name)
        if given is not None:
            options[name] = given[place][None, :]
    signs = batch.signs[place][None, :]
    if certified:
        return solve_certified(evaluator, own, signs, weights, loss, **options)
    source = evaluator.source(own)
    return solve(source, signs, weights, loss, n_threads=evaluator.n_threads, **options)


def _with_pair(result: SolveResult, k: int, place: Place, own: SolveResult) -> SolveResult:
    """The result of all pairs with that of one put in."""
    result.duals[place], result.decision[place] = own.duals[0], own.decision[0]
    own = replace(own, n_iter=own.n_iter + result.n_iter[k])
    for name in OF_PAIRS:
        getattr(result, name)[k] = getattr(own, name)[0]
    return replace(
        result,
        solver=own.solver,
        n_kernel_evaluations=result.n_kernel_evaluations + own.n_kernel_evaluations,
        kernel_seconds=result.kernel_seconds + own.kernel_seconds,
        ridge_shift=max(result.ridge_shift, own.ridge_shift),
        precision="double" if "double" in (result.precision, own.precision) else result.precision,
    )
