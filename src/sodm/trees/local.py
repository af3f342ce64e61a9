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
from sodm.problem.losses import Loss, OdmLoss
from sodm.problem.pairs import at_rows_of_pairs, codes_of, sums_of_pairs, tagged, untagged
from sodm.problem.row_types import Rows
from sodm.solvers.certified import solve_certified
from sodm.solvers.exact import solve
from sodm.solvers.pairs import solve_pairs

COARSER = 10.0
ANY_VIOLATION = 1e6

# Regions of 2,000 rows of cod-rna, ijcnn1, susy-subset and covtype, gamma from a quarter to 16 times the best
# and two ridges: above this mean of kernel values (as a share of the diagonal's) Newton from f0 was 2 to 11
# times faster than sweeps from zero, below .3 up to 5 times slower. Looked at afterwards, above it: a9a .9 to
# 2.1 times as fast, skin-nonskin .3 to 1.7 (a few milliseconds there).
SMOOTH = 0.5
SEEN = 128  # rows whose kernel values are looked at for it


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
    smooth_only : bool
        Start from it only where Newton's steps from a guess are the shorter way.
    base_rows, base_coef : ndarrays
        Another machine, which this one is to correct: what is solved for is added to its f.
    final : bool
        Its support vectors are some of the machine's. To solvers that is all one; an engine that solves parts
        elsewhere sends these rows along.
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
    pairs: bool = False  # one machine for each pair of classes

    def __call__(self, block: Block, message: Arrays, slot: Slot) -> Arrays:
        began = time.perf_counter()
        kernel = KernelEvaluator(self.kernel, self.precision, slot.n_threads)
        cache_bytes = message["cache_bytes"]
        if slot.memory is not None:
            cache_bytes = min(cache_bytes, slot.memory)
        start, decision, exact = message.get("start"), None, message.get("exact", False)
        if message.get("lift"):
            coefficients = machine_coefficients(block.signs, message["start"], self.pairs)
            start, decision = None, self._decide(kernel, block, block, coefficients)
        elif "model_coef" in message and (
            not message.get("smooth_only") or self._suits_newton(kernel, block)
        ):
            decision = self._decide(kernel, block, message["model_rows"], message["model_coef"])
        if decision is not None and self.pairs:
            decision = at_rows_of_pairs(decision, codes_of(block.signs))
        offset = block.offset
        if "base_coef" in message:
            base = block.signs * decide(kernel, block, message["base_rows"], message["base_coef"])
            offset = base if offset is None else offset + base
            if start is None and self._suits_newton(kernel, block):
                decision = np.zeros_like(base)  # f0 as it is tells which rows matter
        rows, loss = square(kernel, block), self._loss(block, message["represented"])
        options: dict[str, Any] = {
            "solver": self.solver,
            "max_iter": self.max_iter,
            "cache_bytes": cache_bytes,
            "seed": self.seed,
            "start": start,
            "start_decision": decision,
            "stop": slot.stop,
        }
        problem = block.signs, block.weights, loss
        if not exact:
            options["violation"] = ANY_VIOLATION
        tol = self.tol if exact else COARSER * self.tol
        if self.pairs:
            result = solve_pairs(kernel, rows, *problem, tol=tol, certified=exact, **options)
        elif exact:
            result = solve_certified(kernel, rows, *problem, tol=tol, offset=offset, **options)
        else:
            options |= {"n_threads": slot.n_threads, "offset": offset}
            result = solve(kernel.source(rows), *problem, tol=tol, **options)
        seconds = time.perf_counter() - began
        seen: Arrays = {}
        if "probe" in message:
            coefficients = machine_coefficients(block.signs, result.duals, self.pairs)
            seen["decision"] = self._decide(kernel, message["probe"], block, coefficients)
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

    def _decide(
        self,
        kernel: KernelEvaluator,
        block: Block,
        model_rows: Rows | Block,
        coefficients: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        return decide(kernel, block, model_rows, coefficients, self.pairs)

    def _suits_newton(self, kernel: KernelEvaluator, block: Block) -> bool:
        """Whether Newton's steps from a guess are the shorter way, and not coordinate sweeps from zero.

        They are where rows see each other, so that few landmarks tell nearly all of the kernel, and where
        there is one machine only: several of them share the sweeps' kernel values, not the systems.
        """
        if len(block.signs) > 1 or self.solver == "dcd" or not isinstance(self.loss, OdmLoss):
            return False
        some = block.rows[np.unique(np.linspace(0, block.rows.shape[0] - 1, SEEN).astype(np.intp))]
        values = kernel.block(some, some) - kernel.kernel.offset  # a bias joins all rows, however far apart
        others = values.sum() - values.trace()
        return bool(others >= SMOOTH * (len(values) - 1) * values.trace())

    def _loss(self, block: Block, represented: float) -> Loss:
        """That of the part's own problem: W is the weight it represents."""
        return replace(self.loss, lam=self.loss.lam * (block.weights.sum() / represented))


@dataclass(frozen=True)
class LookAtProbe:
    """What is done to a part that was solved before, its `duals` in the message: look at a `probe`."""

    kernel: Kernel
    precision: Precision
    pairs: bool = False

    def __call__(self, block: Block, message: Arrays, slot: Slot) -> Arrays:
        began = time.perf_counter()
        kernel = KernelEvaluator(self.kernel, self.precision, slot.n_threads)
        coefficients = machine_coefficients(block.signs, message["duals"], self.pairs)
        decision = decide(kernel, message["probe"], block, coefficients, self.pairs)
        return {"decision": decision, "probe_seconds": time.perf_counter() - began}


def square(kernel: KernelEvaluator, block: Block) -> Rows:
    """The rows of a block as its kernel takes them: for a precomputed one the values among themselves."""
    return block.rows[:, block.columns] if kernel.precomputed else block.rows


def machine_coefficients(
    signs: NDArray[np.float64], duals: NDArray[np.float64], pairs: bool
) -> NDArray[np.float64]:
    """The coefficients of rows as `decide` takes them: those of pairs are tagged with the rows' classes."""
    return tagged(signs * duals, codes_of(signs)) if pairs else signs * duals


def decide(
    kernel: KernelEvaluator,
    block: Block,
    model_rows: Rows | Block,
    coefficients: NDArray[np.float64],
    pairs: bool = False,
) -> NDArray[np.float64]:
    """f at the rows of a block, shape (n_problems, m); model rows may be rows, their numbers, or a block.

    With `pairs` the coefficients are tagged (`sodm.problem.pairs.tagged`), and there is an f for each pair.
    """
    if pairs:
        return _decide_pairs(kernel, block, model_rows, coefficients)
    if isinstance(model_rows, Block):
        at = np.flatnonzero(np.any(coefficients != 0, axis=0))
        if len(at) == 0:
            return np.zeros((len(coefficients), block.rows.shape[0]))
        coefficients = np.ascontiguousarray(coefficients[:, at])
        model_rows = model_rows.columns[at] if kernel.precomputed else model_rows.rows[at]
    if kernel.precomputed:
        return np.ascontiguousarray(kernel.apply(block.rows[:, model_rows], None, coefficients.T).T)
    return np.ascontiguousarray(kernel.apply(block.rows, model_rows, coefficients.T).T)


def _decide_pairs(
    kernel: KernelEvaluator, block: Block, model_rows: Rows | Block, coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """f of all pairs: the rows of each class have coefficients in the pairs of that class only."""
    own, codes = untagged(coefficients)
    at = np.argsort(codes, kind="stable")[np.count_nonzero(codes < 0) :]  # those that have some, by class
    counts = np.bincount(codes[at], minlength=len(own) + 1)
    if isinstance(model_rows, Block):
        model_rows = model_rows.columns if kernel.precomputed else model_rows.rows
    own, model_rows = own[:, at], model_rows[at]
    if len(at) == 0:
        of_class = np.zeros((len(counts), len(own), block.rows.shape[0]))
    elif kernel.precomputed:
        of_class = kernel.apply_parts(block.rows[:, model_rows], None, own, counts)
    else:
        of_class = kernel.apply_parts(block.rows, model_rows, own, counts)
    return sums_of_pairs(of_class)
