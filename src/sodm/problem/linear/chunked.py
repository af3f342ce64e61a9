"""Rows of a linear problem that do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from sodm.problem.linear.sums import Array, Curvature, LocalSums, Sums

GONE = "the chunk factory gave no rows on a later pass: each call must start anew."


class ChunkedRows:
    """Rows that a function iterates over anew, a chunk at a time: a `RowSums`."""

    def __init__(self, chunks: Callable[[], Iterable[LocalSums]]) -> None:
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

    def _pass(self) -> Iterator[LocalSums]:
        self.passes += 1
        rows = 0
        for chunk in self._chunks():
            rows += chunk.n
            yield chunk
        if rows == 0:
            raise ValueError(GONE)

    def gradient_at_zero(self) -> Array:
        if self._at_zero is None:
            raise RuntimeError("a chunked source must be evaluated before its gradient at zero is known")
        return self._at_zero

    def coarse(self) -> LocalSums | None:
        return self._first

    def gram_pays(self) -> bool:
        # A product costs a whole pass over the disk here, so the matrix is taken as long as it fits at all.
        return len(self.positive) * self.width**2 <= 2**26

    def gram_in_single(self) -> bool:
        return False  # chunks may differ in this, and a restart would cost another pass over the disk

    def steppable(self) -> None:
        return None

    def long_rows(self) -> None:
        return None

    def in_memory(self) -> None:
        return None
