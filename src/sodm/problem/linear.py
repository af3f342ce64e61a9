"""The linear problem: rows in memory, in chunks, or remembered as a quadratic, and the objective over them.

For problem p with positive class c, over rows x_i with weights s_i, y_i = +1 where the class is c and -1
elsewhere, m_i = y_i <w, x_i> and W = sum s_i, the primal objective is

    p(w) = 1/2 |w|^2 + lam / (2 W (1-theta)^2) * sum_i s_i [ (1-theta-m_i)_+^2 + upsilon (m_i-1-theta)_+^2 ].

A *source* of rows gives the sum, half its gradient and half its Hessian; sums of sources are sums of their
sums. `LinearProblem` adds the scale and the norm.

The certificate is free. The duals that the optimality conditions assign to w (`OdmLoss.lift`) make the
Fenchel-Young inequality an equality in every row, and what is left of the duality gap is 1/2 |w - w_g|^2
with w_g = sum_i y_i g_i x_i = w - grad p(w): the gap is half the squared gradient norm, to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm import _core
from sodm.problem.losses import OdmLoss
from sodm.problem.rows import csr_parts

Array = NDArray[np.float64]
Curvature = Literal["none", "gram", "gram_in_double", "diagonal"]

# Up to so many rows a coarse problem is not worth having.
SMALL = 20_000


@dataclass
class Sums:
    """What a source adds up for some problems, see the module's first lines."""

    loss: Array  # (problems,)
    gradient: Array  # (problems, width)
    curvature: Array | None  # (problems, width, width), (problems, width), or None

    def __add__(self, other: Sums) -> Sums:
        both = self.curvature is not None and other.curvature is not None
        curvature = self.curvature + other.curvature if both else None  # type: ignore[operator]
        return Sums(self.loss + other.loss, self.gradient + other.gradient, curvature)


class Source(Protocol):
    """Where the sums come from. `problems` are numbers 0..n_problems-1, `w` and `v` have one row for each."""

    width: int
    weight: float  # W; of a chunked source known after the first evaluation

    def start(self, curvature: Curvature) -> None:
        """Say which curvature the evaluations that follow are to give."""

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        """The sums at w."""

    def times(self, problems: Sequence[int], v: Array) -> Array:
        """Curvature times v, at the w of the last evaluation of each problem."""

    def gradient_at_zero(self) -> Array:
        """Norms of the half gradients at w = 0, one per problem; may be those of a sample, scaled up."""

    def coarse(self) -> Source | None:
        """A small source much like this one, to find a start on; None if this one is small."""

    def gram_pays(self) -> bool:
        """Whether the matrix costs less than the many products that do without it."""


class MemoryRows:
    """Rows of an array or CSR matrix, with one label each.

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
    loss : OdmLoss
    bias : float
        Value of the constant feature that carries the intercept; 0 for none.
    n_threads : int
        No result depends on it.
    """

    def __init__(
        self,
        X: Any,
        labels: NDArray[np.int32],
        weights: Array | None,
        positive: NDArray[np.int32],
        loss: OdmLoss,
        bias: float,
        n_threads: int,
    ) -> None:
        self.X, self.labels, self.weights, self.positive = X, labels, weights, positive
        self.loss, self.bias, self.n_threads = loss, bias, n_threads
        self.margin_loss = _core.MarginLoss(1 - loss.theta, 1 + loss.theta, loss.upsilon)
        self.core = core_rows(X, labels, weights, bias, n_threads)
        self.n, self.width = self.core.n, self.core.width
        self.weight = float(self.n) if weights is None else float(weights.sum())

    def start(self, curvature: Curvature) -> None:
        self.core.start_pass(len(self.positive), curvature)

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        positive = self.positive[list(problems)]
        return Sums(*self.core.evaluate(list(problems), positive, np.ascontiguousarray(w), self.margin_loss))

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return self.core.times(list(problems), np.ascontiguousarray(v), self.margin_loss)

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
            X = X[::step] if sparse.issparse(X) else np.ascontiguousarray(X[::step])
        return MemoryRows(X, labels, weights, self.positive, self.loss, self.bias, self.n_threads)

    def gram_pays(self) -> bool:
        # In units of a multiply-add along vectors, per row: the matrix once, against some sixty products
        # with it.
        if self.width <= 64:
            return True
        if len(self.positive) * self.width**2 > 2**26:
            return False
        if sparse.issparse(self.X):
            per_row = self.X.nnz / max(1, self.n)
            return self.width <= 1024 and min(per_row**2, self.width**2 / 8) < 240 * per_row
        return self.width < 960

    def largest_square(self) -> float:
        """The largest weight times squared norm of a row."""
        norms = self.core.squared_norms()
        return float((norms if self.weights is None else norms * self.weights).max())

    def place_nodes(self, nodes: Sequence[NDArray[np.int64]]) -> None:
        """Rows by the nodes that step on them; in memory each is as near as the other."""

    def svrg_steps(
        self, scale: float, step: float, run: NDArray[np.int64], anchor: Array, mean: Array, w: Array
    ) -> None:
        """Steps on these rows one after the other, which change w (see `sodm.solvers.variance_reduced`)."""
        self.core.svrg_steps(self.positive, self.margin_loss, scale, step, run, anchor, mean, w)

    def rows_in_c_order(self) -> MemoryRows:
        """These rows, laid out for methods that take them one at a time."""
        if sparse.issparse(self.X) or self.X.strides[1] == self.X.itemsize or self.X.shape[1] == 1:
            return self
        X = np.ascontiguousarray(self.X)
        return MemoryRows(X, self.labels, self.weights, self.positive, self.loss, self.bias, self.n_threads)


def core_rows(
    X: Any, labels: NDArray[np.int32] | None, weights: Array | None, bias: float, n_threads: int
) -> _core.LinearRows:
    """Rows as the compiled core holds them."""
    if sparse.issparse(X):
        return _core.LinearRows.csr(*csr_parts(X), X.shape[1], labels, weights, bias, n_threads)
    return _core.LinearRows.dense(X, labels, weights, bias, n_threads)


class ChunkedRows:
    """Rows that do not fit into memory: a function that iterates over them anew, a chunk at a time."""

    def __init__(self, chunks: Callable[[], Iterable[MemoryRows]]) -> None:
        self._chunks = chunks
        first = next(iter(chunks()), None)
        if first is None:
            raise ValueError("the chunk factory gave no chunk at all.")
        self._first = first
        self.width = first.width
        self.positive = first.positive
        self.weight = float("nan")
        self.passes = 0
        self._curvature: Curvature = "none"
        self._at_zero: Array | None = None
        self._w: Array = np.zeros((len(self.positive), self.width))

    def start(self, curvature: Curvature) -> None:
        self._curvature = curvature

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        problems = list(problems)
        self._w[problems] = w
        total: Sums | None = None
        weight, at_zero = 0.0, np.zeros_like(self._w)
        for rows in self._pass():
            if self._at_zero is None:  # the first pass also finds what gradients are measured against
                at_zero += rows.half_gradient_at_zero()
            rows.start(self._curvature)
            sums = rows.evaluate(problems, w)
            total = sums if total is None else total + sums
            weight += rows.weight
        assert total is not None
        self.weight = weight
        if self._at_zero is None:
            self._at_zero = np.linalg.norm(at_zero, axis=1)
        return total

    def times(self, problems: Sequence[int], v: Array) -> Array:
        product = np.zeros_like(v)
        for rows in self._pass():
            rows.start("none")
            rows.evaluate(problems, self._w[list(problems)])
            product += rows.times(problems, v)
        return product

    def _pass(self) -> Iterator[MemoryRows]:
        self.passes += 1
        rows = 0
        for chunk in self._chunks():
            rows += chunk.n
            yield chunk
        if rows == 0:
            raise ValueError("the chunk factory gave no rows on a later pass: each call must start anew.")

    def gradient_at_zero(self) -> Array:
        if self._at_zero is None:
            raise RuntimeError("a chunked source must be evaluated before its gradient at zero is known")
        return self._at_zero

    def coarse(self) -> MemoryRows | None:
        return self._first

    def gram_pays(self) -> bool:
        # A product costs a whole pass over the disk here, so the matrix is taken as long as it fits at all.
        return len(self.positive) * self.width**2 <= 2**26


@dataclass
class QuadraticRows:
    """Rows seen in the past, remembered as the quadratic that their sums were where they were last seen.

    With the sides of the dead zone held, the sum of losses *is* a quadratic: w'Cw - 2 b'w + c. Where there
    are too many features for the matrix C, its diagonal stands in.
    """

    matrix: Array  # (problems, width, width) or (problems, width)
    linear: Array  # (problems, width)
    constant: Array  # (problems,)
    weight: float
    width: int = field(init=False)

    def __post_init__(self) -> None:
        self.width = self.linear.shape[1]

    @property
    def is_diagonal(self) -> bool:
        return self.matrix.ndim == 2

    @classmethod
    def of(cls, sums: Sums, w: Array, weight: float) -> QuadraticRows:
        """The quadratic that touches the sums at w."""
        assert sums.curvature is not None
        product = _product(sums.curvature, w)
        constant = sums.loss - np.sum((2 * sums.gradient - product) * w, axis=1)
        return cls(sums.curvature, product - sums.gradient, constant, weight)

    def add(self, other: QuadraticRows) -> QuadraticRows:
        return QuadraticRows(
            self.matrix + other.matrix,
            self.linear + other.linear,
            self.constant + other.constant,
            self.weight + other.weight,
        )

    def evaluate(self, problems: Sequence[int], w: Array, curvature: bool) -> Sums:
        at = list(problems)
        product = _product(self.matrix[at], w)
        loss = np.sum(w * (product - 2 * self.linear[at]), axis=1) + self.constant[at]
        return Sums(loss, product - self.linear[at], self.matrix[at] if curvature else None)

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return _product(self.matrix[list(problems)], v)


def _product(matrix: Array, v: Array) -> Array:
    """One matrix, or diagonal, times one vector for each problem."""
    return matrix * v if matrix.ndim == 2 else np.einsum("kij,kj->ki", matrix, v)


class RowsWithPast:
    """Rows in memory together with those remembered as a quadratic."""

    def __init__(self, rows: MemoryRows, past: QuadraticRows) -> None:
        self.rows, self.past = rows, past
        self.width = rows.width
        self.weight = rows.weight + past.weight

    def start(self, curvature: Curvature) -> None:
        self.rows.start(curvature)

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        sums = self.rows.evaluate(problems, w)
        return sums + self.past.evaluate(problems, w, sums.curvature is not None)

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return self.rows.times(problems, v) + self.past.times(problems, v)

    def gradient_at_zero(self) -> Array:
        return np.linalg.norm(self.rows.every(1).half_gradient_at_zero() - self.past.linear, axis=1)

    def coarse(self) -> Source | None:
        return None

    def gram_pays(self) -> bool:
        return not self.past.is_diagonal


class LinearProblem:
    """p(w), its gradient and curvature, for all one-against-rest problems of a source of rows."""

    def __init__(self, source: Source, n_problems: int, loss: OdmLoss) -> None:
        self.source, self.n_problems, self.loss = source, n_problems, loss

    @property
    def width(self) -> int:
        return self.source.width

    @property
    def scale(self) -> float:
        """lam / (W (1-theta)^2): what turns the half sums of the source into those of p."""
        return self.loss.lam / (self.source.weight * (1 - self.loss.theta) ** 2)

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        """p, its gradient, and the curvature of its loss part (to which the identity comes)."""
        sums = self.source.evaluate(problems, w)
        return Sums(
            0.5 * np.sum(w * w, axis=1) + 0.5 * self.scale * sums.loss,
            w + self.scale * sums.gradient,
            None if sums.curvature is None else self.scale * sums.curvature,
        )

    def times(self, problems: Sequence[int], v: Array) -> Array:
        """The Hessian of p times v."""
        return v + self.scale * self.source.times(problems, v)

    def gradient_at_zero(self) -> Array:
        """|grad p(0)|, what gradients are measured against."""
        return self.scale * self.source.gradient_at_zero()

    def coarse(self) -> LinearProblem | None:
        """A small problem much like this one."""
        source = self.source.coarse()
        return None if source is None else LinearProblem(source, self.n_problems, self.loss)
