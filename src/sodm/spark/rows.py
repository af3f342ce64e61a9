"""The rows of a DataFrame, packed and cached on the executors, as trainers take them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pyspark.accumulators import AccumulatorParam

from sodm.problem.row_set import RowSet
from sodm.spark.blocks import PackedBlock, Piece, in_form, size_of, stack

T = TypeVar("T")
Index = NDArray[np.intp]
Place = tuple[int, int]

AT_ONCE = 32  # partial sums that are added up at the driver; more are added up on the executors first
REMEMBERED = 64 * 2**20  # bytes of fetched rows that are kept at the driver: samples are asked for again


@dataclass(frozen=True)
class Survey:
    """What the first pass over the blocks has found."""

    places: list[Place]
    sizes: list[int]
    n_features: int
    sparse: bool
    dtype: Any
    weighted: bool
    bytes: int
    totals: dict[Any, float]
    """What the rows of each class weigh together, in the order of the labels; classes without weight are not
    there."""
    labels: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None
    """Those of all rows, if asked for."""

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def bounds(self) -> NDArray[np.int64]:
        """Numbers of the first rows of the blocks, and of all rows in the end."""
        return np.append(0, np.cumsum(self.sizes, dtype=np.int64))


def watched(packed: Any, bring_labels: bool) -> tuple[Any, Any]:
    """The blocks of an RDD, and an accumulator that learns what each looks like while it is packed.

    A second look would bring all blocks from the cache to Python once more. A block that is packed twice,
    after its executor was lost, is seen twice, and looks the same.
    """
    seen = packed.context.accumulator([], _Lists())

    def look(block: PackedBlock) -> PackedBlock:
        seen.add([_Sight.of(block, bring_labels)])
        return block

    return packed.map(look), seen


class _Lists(AccumulatorParam[list[Any]]):
    def zero(self, value: list[Any]) -> list[Any]:
        return []

    def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:
        value1.extend(value2)
        return value1


def survey(blocks: Any, watcher: Any) -> Survey:
    """Pack all blocks into the cache; refuses what cannot be trained on, in one sentence."""
    blocks._jrdd.count()  # by Java alone
    by_place = {sight.place: sight for sight in watcher.value}
    watcher.value = []  # pyspark keeps accumulators for good
    seen = [by_place[place] for place in sorted(by_place)]
    _refuse_faults(seen)
    if not seen:
        raise ValueError("The DataFrame has no rows to train on.")
    widths = {sight.shape[1] for sight in seen}
    if len(widths) > 1:
        raise ValueError(
            f"The features do not fit together: there are rows with {min(widths)} features and others with "
            f"{max(widths)}."
        )
    if 0 in widths:
        raise ValueError("The features are vectors without any value: at least one is needed.")
    return Survey(
        places=[sight.place for sight in seen],
        sizes=[sight.shape[0] for sight in seen],
        n_features=widths.pop(),
        sparse=any(sight.sparse for sight in seen),
        dtype=np.result_type(*{sight.dtype for sight in seen}),
        weighted=seen[0].weighted,
        bytes=sum(sight.bytes for sight in seen),
        totals=_add_totals(seen),
        labels=_joined([sight.labels for sight in seen]),
        weights=_joined([sight.weights for sight in seen]),
    )


def _joined(arrays: Sequence[Any]) -> Any:
    return None if arrays[0] is None else np.concatenate(arrays)


@dataclass(frozen=True)
class _Sight:
    """What one block looks like."""

    place: Place
    faults: dict[str, int]
    shape: tuple[int, int] = (0, 0)
    sparse: bool = False
    dtype: Any = None
    weighted: bool = False
    bytes: int = 0
    totals: tuple[tuple[Any, float], ...] = ()
    labels: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, block: PackedBlock, bring_labels: bool) -> _Sight:
        if block.faults:
            return cls(block.place, block.faults)
        rows = block.rows
        csr, weighted = not isinstance(rows, np.ndarray), block.weights is not None
        own = (block.labels, block.weights) if bring_labels else ()
        return cls(
            block.place, {}, rows.shape, csr, rows.dtype, weighted, size_of(rows), _totals(block), *own
        )


def _totals(block: PackedBlock) -> tuple[tuple[Any, float], ...]:
    if block.labels is None:
        return ()
    present, codes = np.unique(block.labels, return_inverse=True)
    weights = np.bincount(codes, block.weights, len(present))
    return tuple(pair for pair in zip(present.tolist(), weights.tolist(), strict=True) if pair[1] > 0)


def _add_totals(seen: Sequence[_Sight]) -> dict[Any, float]:
    totals: dict[Any, float] = {}
    for sight in seen:
        for label, weight in sight.totals:
            totals[label] = totals.get(label, 0.0) + weight
    return dict(sorted(totals.items()))


def _refuse_faults(seen: Sequence[_Sight]) -> None:
    faults: dict[str, int] = {}
    for sight in seen:
        for what, count in sight.faults.items():
            faults[what] = faults.get(what, 0) + count
    if not faults:
        return
    what, count = next(iter(faults.items()))
    if ": " not in what:
        raise ValueError(f"The features do not fit together: there are {what}.")
    where, wrong = what.split(": ")
    raise ValueError(f"{where} has {wrong} ({count} of those seen first): drop or fill these rows.")


class Clock:
    """Seconds that were spent inside of it."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        self.seconds += time.perf_counter() - self._began


class Memory:
    """Rows that were fetched not long ago, for samples overlap and are asked for again."""

    def __init__(self) -> None:
        self._held: list[tuple[Index, Any]] = []

    def add(self, numbers: Index, rows: Any) -> None:
        """Keep rows by their numbers, in ascending order; the oldest go when there are too many."""
        self._held.insert(0, (numbers, rows))
        while self._held and sum(size_of(held) for _, held in self._held) > REMEMBERED:
            self._held.pop()

    def get(self, numbers: Index) -> Any:
        """The rows of these numbers, or None."""
        for known, rows in self._held:
            if 0 < len(numbers) <= len(known):
                at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
                if np.array_equal(known[at], numbers):
                    return rows[at]
        return None


class ClusterRows(RowSet):
    """Packed blocks, and which of their rows are meant.

    Parameters
    ----------
    blocks : RDD of PackedBlock
        Cached; a block that is lost with its executor is packed anew.
    found : Survey
    index : int array, optional
        The rows that are meant, by their number in the DataFrame; all of them if not given.
    clock : Clock, optional
        Counts the seconds of the jobs that go over the blocks, apart from those that bring parts together.
    memory : Memory, optional
        What of them is at the driver.
    """

    in_memory = False

    def __init__(
        self,
        blocks: Any,
        found: Survey,
        index: Index | None = None,
        clock: Clock | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.blocks, self.found, self.index = blocks, found, index
        self.clock, self.memory = clock or Clock(), memory or Memory()
        self.sparse = found.sparse
        self.shape = (found.n if index is None else len(index), found.n_features)

    @property
    def dtype(self) -> Any:
        """Of the features."""
        return self.found.dtype

    @property
    def row_bytes(self) -> float:
        """Bytes of a row on average."""
        return self.found.bytes / max(1, self.found.n)

    def select(self, index: Index) -> ClusterRows:
        return ClusterRows(self.blocks, self.found, self.numbers(index), self.clock, self.memory)

    def numbers(self, index: Any) -> Index:
        """Numbers in the DataFrame."""
        index = np.asarray(index)
        return index if self.index is None else self.index[index]

    # ----------------------------------------------------------------------------------- rows by number

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            index = np.arange(self.shape[0])[index]
        numbers = self.numbers(index)
        known = self.memory.get(numbers)
        if known is not None:
            return known
        in_order = bool(np.all(numbers[1:] > numbers[:-1]))
        wanted = numbers if in_order else np.unique(numbers)
        rows = self._fetch(wanted)[0]
        self.memory.add(wanted, rows)
        return rows if in_order else rows[np.searchsorted(wanted, numbers)]

    def take(self, index: Index) -> tuple[Any, Any, Any]:
        """The rows of these numbers, in ascending order, with their labels and weights."""
        return self._fetch(self.numbers(index))

    def _fetch(self, numbers: Index) -> tuple[Any, Any, Any]:
        """Rows in ascending order, from the partitions that have them."""
        bounds, places = self.found.bounds, self.found.places
        cuts = np.searchsorted(numbers, bounds)
        wanted = {
            place: (numbers[a:b] - start, np.arange(a, b))
            for place, (a, b), start in zip(places, pairwise(cuts), bounds, strict=False)
            if b > a
        }
        sent = self.blocks.context.broadcast(wanted)
        as_csr = self.sparse

        def pick(blocks: Iterable[PackedBlock]) -> Iterator[tuple[Any, ...]]:
            for block in blocks:
                if block.place in sent.value:
                    at, to = sent.value[block.place]
                    others = (None if each is None else each[at] for each in (block.labels, block.weights))
                    yield to, in_form(block.rows[at], as_csr), *others

        with self.clock:
            partitions = sorted({partition for partition, _ in wanted})
            pieces = self.blocks.context.runJob(self.blocks, pick, partitions)
        sent.destroy()
        pieces.sort(key=lambda piece: int(piece[0][0]))
        rows = stack([piece[1] for piece in pieces], self.shape[1], as_csr, self.found.dtype)
        labels, weights = (
            np.concatenate([piece[k] for piece in pieces]) if pieces and pieces[0][k] is not None else None
            for k in (2, 3)
        )
        return rows, labels, weights

    # ------------------------------------------------------------------------- something for each row

    def map_rows(
        self, function: Callable[..., NDArray[Any]], own: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        as_csr = self.sparse
        sent = None if own is None else self._by_block(own)

        def of_block(block: PackedBlock) -> tuple[Place, NDArray[Any]]:
            rows = in_form(block.rows, as_csr)
            return block.place, function(rows) if sent is None else function(rows, sent.value[block.place])

        return self._in_order(of_block, sent)

    def labels(self) -> NDArray[Any]:
        """The label of each row."""
        if self.found.labels is not None:
            return self._meant(self.found.labels)
        return self._in_order(lambda block: (block.place, block.labels))

    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each row, if they have any."""
        if not self.found.weighted:
            return None
        if self.found.weights is not None:
            return self._meant(self.found.weights)
        return self._in_order(lambda block: (block.place, block.weights))

    def _meant(self, whole: NDArray[Any]) -> NDArray[Any]:
        return whole if self.index is None else whole[self.index]

    def _in_order(self, of_block: Any, sent: Any = None) -> NDArray[Any]:
        with self.clock:
            results = dict(self.blocks.map(of_block).collect())
        if sent is not None:
            sent.destroy()
        return self._meant(np.concatenate([results[place] for place in self.found.places]))

    def _by_block(self, own: NDArray[Any]) -> Any:
        """One entry for each row, cut by blocks and sent to the executors; 0 for rows that are not meant."""
        whole = own
        if self.index is not None:
            whole = np.zeros((self.found.n, *own.shape[1:]), dtype=own.dtype)
            whole[self.index] = own
        cut = np.split(whole, self.found.bounds[1:-1])
        return self.blocks.context.broadcast(dict(zip(self.found.places, cut, strict=True)))

    # ------------------------------------------------------------------------------ sums over all rows

    def sum_over_rows(
        self,
        function: Callable[[Any, NDArray[np.float64]], NDArray[np.float64]],
        coefficients: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        as_csr, sent = self.sparse, self._by_block(np.ascontiguousarray(coefficients.T))

        def of_block(block: PackedBlock) -> NDArray[np.float64] | None:
            own = sent.value[block.place]
            at = np.flatnonzero(np.any(own != 0, axis=1))
            if len(at) == 0:
                return None
            return function(in_form(block.rows[at], as_csr), np.ascontiguousarray(own[at].T))

        with self.clock:
            total = self.add_up(of_block)
        sent.destroy()
        assert total is not None  # some coefficient is not zero
        return total

    def add_up(self, of_block: Callable[[PackedBlock], T | None]) -> T | None:
        """The sum over all blocks, always added up in the same order; a block may give None."""

        def of_partition(number: int, blocks: Iterable[PackedBlock]) -> Iterator[tuple[int, T]]:
            total = _sum(of_block(block) for block in sorted(blocks, key=lambda block: block.place))
            if total is not None:
                yield number, total

        partial = self.blocks.mapPartitionsWithIndex(of_partition)
        n = partial.getNumPartitions()
        if n > AT_ONCE:
            step = isqrt(n) + 1
            groups = partial.map(lambda pair: (pair[0] // step, pair)).partitionBy(-(-n // step), int)
            partial = groups.mapPartitionsWithIndex(
                lambda number, pairs: [(number, _sum_in_order(pair for _, pair in pairs))]
            )
        return _sum_in_order(partial.collect())

    # ------------------------------------------------------------------------------------ rows in parts

    def pieces(self, numbers: Index, task_of: NDArray[np.int32]) -> tuple[Any, Any]:
        """What each block has for each task: an RDD of (task, Piece).

        Parameters
        ----------
        numbers : int array
            Numbers in the DataFrame of the rows that are moved.
        task_of : int array
            The task of each row of the DataFrame.

        The broadcast that says which rows go where is returned too, to be destroyed when the RDD has been
        used.
        """
        context, known = self.blocks.context, self.memory.get(numbers)
        if known is not None:  # a sample: no need to look for its rows in all blocks
            cut = _by_task(task_of[numbers], numbers, known)
            return context.parallelize(cut, 1), context.broadcast(None)
        bounds = self.found.bounds
        first = dict(zip(self.found.places, bounds.tolist(), strict=False))
        small = task_of.astype(np.min_scalar_type(-max(1, int(task_of.max()))))
        sent = context.broadcast(dict(zip(self.found.places, np.split(small, bounds[1:-1]), strict=True)))
        as_csr = self.sparse

        def cut_block(block: PackedBlock) -> list[tuple[int, Piece]]:
            task = sent.value[block.place]
            at = np.flatnonzero(task >= 0)
            rows = in_form(block.rows, as_csr)
            if len(at) < len(task):
                rows, task = rows[at], task[at]
            return _by_task(task, first[block.place] + at, rows)

        return self.blocks.flatMap(cut_block), sent


def _by_task(task: NDArray[Any], numbers: Index, rows: Any) -> list[tuple[int, Piece]]:
    """Rows cut by task."""
    order = np.argsort(task, kind="stable")
    cuts = np.append(np.flatnonzero(np.diff(task[order].astype(np.int64), prepend=-1)), len(order))
    return [(int(task[order[a]]), Piece(numbers[order[a:b]], rows[order[a:b]])) for a, b in pairwise(cuts)]


def _sum_in_order(pairs: Iterable[tuple[int, Any]]) -> Any:
    return _sum(value for _, value in sorted(pairs, key=lambda pair: pair[0]))


def _sum(values: Iterable[Any]) -> Any:
    total = None
    for value in values:
        if value is not None:
            total = value if total is None else total + value
    return total
