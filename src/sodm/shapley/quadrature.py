"""Nodes and weights that integrate a product of d - 1 factors, each linear in t and positive, over [0, 1]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre


def gauss_rule(n_features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The Gauss-Legendre rule for polynomials of degree n_features - 1.

    With ceil(d / 2) nodes it is exact. Far fewer are as good for many features: a product of factors
    (1-t) r + t k with r, k >= 0 is a sum of t^a (1-t)^b, a + b = d - 1, with coefficients that are not
    negative, so its relative error is at most the largest of these d functions, and with 4 sqrt(d) nodes that
    is the error of rounding (`tests/test_shapley.py` computes it).

    Examples
    --------
    >>> nodes, weights = gauss_rule(4)
    >>> len(nodes), round(float(weights @ nodes**3), 12)
    (2, 0.25)
    """
    n_nodes = min(-(-n_features // 2), int(np.ceil(4 * np.sqrt(n_features))))
    nodes, weights = roots_legendre(n_nodes)
    return (nodes + 1) / 2, weights / 2
