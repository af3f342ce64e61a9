"""How rows, labels and weights become rows of the linear problem: here, in chunks and on executors alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.linear.memory import MemoryRows
from sodm.problem.linear.sums import Array
from sodm.problem.losses import Loss
from sodm.problem.row_types import Rows


@dataclass(frozen=True)
class RowMaker:
    """Plain values, so that it can be sent to where the rows are.

    Parameters
    ----------
    classes : array of shape (n_classes,)
        The labels, sorted.
    factors : array of shape (n_classes,) or None
        What the weights of a class's rows are multiplied with; None is 1 for every class.
    loss : OdmLoss or HingeLoss
    bias : float
        Value of the constant feature that carries the intercept; 0 for none.
    n_threads : int
        No result depends on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sodm.problem.losses import OdmLoss
    >>> maker = RowMaker(np.array(["a", "b"]), np.array([1.0, 3.0]), OdmLoss(8.0, 0.5, 0.5), 1.0, 1)
    >>> maker.rows(np.zeros((2, 4)), np.array([0, 1], dtype=np.int32), None).weights.tolist()
    [1.0, 3.0]
    """

    classes: NDArray[Any]
    factors: Array | None
    loss: Loss
    bias: float
    n_threads: int

    @property
    def positive(self) -> NDArray[np.int32]:
        """The positive class of each problem: the second of two, or each in its turn against the rest."""
        several = len(self.classes) > 2
        return np.arange(len(self.classes), dtype=np.int32) if several else np.array([1], dtype=np.int32)

    def width(self, n_features: int) -> int:
        """Weights of one problem."""
        return n_features + int(self.bias != 0)

    def rows(self, X: Rows, codes: NDArray[np.int32], weights: Array | None) -> MemoryRows:
        """Rows of the problem. `codes` are the places of the labels in `classes`; rows of other labels,
        whose code is -1, weigh nothing."""
        if self.factors is not None:
            weights = np.where(codes >= 0, self.factors[codes], 0.0) * (1.0 if weights is None else weights)
        return MemoryRows(X, codes, weights, self.positive, self.loss, self.bias, self.n_threads)

    def split(self, w: Array) -> tuple[Array, Array]:
        """The w of the problem as coefficients and intercepts."""
        if not self.bias:
            return w.copy(), np.zeros(len(w))
        return w[:, :-1].copy(), w[:, -1] * self.bias

    def join(self, coef: Array, intercept: Array) -> Array:
        """Coefficients and intercepts as the w of the problem."""
        return np.hstack([coef, intercept[:, None] / self.bias]) if self.bias else coef.copy()
