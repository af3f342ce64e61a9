"""What is done to one part: solve its own problem. Plain arrays in, plain arrays out.

The part's problem is the machine's problem on its rows, with lam as it is and W the weight `represented`::

    min  1/2 |f|^2 + lam / (2 R (1-theta)^2) sum_i s_i [...],   R = represented

R is the weight of the part's own rows where parts stand for themselves (SODM: each is a smaller picture of
the whole), of all rows they were selected from where rows were dropped (DiP), and of the whole data set
where parts are pieces of one dual problem (Cascade, DC).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays, Block, Slot
from sodm.problem.evaluator import KernelEvaluator, Precision
from sodm.problem.kernels import Kernel
from sodm.problem.losses import Loss
from sodm.solvers.certified import solve_certified
from sodm.solvers.exact import solve

COARSER = 10.0
ANY_VIOLATION = 1e6


@dataclass(frozen=True)
class LocalSolver:
    """The task of a level. Its message may have

    represented : float
        R above.
    cache_bytes : int
        Kernel values that may be kept; a place that has less memory gives less.
    start : ndarray, shape (n_problems, m)
        Duals to start from.
    lift : bool
        Take f from them, and start from what the optimality conditions say of it.
    model_rows, model_coef : ndarrays
        Another machine, sum_j model_coef[c, j] k(model_rows[j], .), whose f to start from.
    base_rows, base_coef : ndarrays
        Another machine, which this one is to correct: what is solved for is added to its f.
    exact : bool
        Solve to the machine's own tolerance. Otherwise a tenfold gap will do, and a row that is far from its
        place as well, for an average of parts is further from the solution than that.
    probe : Block
        Rows at which the part's machine is looked at where it is made; its f there is part of the result.
    """

    kernel: Kernel
    precision: Precision
    loss: Loss
    solver: str
    tol: float
    max_iter: int
    seed: int

    def __call__(self, block: Block, message: Arrays, slot: Slot) -> Arrays:
        began = time.perf_counter()
        kernel = KernelEvaluator(self.kernel, self.precision, slot.n_threads)
        cache_bytes = message["cache_bytes"]
        if slot.memory is not None:
            cache_bytes = min(cache_bytes, slot.memory)
        start, decision, exact = message.get("start"), None, message.get("exact", False)
        if message.get("lift"):
            start, decision = None, decide(kernel, block, block, block.signs * message["start"])
        elif "model_coef" in message:
            decision = decide(kernel, block, message["model_rows"], message["model_coef"])
        offset = block.offset
        if "base_coef" in message:
            base = block.signs * decide(kernel, block, message["base_rows"], message["base_coef"])
            offset = base if offset is None else offset + base
        rows, loss = square(kernel, block), self._loss(block, message["represented"])
        options: dict[str, Any] = {
            "solver": self.solver,
            "max_iter": self.max_iter,
            "cache_bytes": cache_bytes,
            "seed": self.seed,
            "start": start,
            "start_decision": decision,
            "offset": offset,
            "stop": slot.stop,
        }
        if exact:
            result = solve_certified(kernel, rows, block.signs, block.weights, loss, tol=self.tol, **options)
        else:
            options |= {"n_threads": slot.n_threads, "violation": ANY_VIOLATION}
            tol = COARSER * self.tol
            result = solve(kernel.source(rows), block.signs, block.weights, loss, tol=tol, **options)
        seconds = time.perf_counter() - began
        seen: Arrays = {}
        if "probe" in message:
            seen["decision"] = decide(kernel, message["probe"], block, block.signs * result.duals)
            seen["probe_seconds"] = time.perf_counter() - began - seconds
        return {
            **seen,
            "duals": result.duals,
            "objective": result.objective,
            "gap": result.gap,
            "violation": result.violation,
            "n_iter": result.n_iter,
            "converged": result.converged,
            "n_kernel_evaluations": result.n_kernel_evaluations,
            "kernel_seconds": result.kernel_seconds / slot.n_threads,
            "ridge_shift": result.ridge_shift,
            "solver": result.solver,
            "precision": result.precision,
            "seconds": seconds,
        }

    def _loss(self, block: Block, represented: float) -> Loss:
        """That of the part's own problem: W is the weight it represents."""
        return replace(self.loss, lam=self.loss.lam * (block.weights.sum() / represented))


def square(kernel: KernelEvaluator, block: Block) -> Any:
    """The rows of a block as its kernel takes them: for a precomputed one the values among themselves."""
    return block.rows[:, block.columns] if kernel.precomputed else block.rows


def decide(
    kernel: KernelEvaluator, block: Block, model_rows: Any, coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """f at the rows of a block, shape (n_problems, m); model rows may be rows, their numbers, or a block."""
    if isinstance(model_rows, Block):
        at = np.flatnonzero(np.any(coefficients != 0, axis=0))
        if len(at) == 0:
            return np.zeros((len(coefficients), block.rows.shape[0]))
        coefficients = np.ascontiguousarray(coefficients[:, at])
        model_rows = model_rows.columns[at] if kernel.precomputed else model_rows.rows[at]
    if kernel.precomputed:
        return np.ascontiguousarray(kernel.apply(block.rows[:, model_rows], None, coefficients.T).T)
    return np.ascontiguousarray(kernel.apply(block.rows, model_rows, coefficients.T).T)
