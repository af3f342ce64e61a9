"""What rows of a linear problem must offer: sums over all of them, or steps on one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sodm.problem.linear.memory import LongRows, MemoryRows

Array = NDArray[np.float64]
Curvature = Literal["none", "gram", "gram_in_double", "diagonal"]


@dataclass
class Sums:
    """What rows add up to for some problems: loss, half its gradient, half its Hessian."""

    loss: Array  # (problems,)
    gradient: Array  # (problems, width)
    curvature: Array | None  # (problems, width, width), (problems, width), or None

    def __add__(self, other: Sums) -> Sums:
        curvature = None
        if self.curvature is not None and other.curvature is not None:
            curvature = self.curvature + other.curvature
        return Sums(self.loss + other.loss, self.gradient + other.gradient, curvature)


class RowSums(Protocol):
    """Rows that can be gone over: what Newton needs.

    `problems` are numbers 0..n_problems-1, `w` and `v` have one row for each.
    """

    width: int
    weight: float  # W; of chunks known after the first evaluation

    def start(self, curvature: Curvature) -> None:
        """Say which curvature the evaluations that follow are to give."""

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        """The sums at w."""

    def times(self, problems: Sequence[int], v: Array) -> Array:
        """Curvature times v, at the w of the last evaluation of each problem."""

    def gradient_at_zero(self) -> Array:
        """Norms of the half gradients at w = 0, one per problem; may be those of a sample, scaled up."""

    def coarse(self) -> RowSums | None:
        """A few rows much like these, to find a start on; None if these are few."""

    def gram_pays(self) -> bool:
        """Whether the matrix costs less than the many products that do without it."""

    def gram_in_single(self) -> bool:
        """Whether "gram" takes its products in single precision and "gram_in_double" is better."""

    def steppable(self) -> RowSteps | None:
        """These rows, laid out to be taken one at a time; None if they can only be summed."""

    def long_rows(self) -> LongRows | None:
        """The same for rows so long that Newton does better on those in play alone; None for others."""

    def in_memory(self) -> MemoryRows | None:
        """The same for rows that are all here; None if they are elsewhere, or gone."""


class LocalSums(RowSums, Protocol):
    """Rows that are all here: those of a chunk."""

    n: int
    positive: NDArray[np.int32]  # one entry for each problem

    def half_gradient_at_zero(self) -> Array:
        """Of each problem. Ends the evaluations begun with `start`."""


class RowSteps(RowSums, Protocol):
    """Rows that can also be stepped on one at a time, by nodes that hold some of them each: what DSVRG
    needs."""

    n: int
    X: Any  # the rows as a partitioner takes them
    bias: float  # value of the constant feature, 0 for none
    n_threads: int

    @property
    def labels(self) -> NDArray[np.int32]:
        """The class number of each row."""

    def largest_square(self) -> float:
        """The largest weight times squared norm of a row."""

    def place_nodes(self, nodes: Sequence[NDArray[np.int64]]) -> None:
        """Bring the rows of each node to where it steps on them."""

    def svrg_steps(
        self, scale: float, step: float, run: NDArray[np.int64], anchor: Array, mean: Array, w: Array
    ) -> None:
        """Steps on the rows of a run, which change w (see `sodm.solvers.variance_reduced`)."""
