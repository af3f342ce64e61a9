"""Which cluster a row is in, for early prediction: each row is decided by the machine of its own cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.kernels import Kernel
from sodm.problem.problem import Problem
from sodm.trees.merge import Index

ROWS_PER_CENTRE = 200


@dataclass(frozen=True)
class Regions:
    """Clusters, by their centres in feature space: the mean of some of their rows, evenly spaced in order.

    Attributes
    ----------
    rows : ndarray or CSR matrix
        The rows that the centres are means of; for a precomputed kernel, their numbers.
    means : ndarray, shape (len(rows), n_regions)
    half_norms : ndarray, shape (n_regions,)
    """

    rows: Any
    means: NDArray[np.float64]
    half_norms: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem, parts: Sequence[Index]) -> Regions:
        """The regions of these parts of the rows."""
        chosen = [part[:: -(-len(part) // ROWS_PER_CENTRE)] for part in parts]
        index = np.concatenate(chosen)
        means = np.zeros((len(index), len(parts)))
        region = np.repeat(np.arange(len(parts)), [len(part) for part in chosen])
        means[np.arange(len(index)), region] = 1 / np.bincount(region)[region]
        precomputed = problem.kernel.name == "precomputed"
        regions = cls(index if precomputed else problem.rows[index], means, np.zeros(len(parts)))
        inner = regions._products(problem.kernel, problem.rows[index])
        return cls(regions.rows, means, np.einsum("ij,ij->j", means, inner) / 2)

    def nearest(self, kernel: Kernel, X: Any) -> NDArray[np.intp]:
        """The region of each row: |phi(x) - c|^2 = k(x, x) - 2 <phi(x), c> + |c|^2 is smallest there."""
        return np.argmax(self._products(kernel, X) - self.half_norms, axis=1)

    def _products(self, kernel: Kernel, X: Any) -> NDArray[np.float64]:
        if kernel.name == "precomputed":
            return kernel.apply(X[:, self.rows], None, self.means)
        return kernel.apply(X, self.rows, self.means)
