"""What is tried on: rows, kernel and target, the same for every setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sodm.problem.kernels import Kernel
from sodm.problem.losses import Loss
from sodm.problem.row_types import Rows
from sodm.search.task import Target

TOL = 1e-2  # a smaller gap hardly changes which setting is best


@dataclass(frozen=True)
class Field:
    """All that trials need and that no setting changes.

    Attributes
    ----------
    X : ndarray or CSR matrix
    kernel : Kernel
        Its gamma is the setting's.
    target : Target
    loss_of : callable
        (theta, lam) -> Loss
    seed, n_threads : int
    deadline : float or None
        By `time.monotonic()`.
    tol : float
        Relative duality gap of the machines.
    """

    X: Rows
    kernel: Kernel
    target: Target
    loss_of: Callable[[float, float], Loss]
    seed: int
    n_threads: int
    deadline: float | None = None
    tol: float = TOL
