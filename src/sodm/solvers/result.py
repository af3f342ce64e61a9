"""What every kernel solver returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sodm import _core
from sodm.problem.evaluator import Precision

__all__ = ["SolveResult"]


@dataclass(frozen=True)
class SolveResult:
    """Solution of one or several machines on the same rows.

    Arrays have one entry (or row) per machine.
    """

    duals: np.ndarray
    """Signed duals g = zeta - beta, shape (n_problems, n)."""
    decision: np.ndarray
    """f at the training rows, shape (n_problems, n)."""
    objective: np.ndarray
    """Primal objective p(w)."""
    gap: np.ndarray
    """Relative duality gap (p + d) / |p|."""
    violation: np.ndarray
    """Largest violation of the KKT conditions, in units of the margin."""
    n_iter: np.ndarray
    """Newton steps, or sweeps of coordinate descent."""
    converged: np.ndarray
    """Whether gap and violation are within tolerance."""
    solver: str
    """The method that finished: "newton" or "dcd"."""
    n_kernel_evaluations: int
    """Kernel values computed, each counted every time it was."""
    kernel_seconds: float
    """Time that took, of all threads together; part of the fused products' own time is in it."""
    ridge_shift: float
    """When positive, k + ridge_shift I was solved because k is not positive semidefinite."""
    precision: Precision | None = None
    """Of the kernel values that the solution needed, if it was certified."""

    @classmethod
    def of_core(
        cls,
        found: _core.Result | _core.PairResult,
        shape: tuple[int, ...],
        precision: Precision | None = None,
    ) -> SolveResult:
        """What the core has found, duals and decision in this shape, that of the signs."""
        return cls(
            duals=found.duals.reshape(shape),
            decision=found.decision.reshape(shape),
            objective=found.objective,
            gap=found.gap,
            violation=found.violation,
            n_iter=found.iterations,
            converged=found.converged.astype(bool),
            solver=found.method,
            n_kernel_evaluations=int(found.evaluations),
            kernel_seconds=float(found.kernel_seconds),
            ridge_shift=float(np.max(found.shift, initial=0.0)),
            precision=precision,
        )
