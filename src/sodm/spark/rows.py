"""The rows of a DataFrame, packed and cached on the executors, as a set of rows that trainers take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark import RDD

from sodm.problem.row_set import Array, Index, RowSet
from sodm.problem.row_types import Rows
from sodm.spark.blocks import PackedBlock, Place, in_form, stack
from sodm.spark.broadcasts import broadcast
from sodm.spark.clock import Stopwatch
from sodm.spark.fetched import MOST_BYTES, FetchedRows
from sodm.spark.narrow import NarrowRows
from sodm.spark.processes import settle
from sodm.spark.sums import sum_over_blocks
from sodm.spark.survey import Survey


class ClusterRows(RowSet):
    """Packed blocks, and which of their rows are meant.

    Parameters
    ----------
    blocks : RDD of PackedBlock
        Cached; a block that is lost with its executor is packed anew.
    survey : Survey
    index : int array, optional
        The rows that are meant, by their number in the DataFrame; all of them if not given.
    passes : Stopwatch, optional
        Counts the seconds of the jobs that go over the blocks, apart from those that bring parts together.
    fetched : FetchedRows, optional
        What of them is at the driver.
    """

    in_memory = False

    def __init__(
        self,
        blocks: RDD[PackedBlock],
        survey: Survey,
        index: Index | None = None,
        passes: Stopwatch | None = None,
        fetched: FetchedRows | None = None,
    ) -> None:
        self.blocks, self.survey, self.index = blocks, survey, index
        self.passes, self.fetched = passes or Stopwatch(), fetched or FetchedRows()
        self.sparse = survey.sparse
        self.shape = (survey.n if index is None else len(index), survey.n_features)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the features."""
        return self.survey.dtype

    @property
    def row_bytes(self) -> float:
        """Bytes of a row on average."""
        return self.survey.bytes / max(1, self.survey.n)

    def select(self, index: Index, n_threads: int = 1) -> ClusterRows:
        return ClusterRows(self.blocks, self.survey, self.numbers(index), self.passes, self.fetched)

    def numbers(self, index: Index) -> Index:
        """Numbers in the DataFrame."""
        index = np.asarray(index)
        return index if self.index is None else self.index[index]

    # ----------------------------------------------------------------------------------- rows by number

    def __getitem__(self, index: Index | slice) -> Rows:
        if isinstance(index, slice):
            index = np.arange(self.shape[0])[index]
        numbers = self.numbers(index)
        known = self.fetched.get(numbers)
        if known is not None:
            return known
        in_order = bool(np.all(numbers[1:] > numbers[:-1]))
        wanted = numbers if in_order else np.unique(numbers)
        rows = self._fetch(wanted)[0]
        self.fetched.add(wanted, rows)
        return rows if in_order else rows[np.searchsorted(wanted, numbers)]

    def bring(self, index: Index) -> bool:
        numbers = np.unique(self.numbers(index))
        missing = self.fetched.missing(numbers)
        if len(missing) and len(numbers) * self.row_bytes <= MOST_BYTES:
            self.fetched.add(missing, self._fetch(missing)[0])
            missing = self.fetched.missing(numbers)
        return len(missing) == 0

    def take(self, index: Index) -> tuple[Rows, NDArray[Any] | None, Array | None]:
        """The rows of these numbers, in ascending order, with their labels and weights."""
        return self._fetch(self.numbers(index))

    def _fetch(self, numbers: Index) -> tuple[Rows, NDArray[Any] | None, Array | None]:
        """Rows in ascending order, from the partitions that have them."""
        bounds, places = self.survey.bounds, self.survey.places
        cuts = np.searchsorted(numbers, bounds)
        wanted = {
            place: (numbers[a:b] - start, np.arange(a, b))
            for place, (a, b), start in zip(places, pairwise(cuts), bounds, strict=False)
            if b > a
        }
        as_csr, context = self.sparse, self.blocks.context
        with broadcast(context, wanted) as sent:

            def pick(blocks: Iterable[PackedBlock]) -> Iterator[tuple[Any, ...]]:
                settle()
                for block in blocks:
                    if block.place in sent.value:
                        at, to = sent.value[block.place]
                        others = (None if own is None else own[at] for own in (block.labels, block.weights))
                        yield to, NarrowRows.of(in_form(block.rows[at], as_csr)), *others

            with self.passes:
                partitions = sorted({partition for partition, _ in wanted})
                pieces = context.runJob(self.blocks, pick, partitions)
        pieces.sort(key=lambda piece: int(piece[0][0]))
        rows = stack([piece[1].widened() for piece in pieces], self.shape[1], as_csr, self.survey.dtype)
        labels, weights = (
            np.concatenate([piece[k] for piece in pieces]) if pieces and pieces[0][k] is not None else None
            for k in (2, 3)
        )
        return rows, labels, weights

    def find_repeats(
        self, labels: NDArray[np.int64], n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """As for all rows; without a pass where the hashes that they were packed with are all different."""
        codes, hashes = self.survey.codes, self.survey.hashes
        if codes is not None and hashes is not None and np.array_equal(self._meant(codes), labels):
            hashes = self._meant(hashes)
            order = np.argsort(hashes)
            if np.all(np.diff(hashes[order]) > 0):
                group = np.empty(len(order), dtype=np.int64)
                group[order] = np.arange(len(order))
                return order.astype(np.int64), group
        return super().find_repeats(labels, n_threads)

    # ------------------------------------------------------------------------- something for each row

    def map_rows(
        self, function: Callable[..., NDArray[Any]], own: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        as_csr = self.sparse
        if own is None:
            return self._in_order(lambda block: function(in_form(block.rows, as_csr)))
        with broadcast(self.blocks.context, self._by_block(own)) as sent:
            return self._in_order(
                lambda block: function(in_form(block.rows, as_csr), sent.value[block.place])
            )

    def labels(self) -> NDArray[Any]:
        """The label of each row."""
        if self.survey.labels is not None:
            return self._meant(self.survey.labels)
        return self._in_order(lambda block: block.labels)

    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each row, if they have any."""
        if not self.survey.weighted:
            return None
        if self.survey.weights is not None:
            return self._meant(self.survey.weights)
        return self._in_order(lambda block: block.weights)

    def _in_order(self, of_block: Callable[[PackedBlock], Any]) -> NDArray[Any]:
        def of_partition(blocks: Iterable[PackedBlock]) -> Iterator[tuple[Place, Any]]:
            settle()
            return ((block.place, of_block(block)) for block in blocks)

        with self.passes:
            results = dict(self.blocks.mapPartitions(of_partition).collect())
        return self.in_order(results)

    def in_order(self, by_place: dict[Place, NDArray[Any]]) -> NDArray[Any]:
        """What blocks have told of their rows, of the rows that are meant."""
        return self._meant(np.concatenate([by_place[place] for place in self.survey.places]))

    def meant_by_block(self) -> dict[Place, NDArray[np.bool_]] | None:
        """Which rows of each block are meant; None if all are."""
        if self.index is None or len(self.index) == self.survey.n:
            return None
        return self._by_block(np.ones(len(self.index), dtype=bool))

    def _meant(self, whole: NDArray[Any]) -> NDArray[Any]:
        return whole if self.index is None else whole[self.index]

    def _by_block(self, own: NDArray[Any]) -> dict[Place, NDArray[Any]]:
        """One entry for each row, cut by blocks; 0 for rows that are not meant."""
        whole = own
        if self.index is not None:
            whole = np.zeros((self.survey.n, *own.shape[1:]), dtype=own.dtype)
            whole[self.index] = own
        return self.survey.by_block(whole)

    # ------------------------------------------------------------------------------ sums over all rows

    def sum_over_rows(self, function: Callable[[Rows, Array], Array], coefficients: Array) -> Array:
        as_csr = self.sparse
        with broadcast(self.blocks.context, self._by_block(np.ascontiguousarray(coefficients.T))) as sent:

            def of_block(block: PackedBlock) -> Array | None:
                own = sent.value[block.place]
                at = np.flatnonzero(np.any(own != 0, axis=1))
                if len(at) == 0:
                    return None
                return function(in_form(block.rows[at], as_csr), np.ascontiguousarray(own[at].T))

            with self.passes:
                total = sum_over_blocks(self.blocks, of_block)
        assert total is not None  # some coefficient is not zero
        return total
