"""The linear machine in plain NumPy: objective, gradient, and Newton with a line search by halving."""

from __future__ import annotations

from typing import Any

import numpy as np

from sodm.problem.losses import OdmLoss


def rows_with_bias(X: Any, bias: float) -> np.ndarray:
    """X in double, dense, with the constant feature."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    return np.hstack([X, np.full((len(X), 1), bias)]) if bias else X


def sums(
    X: np.ndarray, y: np.ndarray, s: np.ndarray, w: np.ndarray, low: float, high: float, upsilon: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Loss, half gradient and half Hessian, as in core/linear/linear_pass.hpp."""
    m = y * (X @ w)
    k = np.where(m < low, 1.0, np.where(m > high, upsilon, 0.0))
    e = np.where(m < low, m - low, np.where(m > high, m - high, 0.0))
    return float(np.sum(s * k * e**2)), X.T @ (s * k * e * y), (X.T * (s * k)) @ X


def objective(X: np.ndarray, y: np.ndarray, s: np.ndarray, w: np.ndarray, loss: OdmLoss) -> float:
    return float(w @ w / 2 + loss.primal(y * (X @ w), s))


def solve(X: np.ndarray, y: np.ndarray, s: np.ndarray, loss: OdmLoss) -> np.ndarray:
    """The minimiser, to rounding."""
    scale = loss.lam / (s.sum() * (1 - loss.theta) ** 2)
    w = np.zeros(X.shape[1])
    for _ in range(200):
        _, g, H = sums(X, y, s, w, 1 - loss.theta, 1 + loss.theta, loss.upsilon)
        gradient = w + scale * g
        if np.linalg.norm(gradient) <= 1e-13 * scale * np.linalg.norm(X.T @ (s * y)):
            break
        step = -np.linalg.solve(np.eye(len(w)) + scale * H, gradient)
        length = 1.0
        while objective(X, y, s, w + length * step, loss) > objective(X, y, s, w, loss) and length > 1e-12:
            length /= 2
        if length <= 1e-12:
            break
        w = w + length * step
    return w
