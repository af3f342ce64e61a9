"""A training problem as trainers take it: rows, signs, weights, kernel and loss."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.array_rows import as_row_set
from sodm.problem.kernels import Kernel
from sodm.problem.losses import Loss
from sodm.problem.pairs import codes_of
from sodm.problem.row_set import RowSet


@dataclass(frozen=True)
class Problem:
    """One binary problem, or several on the same rows.

    Attributes
    ----------
    rows : RowSet, shape (n, n_features)
        May be given as an array or CSR matrix. No two rows equal in features and label; the kernel matrix
        itself when the kernel is "precomputed".
    signs : ndarray of float64, shape (n_problems, n)
        The labels, +1 or -1: one row per binary problem; with `pairs`, as `sodm.problem.pairs` lays them out.
    weights : ndarray of float64, shape (n,)
        Positive.
    kernel : Kernel
    loss : OdmLoss or HingeLoss
    start : ndarray of float64, shape of signs, or None
        Duals to start from.
    classes : ndarray
        The labels, sorted: of one problem the second is +1, of several the c-th is that of problem c.
    offset : ndarray of float64, shape (n_problems, n), or None
        What is added to the margins, signs * f + offset.
    pairs : bool
        One against one: a binary problem for each pair of classes, on the rows of these two.
    """

    rows: RowSet
    signs: NDArray[np.float64]
    weights: NDArray[np.float64]
    kernel: Kernel
    loss: Loss
    start: NDArray[np.float64] | None = None
    classes: NDArray[Any] = field(default_factory=lambda: np.array([0, 1]))
    offset: NDArray[np.float64] | None = None
    pairs: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", as_row_set(self.rows))

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The number of the class of each row."""
        return class_codes(self.signs, self.pairs)

    def against_the_rest(self, lam: float) -> Problem:
        """The same classes, each against the rest instead of in pairs."""
        signs = np.where(self.codes == np.arange(len(self.classes))[:, None], 1.0, -1.0)
        return replace(self, signs=signs, loss=replace(self.loss, lam=lam), start=None, pairs=False)


def class_codes(signs: NDArray[np.float64], pairs: bool) -> NDArray[np.int64]:
    """The number of the class of each row, by its signs."""
    if pairs:
        return codes_of(signs)
    codes = signs[0] > 0 if len(signs) == 1 else signs.argmax(axis=0)
    return codes.astype(np.int64)
