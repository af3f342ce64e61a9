"""Machines in the form that Shapley values follow from: a sum of products over features, or of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm import _core
from sodm.problem.chunks import chunks
from sodm.shapley.quadrature import gauss_rule

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ProductSum:
    """Sums of products of one-dimensional kernels, exp(-gamma (x - z)^2) or exp(-gamma |x - z|).

    Attributes
    ----------
    support : ndarray, shape (n_support, n_features)
    coefficients : ndarray, shape (n_outputs, n_support)
    constant : ndarray, shape (n_outputs,)
    gamma : float
    absolute : bool
        Whether distances are |x - z| rather than their squares.
    n_threads : int
    """

    support: Array
    coefficients: Array
    constant: Array
    gamma: float
    absolute: bool
    n_threads: int

    def values(self, rows: Array, background: Array, joint: bool) -> tuple[Array, Array]:
        """Shapley values, shape (n_rows, n_features, n_outputs), and f of no features, shape (n_outputs,)."""
        nodes, weights = gauss_rule(rows.shape[1])
        support = np.ascontiguousarray(self.support.T)
        total, base = np.zeros((*rows.shape, len(self.coefficients))), self.constant.copy()
        games = [row[None] for row in background] if joint else [background]
        for game in games:
            removed = self._mean_factors(game)
            total += _core.shapley_values(
                rows,
                support,
                removed,
                self.coefficients,
                self.gamma,
                self.absolute,
                nodes,
                weights,
                self.n_threads,
            )
            base += self.coefficients @ np.prod(removed, axis=0) / len(games)
        return total / len(games), base

    def _mean_factors(self, background: Array) -> Array:
        """The mean over the background of k(b_j, z_ij), shape (n_features, n_support)."""
        means = np.empty(self.support.shape[::-1])
        for j in range(len(means)):
            values, counts = np.unique(background[:, j], return_counts=True)
            shares = counts / counts.sum()
            for part in chunks(len(self.support), len(values)):
                apart = self.support[part, j, None] - values
                distance = np.abs(apart) if self.absolute else apart**2
                means[j, part] = np.exp(-self.gamma * distance) @ shares
        return means


@dataclass(frozen=True)
class Linear:
    """f_c(x) = constant_c + <w_c, x>: the features add up, and each has w_cj (x_j - mean of b_j).

    Attributes
    ----------
    weights : ndarray, shape (n_outputs, n_features)
    constant : ndarray, shape (n_outputs,)
    """

    weights: Array
    constant: Array

    def values(self, rows: Array, background: Array, joint: bool) -> tuple[Array, Array]:
        """As of `ProductSum`; dependence between features changes nothing here."""
        mean = background.mean(axis=0)
        return (rows - mean)[:, :, None] * self.weights.T, self.constant + self.weights @ mean


def dense(X: Any) -> Array:
    """Rows as a dense array of doubles."""
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
