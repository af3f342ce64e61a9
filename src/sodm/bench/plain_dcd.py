"""ODM by dual coordinate descent in plain NumPy, in either form of the dual: what the signed variable saves.

    two    alpha = [zeta; beta] >= 0, 2 M variables; Eqn. (3): alpha_i <- max(alpha_i - grad_i / H_ii, 0)
    one    g = zeta - beta, M variables: one exact step does the work of two

Both keep the margins u = Q g, so a step costs one row of Q, if it changes anything. Both stop at the same
relative duality gap, looked at after each sweep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss


class PlainODM:
    """The exact machine for a few thousand rows.

    Parameters
    ----------
    variables : {1, 2}
        Dual variables for each row.
    gamma, lam, upsilon, theta
        As for :class:`sodm.ODMClassifier`, rbf kernel.
    tol : float
        Relative duality gap.
    max_iter : int
        Most sweeps, each over all variables.
    random_state : int
        Of the order in each sweep.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1, 1])
    >>> PlainODM(2, gamma=1.0, lam=10.0, upsilon=0.5, theta=0.1).fit(X, y).predict(X).tolist()
    [-1, 1]
    """

    def __init__(
        self,
        variables: int,
        *,
        gamma: float,
        lam: float,
        upsilon: float,
        theta: float,
        tol: float = 1e-3,
        max_iter: int = 2000,
        random_state: int = 0,
    ) -> None:
        self.variables, self.gamma = variables, gamma
        self.loss = OdmLoss(lam, upsilon, theta)
        self.tol, self.max_iter, self.random_state = tol, max_iter, random_state

    def fit(self, X: Any, y: Any) -> PlainODM:
        """Sweep until the gap is small enough. Labels are +-1."""
        self.kernel, self.X = KernelEvaluator(Kernel("rbf", gamma=self.gamma), "double"), X
        Q = y[:, None] * self.kernel.block(X, X) * y
        n, ones, rng = len(y), np.ones(len(y)), np.random.default_rng(self.random_state)
        a, b = (float(ridge[0]) for ridge in self.loss.ridges(ones))
        zeta, beta, u = np.zeros(n), np.zeros(n), np.zeros(n)
        self.n_steps_, self.n_iter_ = 0, 0
        for _ in range(self.max_iter):
            for i in rng.permutation(self.variables * n):
                row = int(i) % n
                old = zeta[row] - beta[row]
                if self.variables == 1:
                    g = self._signed_step(Q[row, row], old, u[row], a, b)
                    zeta[row], beta[row] = max(g, 0.0), max(-g, 0.0)
                elif i < n:
                    slope = u[row] + a * zeta[row] - (1 - self.loss.theta)
                    zeta[row] = max(zeta[row] - slope / (Q[row, row] + a), 0.0)
                else:
                    slope = -u[row] + b * beta[row] + (1 + self.loss.theta)
                    beta[row] = max(beta[row] - slope / (Q[row, row] + b), 0.0)
                change = zeta[row] - beta[row] - old
                if change:
                    u += change * Q[row]
                    self.n_steps_ += 1
            self.n_iter_ += 1
            primal, gap = self._gap(zeta, beta, u, a, b)
            if gap <= self.tol * abs(primal):
                break
        self.objective_, self.dual_gap_ = primal, gap / abs(primal)
        self.coef = y * (zeta - beta)
        self.support_ = np.flatnonzero(self.coef)
        return self

    def _signed_step(self, q: float, g: float, u: float, a: float, b: float) -> float:
        r, theta = q * g - u, self.loss.theta
        if r > -(1 - theta):
            return (r + 1 - theta) / (q + a)
        return (r + 1 + theta) / (q + b) if r < -(1 + theta) else 0.0

    def _gap(self, zeta: Any, beta: Any, u: Any, a: float, b: float) -> tuple[float, float]:
        norm, theta = float((zeta - beta) @ u), self.loss.theta
        primal = norm / 2 + self.loss.primal(u, np.ones(len(u)))
        ridge = (a * zeta @ zeta + b * beta @ beta) / 2
        dual = norm / 2 + ridge - (1 - theta) * zeta.sum() + (1 + theta) * beta.sum()
        return primal, primal + float(dual)

    def predict(self, X: Any) -> Any:
        """Labels of +-1."""
        return np.where(self.kernel.apply(X, self.X, self.coef) > 0, 1, -1)
