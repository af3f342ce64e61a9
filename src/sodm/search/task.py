"""Machines to be fitted within a fold, whatever they are for: signs, weights, and which output they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """One machine, or several on the same rows.

    Attributes
    ----------
    rows : ndarray, shape (m,)
        Positions in the Gram matrix.
    signs : ndarray, shape (n_machines, m)
    weights : ndarray, shape (m,)
    outputs : ndarray, shape (n_machines,)
        Columns of the decisions that the machines are.
    offset : ndarray, shape (n_machines, m), or None
        What is added to the margins.
    share : float
        Weight of these rows over that of all rows of the fold. A row costs the same in every machine, so lam,
        which weighs a mean, goes with it.
    """

    rows: Index
    signs: Array
    weights: Array
    outputs: Index
    offset: Array | None = None
    share: float = 1.0


class Target(Protocol):
    """What is to be learnt: classes here, numbers for a regression.

    Attributes
    ----------
    n_outputs : int
    behind : float
        So many standard errors below the best score a gamma is taken not to catch up at a larger lam;
        infinite where large lams must be tried before that can be told.
    """

    n_outputs: int
    behind: float

    def tasks(self, rows: Index, train: Index) -> list[Task]:
        """The machines of a fold.

        Parameters
        ----------
        rows : ndarray
            Row numbers in X of the positions in the Gram matrix.
        train : ndarray
            Positions to train on.
        """

    def score(self, decisions: NDArray[Any], rows: Index) -> float:
        """How good these raw outputs, shape (n, n_outputs), are for the rows of these numbers."""

    def costs(self, decisions: NDArray[Any], rows: Index) -> Array | None:
        """How wrong each of these rows is decided, in a unit of its own, so that the mean is the less the
        higher the score is; None where the score is nothing of single rows."""
