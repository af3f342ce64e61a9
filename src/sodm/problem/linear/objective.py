"""The objective of the linear machine over any rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sodm.problem.linear.sums import Array, RowSums, Sums
from sodm.problem.losses import Loss


class LinearProblem:
    """p(w), its gradient and curvature, for all one-against-rest problems over some rows.

    The gradient and what comes of it are there for losses that have one (`loss.smooth`).
    """

    def __init__(self, source: RowSums, n_problems: int, loss: Loss) -> None:
        self.source, self.n_problems, self.loss = source, n_problems, loss

    @property
    def width(self) -> int:
        return self.source.width

    @property
    def scale(self) -> float:
        """What turns the sums over the rows into those of p: lam / (W (1-theta)^2) for ODM."""
        return self.loss.scale(self.source.weight)

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
