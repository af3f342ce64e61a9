"""What the packed blocks look like, found while they are packed: a second look would bring all of them from
the cache to Python once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark import RDD

from sodm.problem.hashing import hash_rows
from sodm.spark.accumulators import ListAccumulator
from sodm.spark.blocks import PackedBlock, Place, size_of
from sodm.spark.private import compute


@dataclass(frozen=True)
class Survey:
    """What the first pass over the blocks has found.

    Attributes
    ----------
    places : list of tuples
        Where each block is, in the order of the rows.
    sizes : list of int
        How many rows each block has.
    n_features : int
    sparse : bool
        Whether any block is a CSR matrix.
    dtype : NumPy dtype
    weighted : bool
    bytes : int
        Of all features.
    totals : dict
        What the rows of each class weigh together, in the order of the labels; classes without weight are
        not there. Empty if labels are no classes.
    labels, weights : ndarrays or None
        Those of all rows, if asked for.
    codes, hashes : ndarrays or None
        Likewise if labels are classes: the number of each row's class among those of its block, and a hash
        of the row with that number. Where blocks have all classes, it is the number among all.
    """

    places: list[Place]
    sizes: list[int]
    n_features: int
    sparse: bool
    dtype: np.dtype[Any]
    weighted: bool
    bytes: int
    totals: dict[Any, float]
    labels: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None
    codes: NDArray[np.integer] | None = None
    hashes: NDArray[np.uint64] | None = None

    @property
    def n(self) -> int:
        """How many rows there are."""
        return sum(self.sizes)

    @property
    def bounds(self) -> NDArray[np.int64]:
        """Numbers of the first rows of the blocks, and of all rows in the end."""
        return np.append(0, np.cumsum(self.sizes, dtype=np.int64))

    def by_block(self, values: NDArray[Any]) -> dict[Place, NDArray[Any]]:
        """One entry for each row, cut by blocks."""
        return dict(zip(self.places, np.split(values, self.bounds[1:-1]), strict=True))


def with_summaries(
    packed: RDD[PackedBlock], keep_labels: bool, classes: bool = True
) -> tuple[RDD[PackedBlock], ListAccumulator[BlockSummary]]:
    """The blocks of an RDD, and where a summary of each arrives when it is packed, with its labels and the
    weights of its classes if they are asked for.

    A block that is packed twice, after its executor was lost, has two summaries, which are the same.
    """
    summaries: ListAccumulator[BlockSummary] = ListAccumulator(packed.context)

    def summarise(block: PackedBlock) -> PackedBlock:
        summaries.add(BlockSummary.of(block, keep_labels, classes))
        return block

    return packed.map(summarise), summaries


def take_survey(
    blocks: RDD[PackedBlock], summaries: ListAccumulator[BlockSummary], purpose: str = "to train on"
) -> Survey:
    """Pack all blocks into the cache; refuses what cannot be trained on, in one sentence."""
    compute(blocks)
    by_place = {summary.place: summary for summary in summaries.take()}
    seen = [by_place[place] for place in sorted(by_place)]
    _refuse_faults(seen)
    if not seen:
        raise ValueError(f"The DataFrame has no rows {purpose}.")
    widths = {summary.shape[1] for summary in seen}
    if len(widths) > 1:
        raise ValueError(
            f"The features do not fit together: there are rows with {min(widths)} features and others with "
            f"{max(widths)}."
        )
    if 0 in widths:
        raise ValueError("The features are vectors without any value: at least one is needed.")
    return Survey(
        places=[summary.place for summary in seen],
        sizes=[summary.shape[0] for summary in seen],
        n_features=widths.pop(),
        sparse=any(summary.sparse for summary in seen),
        dtype=np.result_type(*{summary.dtype for summary in seen}),
        weighted=seen[0].weighted,
        bytes=sum(summary.bytes for summary in seen),
        totals=_add_totals(seen),
        labels=_joined([summary.all_labels() for summary in seen]),
        weights=_joined([summary.weights for summary in seen]),
        codes=_joined([summary.codes for summary in seen]),
        hashes=_joined([summary.hashes for summary in seen]),
    )


@dataclass(frozen=True)
class BlockSummary:
    """What one block looks like."""

    place: Place
    faults: dict[str, int]
    shape: tuple[int, int] = (0, 0)
    sparse: bool = False
    dtype: np.dtype[Any] | None = None
    weighted: bool = False
    bytes: int = 0
    totals: tuple[tuple[Any, float], ...] = ()
    labels: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None
    codes: NDArray[np.integer] | None = None
    hashes: NDArray[np.uint64] | None = None

    @classmethod
    def of(cls, block: PackedBlock, keep_labels: bool, classes: bool) -> BlockSummary:
        """Of one block; its labels and weights, and the weights of its classes, only if asked for."""
        if block.faults:
            return cls(block.place, block.faults)
        rows = block.rows
        summary = cls(
            place=block.place,
            faults={},
            shape=rows.shape,
            sparse=not isinstance(rows, np.ndarray),
            dtype=rows.dtype,
            weighted=block.weights is not None,
            bytes=size_of(rows),
        )
        if keep_labels:
            summary = replace(summary, weights=block.weights)
        if not classes or block.labels is None:
            return replace(summary, labels=block.labels) if keep_labels else summary
        present, codes = np.unique(block.labels, return_inverse=True)
        weights = np.bincount(codes, block.weights, len(present))
        pairs = zip(present.tolist(), weights.tolist(), strict=True)
        summary = replace(summary, totals=tuple(pair for pair in pairs if pair[1] > 0))
        if not keep_labels:
            return summary
        hashes = hash_rows(rows, codes.astype(np.int64))
        codes = codes.astype(np.min_scalar_type(len(present)))
        return replace(summary, labels=present, codes=codes, hashes=hashes)

    def all_labels(self) -> NDArray[Any] | None:
        """Those of all rows, of which `labels` has each once where there are codes."""
        return self.labels if self.labels is None or self.codes is None else self.labels[self.codes]


def _add_totals(seen: Sequence[BlockSummary]) -> dict[Any, float]:
    totals: dict[Any, float] = {}
    for summary in seen:
        for label, weight in summary.totals:
            totals[label] = totals.get(label, 0.0) + weight
    return dict(sorted(totals.items()))


def _joined(arrays: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Those of all blocks, if blocks have any."""
    there = [array for array in arrays if array is not None]
    return np.concatenate(there) if there else None


def _refuse_faults(seen: Sequence[BlockSummary]) -> None:
    faults: dict[str, int] = {}
    for summary in seen:
        for what, count in summary.faults.items():
            faults[what] = faults.get(what, 0) + count
    if not faults:
        return
    what, count = next(iter(faults.items()))
    if ": " not in what:
        raise ValueError(f"The features do not fit together: there are {what}.")
    where, wrong = what.split(": ")
    raise ValueError(f"{where} has {wrong} ({count} of those seen first): drop or fill these rows.")
