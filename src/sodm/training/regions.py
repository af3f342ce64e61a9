"""Which cluster a row is in, for early prediction: each row is decided by the machine of its own cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.row_set import Index, RowSet
from sodm.problem.row_types import Rows

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

    rows: Rows
    means: NDArray[np.float64]
    half_norms: NDArray[np.float64]

    @classmethod
    def of(cls, rows: RowSet, parts: Sequence[Index], kernel: KernelEvaluator) -> Regions:
        """The regions of these parts of the rows."""
        chosen = [part[:: -(-len(part) // ROWS_PER_CENTRE)] for part in parts]
        index = np.concatenate(chosen)
        means = np.zeros((len(index), len(parts)))
        region = np.repeat(np.arange(len(parts)), [len(part) for part in chosen])
        means[np.arange(len(index)), region] = 1 / np.bincount(region)[region]
        at_hand = rows[index]
        regions = cls(index if kernel.precomputed else at_hand, means, np.zeros(len(parts)))
        inner = regions._products(kernel, at_hand)
        return cls(regions.rows, means, np.einsum("ij,ij->j", means, inner) / 2)

    def nearest(self, kernel: KernelEvaluator, X: Rows) -> NDArray[np.intp]:
        """The region of each row: |phi(x) - c|^2 = k(x, x) - 2 <phi(x), c> + |c|^2 is smallest there."""
        return np.argmax(self._products(kernel, X) - self.half_norms, axis=1)

    def _products(self, kernel: KernelEvaluator, X: Rows) -> NDArray[np.float64]:
        if kernel.precomputed:
            return kernel.apply(X[:, self.rows], None, self.means)
        return kernel.apply(X, self.rows, self.means)
