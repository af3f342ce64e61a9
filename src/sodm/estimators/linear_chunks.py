"""From the caller's chunks to rows of the linear problem, and to the classes that they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sodm.data.chunks import Chunk, read_ahead
from sodm.estimators.labels import encode, find_classes
from sodm.estimators.linear_labels import encode_known
from sodm.estimators.weights import ClassWeight, check_sample_weight, class_weights
from sodm.problem.linear import MemoryRows, RowMaker
from sodm.problem.linear.chunked import GONE
from sodm.problem.row_types import MatrixLike, Rows

Array = NDArray[np.float64]
Passes = Callable[[], Iterable[Chunk]]


class RowsOfChunks:
    """Makes checked rows of the chunks, pass after pass, reading one chunk ahead.

    `check(X, first)` returns the rows of a chunk as the core takes them, or raises.
    """

    def __init__(self, passes: Passes, maker: RowMaker, check: Callable[[MatrixLike, bool], Rows]) -> None:
        self.passes, self.maker, self.check = passes, maker, check
        self.first = True

    def __call__(self) -> Iterator[MemoryRows]:
        for chunk in read_ahead(self.passes()):
            rows = self._rows(chunk)
            self.first = False
            if rows.weight > 0:
                yield rows

    def weight_and_mean_square(self) -> tuple[float, float]:
        """The weight of all rows and the weighted mean of |x_i|^2, from a pass over them."""
        weight, square = 0.0, 0.0
        for rows in self():
            weight += rows.weight
            square += rows.weight * rows.mean_square()
        if not weight > 0:
            raise ValueError(GONE)
        return weight, square / weight

    def _rows(self, chunk: Chunk) -> MemoryRows:
        X = self.check(chunk.X, self.first)
        y = np.asarray(column_or_1d(chunk.y))
        check_consistent_length(X, y)
        weights = _weights(chunk, len(y))
        return self.maker.rows(X, encode_known(y, self.maker.classes, weights), weights)


def survey(
    passes: Passes, classes: NDArray[Any] | None, class_weight: ClassWeight
) -> tuple[NDArray[Any], Array | None]:
    """The classes and the factors of their weights, from a pass over the labels where that is needed.

    Classes that were given are the classes, whether or not they occur; other labels are refused.
    """
    totals: Array | None = None
    if classes is None:
        classes, totals = _found(passes)
    elif isinstance(class_weight, str):
        totals = _totals(passes, classes)
    if class_weight is None or len(classes) < 2:
        return classes, None
    if totals is None:
        totals = np.ones(len(classes))
    # A class without rows has no weight to be balanced; its factor is never used.
    present = np.flatnonzero(totals > 0) if isinstance(class_weight, str) else np.arange(len(classes))
    factors = np.ones(len(classes))
    factors[present] = class_weights(class_weight, classes[present], np.arange(len(present)), totals[present])
    return classes, factors


def _found(passes: Passes) -> tuple[NDArray[Any], Array]:
    """The labels that have weight, sorted, and the weight of each."""
    totals: dict[Any, float] = {}
    for chunk in passes():
        y = np.asarray(column_or_1d(chunk.y))
        present = find_classes(y)
        sums = np.bincount(encode(y, present), _weights(chunk, len(y)), len(present))
        for label, total in zip(present, sums, strict=True):
            if total > 0:
                totals[label] = totals.get(label, 0.0) + float(total)
    labels = sorted(totals)
    return np.array(labels), np.array([totals[label] for label in labels])


def _totals(passes: Passes, classes: NDArray[Any]) -> Array:
    """The weight of each of the classes."""
    totals = np.zeros(len(classes))
    for chunk in passes():
        y = np.asarray(column_or_1d(chunk.y))
        weights = _weights(chunk, len(y))
        codes = encode_known(y, classes, weights)
        known = codes >= 0
        totals += np.bincount(codes[known], None if weights is None else weights[known], len(classes))
    return totals


def _weights(chunk: Chunk, n: int) -> Array | None:
    """The weights of a chunk's rows, which may all be zero; None for none."""
    if chunk.sample_weight is None:
        return None
    weights = np.asarray(chunk.sample_weight, dtype=np.float64)
    return check_sample_weight(weights, n) if np.any(weights) else weights
