"""The linear problem over rows on a cluster: what `sodm.problem.linear.RowSteps` asks for, over blocks.

newton   one pass is one job: every block adds up loss, gradient and Hessian with the compiled pass, and
         the partial sums are added in a fixed order, on executors first where there are many
dsvrg    the gradient of all rows as above; then the run of each node is a job of one single task
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sodm.estimators.labels import encode
from sodm.problem.linear import SMALL, Curvature, MemoryRows, RowMaker, Sums
from sodm.problem.linear.targets import TargetMaker, TargetRows, TargetSums
from sodm.problem.row_types import Rows
from sodm.spark.blocks import PackedBlock, in_form
from sodm.spark.cluster import Cluster
from sodm.spark.nodes import NodeRows
from sodm.spark.rows import ClusterRows
from sodm.spark.sums import Summable, sum_over_blocks

Array = NDArray[np.float64]
T = TypeVar("T", bound=Summable)


class BlockMaker:
    """How a block becomes rows of the linear problem, on the executors and at the driver alike."""

    def __init__(self, maker: Any, as_csr: bool) -> None:
        self.maker, self.as_csr = maker, as_csr

    def rows(self, rows: Rows, labels: NDArray[Any], weights: Array | None) -> Any:
        """Rows with their labels and weights."""
        return self.maker.rows(in_form(rows, self.as_csr), encode(labels, self.maker.classes), weights)

    def of_block(self, block: PackedBlock) -> Any:
        """The rows of a block."""
        assert block.labels is not None
        return self.rows(block.rows, block.labels, block.weights)


class TargetBlockMaker(BlockMaker):
    """The same for blocks whose labels are targets."""

    maker: TargetMaker

    def rows(self, rows: Rows, labels: NDArray[Any], weights: Array | None) -> TargetRows:
        """Rows with their targets and weights."""
        return self.maker.rows(in_form(rows, self.as_csr), as_targets(labels), weights)


def as_targets(labels: NDArray[Any]) -> Array:
    """A column of labels as the one target of each row."""
    return labels.astype(np.float64)[:, None]


def sums_of_targets(block: PackedBlock) -> TargetSums:
    """What a block has to say of the targets as a whole."""
    assert block.labels is not None
    return TargetSums.of(as_targets(block.labels), block.weights)


class ClusterSums:
    """Rows that can be summed over, see `sodm.problem.linear.RowSums`.

    Parameters
    ----------
    rows : ClusterRows
        All rows of a DataFrame.
    make : BlockMaker
        What makes them rows of the problem.
    weight : float
        Of all of them.
    cluster : Cluster
    """

    def __init__(self, rows: ClusterRows, make: BlockMaker, weight: float, cluster: Cluster) -> None:
        self.X, self.make, self.weight, self.cluster = rows, make, weight, cluster
        self.positive = make.maker.positive
        self.n, self.width = rows.shape[0], make.maker.width(rows.shape[1])
        self.seconds = {"solve": 0.0, "shuffle": 0.0, "schedule": 0.0}
        self._curvature: Curvature = "none"
        self._w = np.zeros((len(self.positive), self.width))
        self._coarse: MemoryRows | None = None

    # ------------------------------------------------------------------------------ sums over all rows

    def start(self, curvature: Curvature) -> None:
        self._curvature = curvature

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        chosen, curvature, make = list(problems), self._curvature, self.make
        self._w[chosen] = w

        def sums(block: PackedBlock) -> _Timed[Sums]:
            began = time.perf_counter()
            rows = make.of_block(block)
            rows.start(curvature)
            return _Timed(rows.evaluate(chosen, w), began)

        return self._add_up(sums)

    def times(self, problems: Sequence[int], v: Array) -> Array:
        chosen, at, make = list(problems), self._w[list(problems)], self.make

        def product(block: PackedBlock) -> _Timed[Array]:
            began = time.perf_counter()
            rows = make.of_block(block)
            rows.start("none")
            rows.evaluate(chosen, at)
            return _Timed(rows.times(chosen, v), began)

        return self._add_up(product)

    def _add_up(self, of_block: Callable[[PackedBlock], _Timed[T]]) -> T:
        began = time.perf_counter()
        with self.cluster.errors("a pass over the rows"):
            total = sum_over_blocks(self.X.blocks, of_block)
        assert total is not None
        self._count(time.perf_counter() - began, total.seconds / self.cluster.slots)
        return total.value

    def _count(self, wall: float, solve: float) -> None:
        self.seconds["solve"] += solve
        self.seconds["schedule"] += max(0.0, wall - solve)

    # ---------------------------------------------------------------------------- a few rows at the driver

    def coarse(self) -> MemoryRows | None:
        if self.n < 2 * SMALL:
            return None
        if self._coarse is None:
            step = min(64, self.n // SMALL)
            self._coarse = self._every(step)
        return self._coarse if self._coarse.weight > 0 else None

    def _every(self, step: int) -> MemoryRows:
        """Every so many-th row, the same that a machine with all rows at hand would take."""
        index = np.arange(0, self.n, step)
        rows, labels, weights = self.X.take(index)
        assert labels is not None
        return self.make.rows(rows, labels, weights)

    def gradient_at_zero(self) -> Array:
        rows = self.coarse()
        if rows is not None:
            norms = np.linalg.norm(rows.every(1).half_gradient_at_zero(), axis=1) * (
                self.weight / rows.weight
            )
            if np.all(norms > 0):
                return norms
        curvature, at = self._curvature, self._w.copy()
        self.start("none")
        gradient = self.evaluate(range(len(self.positive)), np.zeros_like(self._w)).gradient
        self._curvature, self._w = curvature, at
        return np.linalg.norm(gradient, axis=1)

    def gram_pays(self) -> bool:
        # A product costs a whole job here, so the matrix is taken as long as it can be moved at all.
        return len(self.positive) * self.width**2 <= 2**22

    def gram_in_single(self) -> bool:
        return bool(self.X.dtype == np.float32)

    def steppable(self) -> ClusterLinearRows | None:
        return None

    def long_rows(self) -> None:
        return None

    def in_memory(self) -> None:
        return None


class ClusterLinearRows(ClusterSums):
    """Rows that can also be stepped on, see `sodm.problem.linear.RowSteps`.

    Parameters
    ----------
    rows : ClusterRows
        All rows of a DataFrame.
    maker : RowMaker
        What makes them rows of the problem.
    cluster : Cluster
    """

    def __init__(self, rows: ClusterRows, maker: RowMaker, cluster: Cluster) -> None:
        per_class = np.array(list(rows.survey.totals.values()))
        weight = float(np.sum(per_class if maker.factors is None else maker.factors * per_class))
        super().__init__(rows, BlockMaker(maker, rows.sparse), weight, cluster)
        self.maker, self.bias, self.n_threads = maker, maker.bias, maker.n_threads
        self._nodes: NodeRows | None = None

    def release(self) -> None:
        """Give up what is cached besides the blocks."""
        if self._nodes is not None:
            self._nodes.release()

    def steppable(self) -> ClusterLinearRows:
        return self

    @property
    def labels(self) -> NDArray[np.int32]:
        """The class number of each row."""
        return encode(self.X.labels(), self.maker.classes)

    def largest_square(self) -> float:
        """The largest weight times squared norm of a row."""
        make = self.make
        return max(self.X.blocks.map(lambda block: make.of_block(block).largest_square()).collect())

    def mean_square(self) -> float:
        """The weighted mean of the squared lengths of the rows."""
        make = self.make

        def summed(block: PackedBlock) -> tuple[float, float]:
            rows = make.of_block(block)
            return rows.weight, rows.weight * rows.mean_square()

        parts = self.X.blocks.map(summed).collect()
        weight = sum(part[0] for part in parts)
        return sum(part[1] for part in parts) / weight if weight > 0 else 0.0

    def place_nodes(self, nodes: Sequence[NDArray[np.int64]]) -> None:
        """Rows by the nodes that step on them: one shuffle."""
        began = time.perf_counter()
        self.release()
        self._nodes = NodeRows(self.X, nodes, self.cluster)
        self.seconds["shuffle"] += time.perf_counter() - began

    def svrg_steps(
        self, scale: float, step: float, run: NDArray[np.int64], anchor: Array, mean: Array, w: Array
    ) -> None:
        """A run of steps on the rows of one node: a job of one task, which changes w."""
        began = time.perf_counter()
        make, start = self.make, w.copy()

        def steps(rows: Rows, labels: NDArray[Any], weights: Array | None, order: NDArray[np.intp]) -> Array:
            make.rows(rows, labels, weights).svrg_steps(scale, step, order, anchor, mean, start)
            return start

        assert self._nodes is not None
        w[...], seconds = self._nodes.run(run, steps)
        self._count(time.perf_counter() - began, seconds)


class _Timed(Generic[T]):
    """A sum, and the seconds that went into it."""

    def __init__(self, value: T, began: float, seconds: float | None = None) -> None:
        self.value = value
        self.seconds = time.perf_counter() - began if seconds is None else seconds

    def __add__(self, other: _Timed[T]) -> _Timed[T]:
        return _Timed(self.value + other.value, 0.0, self.seconds + other.seconds)
