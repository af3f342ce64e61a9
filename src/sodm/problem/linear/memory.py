"""Rows of a linear problem in memory, dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.linear.sums import Array, Curvature, Sums
from sodm.problem.losses import Loss, OdmLoss
from sodm.problem.ordered_sums import dot
from sodm.problem.row_types import Rows, is_sparse
from sodm.problem.rows import csr_parts

# Up to so many rows a coarse problem is not worth having.
SMALL = 20_000


class MemoryRows:
    """Rows of an array or CSR matrix, with one label each: a `RowSteps`.

    Parameters
    ----------
    X : ndarray or canonical CSR matrix, float32 or float64
        Used as it is: any strides, never copied.
    labels : int32 array of shape (n,)
        Class numbers.
    weights : float64 array of shape (n,) or None
        None is 1 for every row.
    positive : int32 array of shape (n_problems,)
        The positive class of each problem.
    loss : OdmLoss or HingeLoss
        Sums are there for the ODM loss only.
    bias : float
        Value of the constant feature that carries the intercept; 0 for none.
    n_threads : int
        No result depends on it.
    like : MemoryRows or None
        Rows that resemble these: a search begins with the systems that their last one has factored.
    """

    def __init__(
        self,
        X: Rows,
        labels: NDArray[np.int32],
        weights: Array | None,
        positive: NDArray[np.int32],
        loss: Loss,
        bias: float,
        n_threads: int,
        like: MemoryRows | None = None,
    ) -> None:
        self.X, self.weights, self.positive = X, weights, positive
        self.labels: NDArray[np.int32] = labels
        self.loss, self.bias, self.n_threads = loss, bias, n_threads
        self.core = core_rows(X, labels, weights, bias, n_threads)
        self.n, self.width = self.core.n, self.core.width
        self.weight = float(self.n) if weights is None else float(weights.sum())
        self._like = like
        self._searched: _core.LinearSearch | None = None  # the last search

    # ------------------------------------------------------------------------------ sums over all rows

    def start(self, curvature: Curvature) -> None:
        self.core.start_pass(len(self.positive), curvature)

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        positive = self.positive[list(problems)]
        return Sums(
            *self.core.evaluate(list(problems), positive, np.ascontiguousarray(w), self._smooth_loss(1.0))
        )

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return self.core.times(list(problems), np.ascontiguousarray(v), self._smooth_loss(1.0))

    def _smooth_loss(self, scale: float) -> _core.OdmLoss:
        """What solvers that need gradients, and are given no other loss, take sums of."""
        assert isinstance(self.loss, OdmLoss)
        return self.loss.core(scale)

    def gradient_at_zero(self) -> Array:
        for rows in (self.coarse(), self.every(1)):
            if rows is None:
                continue
            norms = np.linalg.norm(rows.half_gradient_at_zero(), axis=1) * (self.weight / rows.weight)
            if np.all(norms > 0):
                break
        return norms

    def half_gradient_at_zero(self) -> Array:
        """Sum of -(1-theta) s_i y_i x_i. Ends the evaluations begun with `start`."""
        self.start("none")
        return self.evaluate(range(len(self.positive)), np.zeros((len(self.positive), self.width))).gradient

    def coarse(self) -> MemoryRows | None:
        if self.n < 2 * SMALL:
            return None
        rows = self.every(min(64, self.n // SMALL))
        return rows if rows.weight > 0 else None

    def every(self, step: int) -> MemoryRows:
        """Every so many-th of these rows, evaluated on its own; every one of them for step = 1."""
        weights = None if self.weights is None else np.ascontiguousarray(self.weights[::step])
        labels = np.ascontiguousarray(self.labels[::step])
        X = self.X
        if step > 1:  # a copy: rows far apart in memory would be slow to read again and again
            X = X[::step] if is_sparse(X) else np.ascontiguousarray(X[::step])
        return MemoryRows(X, labels, weights, self.positive, self.loss, self.bias, self.n_threads)

    def resembling(self, other: MemoryRows) -> MemoryRows:
        """The same rows, `like` others."""
        of_problem = self.positive, self.loss, self.bias, self.n_threads
        return MemoryRows(self.X, self.labels, self.weights, *of_problem, like=other)

    def gram_pays(self) -> bool:
        # In units of a multiply-add along vectors, per row: the matrix once, against some sixty products
        # with it.
        if self.width <= 64:
            return True
        if len(self.positive) * self.width**2 > 2**26:
            return False
        if is_sparse(self.X):
            per_row = self.X.nnz / max(1, self.n)
            return self.width <= 1024 and min(per_row**2, self.width**2 / 8) < 240 * per_row
        return self.width < 960

    def search(
        self, scale: float, w: Array, offset: Array | None = None, basis: Array | None = None
    ) -> _core.LinearSearch:
        """Newton on the rows in play, begun at w (see `sodm.solvers.linear_active`)."""
        loss, like = self._smooth_loss(scale), None if self._like is None else self._like._searched
        w = np.ascontiguousarray(w)
        self._searched = self.core.start_search(self.positive.tolist(), loss, w, offset, like, basis)
        return self._searched

    def factor(self, scale: float, w: Array) -> None:
        """Factor the system at w, for searches of rows that are `like` these."""
        search = self.search(scale, w)
        search.look(list(range(len(w))))
        search.factor()

    def has_long_rows(self) -> bool:
        """Whether the rows outside the dead zone, gone over again and again, cost less than one pass over all
        of them that sums the matrix on its way; measured on two cores, both ways, on eight shapes."""
        if is_sparse(self.X):
            return not self.gram_pays()
        return self.width > 64 and (self.width >= 400 or self.n <= 100 * self.width)

    def gram_in_single(self) -> bool:
        return bool(self.X.dtype == np.float32)

    # ------------------------------------------------------------------------------------ row by row

    def steppable(self) -> MemoryRows:
        if is_sparse(self.X) or self.X.strides[1] == self.X.itemsize or self.X.shape[1] == 1:
            return self
        X = np.ascontiguousarray(self.X)
        return MemoryRows(X, self.labels, self.weights, self.positive, self.loss, self.bias, self.n_threads)

    def long_rows(self) -> LongRows | None:
        return LongRows(self.steppable()) if self.has_long_rows() else None

    def in_memory(self) -> MemoryRows:
        return self.steppable()

    def largest_square(self) -> float:
        norms = self.core.squared_norms()
        return float((norms if self.weights is None else norms * self.weights).max())

    def mean_square(self) -> float:
        """The weighted mean of |x_i|^2, of a part of the rows where they are many."""
        step = 1 if self.n < 2 * SMALL else min(64, self.n // SMALL)
        norms = core_rows(self.X[::step], None, None, self.bias, self.n_threads).squared_norms()
        if self.weights is None:
            return float(norms.mean())
        weights = self.weights[::step]
        return dot(norms, weights) / float(weights.sum()) if np.any(weights > 0) else 0.0

    def place_nodes(self, nodes: Sequence[NDArray[np.int64]]) -> None:
        """In memory each row is as near as the other."""

    def svrg_steps(
        self, scale: float, step: float, run: NDArray[np.int64], anchor: Array, mean: Array, w: Array
    ) -> None:
        self.core.svrg_steps(self.positive, self._smooth_loss(scale), step, run, anchor, mean, w)

    def dual_sweep(
        self, scale: float, norms: Array, order: NDArray[np.int64], duals: Array, w: Array
    ) -> None:
        """One sweep of dual coordinate descent, which changes duals and w (see `sodm.solvers.linear_dcd`)."""
        self.core.dual_sweep(self.positive, self.loss.core(scale), norms, order, duals, w)

    def weights_of_duals(self, duals: Array) -> Array:
        """w = sum_i y_i g_i x_i of each problem."""
        return self.core.weights_of_duals(self.positive, np.ascontiguousarray(duals))

    def signs(self) -> Array:
        """y_i of each problem and row: +1 for the positive class, -1 elsewhere."""
        return np.where(self.labels == self.positive[:, None], 1.0, -1.0)

    def all_weights(self) -> Array:
        """The weight of each row."""
        return np.ones(self.n) if self.weights is None else self.weights


@dataclass(frozen=True)
class LongRows:
    """Rows that Newton goes over by those in play (see `sodm.solvers.linear_active`).

    Attributes
    ----------
    rows : MemoryRows
        Steppable.
    offset : array of shape (n_problems, n) or None
        What is added to the margins.
    unit : array of shape (n_problems,) or None
        What w and the margins are measured in; None is 1.
    basis : array of shape (width, width) or None
        L, a lower triangle, where `rows` are k_i and those of the problem L^-1 k_i.
    """

    rows: MemoryRows
    offset: Array | None = None
    unit: Array | None = None
    basis: Array | None = None


def core_rows(
    X: Rows, labels: NDArray[np.int32] | None, weights: Array | None, bias: float, n_threads: int
) -> _core.LinearRows:
    """Rows as the compiled core holds them."""
    if is_sparse(X):
        return _core.LinearRows.csr(*csr_parts(X), X.shape[1], labels, weights, bias, n_threads)
    return _core.LinearRows.dense(X, labels, weights, bias, n_threads)
