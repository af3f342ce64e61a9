"""The two theorems of the paper, as numbers.

With Q_ij = y_i y_j k(x_i, x_j), M rows and c = (1 - theta)^2 / (lam upsilon), the dual of ODM (Eqn. 1) in one
signed variable g = zeta - beta is

    d(g) = 1/2 g'Qg + M c / 2 (upsilon |zeta|^2 + |beta|^2) - (1 - theta) 1'zeta + (1 + theta) 1'beta,

and min d = -min p. The local problem of a partition with m rows is the same with its own rows and m for M.
`exact` is the solution g of the whole problem; `local` holds the solutions of the local problems, each at
its own rows, unscaled, as the paper concatenates them.

Both theorems are about partitions of equal size m. Where sizes differ, the smallest is taken for m; the
proofs go through unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm.problem.losses import OdmLoss

Array = NDArray[np.float64]


def dual_objective(K: Array, y: Array, g: Array, loss: OdmLoss) -> float:
    """d(g) of the problem with Gram matrix K and labels y of +-1.

    Examples
    --------
    >>> K, y, g = np.eye(2), np.array([1.0, -1.0]), np.array([0.5, 0.0])
    >>> dual_objective(K, y, g, OdmLoss(lam=2.0, upsilon=1.0, theta=0.0))
    -0.25
    """
    return float((y * g) @ K @ (y * g) / 2 + loss.dual(g, np.ones(len(y))))


@dataclass(frozen=True)
class Theorem1:
    """Both inequalities of Theorem 1; alpha = [zeta; beta], and tilde marks the local solutions.

    Attributes
    ----------
    objective_gap : float
        d(local) - d(exact), from 0 to `objective_bound`.
    objective_bound : float
        U^2 (Q + M (M - m) c).
    distance : float
        |alpha_tilde - alpha|^2, at most `distance_bound`.
    distance_bound : float
        U^2 (Q + M (M - m) c) / (M c upsilon), as printed.
    proved_distance_bound : float
        U^2 (2 Q + M (M - m) c) / (M c upsilon). Strong convexity gives M c upsilon / 2 |..|^2 <= gap; the
        printed proof loses this factor of two, part of which the objective bound has to spare.
    largest_dual : float
        U, the largest |g| of both solutions.
    cut : float
        Q, the sum of |Q_ij| over all pairs in different partitions.
    """

    objective_gap: float
    objective_bound: float
    distance: float
    distance_bound: float
    proved_distance_bound: float
    largest_dual: float
    cut: float


def theorem1(
    K: Array, y: Array, assignment: NDArray[np.intp], exact: Array, local: Array, loss: OdmLoss
) -> Theorem1:
    """How far the concatenated local solutions are from the exact one, and how far they may be.

    Parameters
    ----------
    K : array of shape (M, M)
        The Gram matrix.
    y : array of shape (M,)
        Labels of +-1.
    assignment : int array of shape (M,)
        The partition of each row.
    exact, local : arrays of shape (M,)
        The solution of the whole problem, and the local solutions at their rows.
    loss : OdmLoss

    Examples
    --------
    One row a partition: each local problem has the solution (1 - theta) / (k(x, x) + c upsilon).

    >>> K, y, loss = np.eye(2), np.array([1.0, -1.0]), OdmLoss(lam=2.0, upsilon=1.0, theta=0.0)
    >>> found = theorem1(K, y, np.array([0, 1]), np.full(2, 1 / 2), np.full(2, 2 / 3), loss)
    >>> round(found.objective_gap, 6), round(found.objective_bound, 6)
    (0.055556, 0.444444)
    """
    M, m = len(y), int(np.bincount(assignment).min(where=np.bincount(assignment) > 0, initial=len(y)))
    c = (1 - loss.theta) ** 2 / (loss.lam * loss.upsilon)
    U = _largest(exact, local)
    Q = float(np.abs(K[assignment[:, None] != assignment]).sum())
    ridge = M * (M - m) * c
    # zeta and beta are the two parts of g, and one of them is always zero.
    change = np.maximum([local, -local], 0.0) - np.maximum([exact, -exact], 0.0)
    return Theorem1(
        objective_gap=dual_objective(K, y, local, loss) - dual_objective(K, y, exact, loss),
        objective_bound=U**2 * (Q + ridge),
        distance=float((change**2).sum()),
        distance_bound=U**2 * (Q + ridge) / (M * c * loss.upsilon),
        proved_distance_bound=U**2 * (2 * Q + ridge) / (M * c * loss.upsilon),
        largest_dual=U,
        cut=Q,
    )


@dataclass(frozen=True)
class Theorem2:
    """The inequality of Theorem 2.

    Attributes
    ----------
    gaps : array of shape (K,)
        d_k(local) - d(exact) for each partition k: the exact primal objective minus the local one, so it has
        either sign. None is above `bound`.
    bound : float
        U^2 / 2 (M^2 r^2 + r^2 cos(tau) (2 C - M^2)) + U^2 M^2 c + 2 U M.
    simple_bound : float
        lam / 2, which no gap exceeds whatever the partitions: d_k <= d_k(0) = 0 and -d = p <= p(0) = lam / 2.
    tau : float
        The smallest angle between two rows of different strata.
    pairs : int
        C, the number of ordered pairs of rows in different strata.
    """

    gaps: Array
    bound: float
    simple_bound: float
    tau: float
    pairs: int


def theorem2(
    K: Array,
    y: Array,
    assignment: NDArray[np.intp],
    strata: NDArray[np.intp],
    exact: Array,
    local: Array,
    loss: OdmLoss,
) -> Theorem2:
    """How far each partition's optimal objective is from the whole problem's, and how far it may be.

    Parameters
    ----------
    K : array of shape (M, M)
        The Gram matrix; k(x, x) must be the same for all rows, as it is for a shift-invariant kernel.
    y, assignment, exact, local : arrays of shape (M,)
        As for `theorem1`.
    loss : OdmLoss
    strata : int array of shape (M,)
        The stratum of each row.

    Examples
    --------
    >>> K, y, loss = np.eye(2), np.array([1.0, -1.0]), OdmLoss(lam=2.0, upsilon=1.0, theta=0.0)
    >>> parts = strata = np.array([0, 1])
    >>> found = theorem2(K, y, parts, strata, np.full(2, 1 / 2), np.full(2, 2 / 3), loss)
    >>> np.round(found.gaps, 6).tolist(), round(found.bound, 6), found.simple_bound
    ([0.166667, 0.166667], 4.444444, 1.0)
    """
    M = len(y)
    square = float(np.diagonal(K).max())
    if np.ptp(np.diagonal(K)) > 1e-6 * square:
        raise ValueError("Theorem 2 needs a kernel with the same k(x, x) for all rows, such as rbf.")
    c = (1 - loss.theta) ** 2 / (loss.lam * loss.upsilon)
    U = _largest(exact, local)
    different = strata[:, None] != strata
    pairs = int(different.sum())
    cosine = min(float(K[different].max()) / square, 1.0) if pairs else -1.0
    whole = dual_objective(K, y, exact, loss)
    parts = [np.flatnonzero(assignment == k) for k in np.unique(assignment)]
    gaps = [dual_objective(K[np.ix_(p, p)], y[p], local[p], loss) - whole for p in parts]
    spread = U**2 / 2 * (M**2 * square + square * cosine * (2 * pairs - M**2))
    return Theorem2(
        gaps=np.array(gaps),
        bound=spread + U**2 * M**2 * c + 2 * U * M,
        simple_bound=loss.lam / 2,
        tau=float(np.arccos(cosine)),
        pairs=pairs,
    )


def _largest(exact: Array, local: Array) -> float:
    """U, the largest dual variable of both solutions."""
    return float(max(np.abs(exact).max(), np.abs(local).max()))
