"""Sums over all blocks, always added up in the same order: so two runs give the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isqrt
from typing import Protocol, Self, TypeVar

from pyspark import RDD

from sodm.spark.blocks import PackedBlock
from sodm.spark.processes import settle

T = TypeVar("T", bound="Summable")


class Summable(Protocol):
    """What can be added up: numbers, arrays, sums of several of them."""

    def __add__(self, other: Self, /) -> Self:
        """Both together."""


AT_DRIVER = 32  # partial sums that are added up at the driver; more are added up on the executors first


def sum_over_blocks(blocks: RDD[PackedBlock], of_block: Callable[[PackedBlock], T | None]) -> T | None:
    """The sum of what a function makes of each block of an RDD; it may give None, which adds nothing."""

    def of_partition(number: int, blocks: Iterable[PackedBlock]) -> Iterator[tuple[int, T]]:
        settle()
        total = _sum(of_block(block) for block in sorted(blocks, key=lambda block: block.place))
        if total is not None:
            yield number, total

    partial: RDD[tuple[int, T | None]] = blocks.mapPartitionsWithIndex(of_partition)
    n = partial.getNumPartitions()
    if n > AT_DRIVER:
        step = isqrt(n) + 1
        groups = partial.map(lambda pair: (pair[0] // step, pair)).partitionBy(-(-n // step), int)
        partial = groups.mapPartitionsWithIndex(
            lambda number, pairs: [(number, _sum_in_order(pair for _, pair in pairs))]
        )
    return _sum_in_order(partial.collect())


def _sum_in_order(pairs: Iterable[tuple[int, T | None]]) -> T | None:
    return _sum(value for _, value in sorted(pairs, key=lambda pair: pair[0]))


def _sum(values: Iterable[T | None]) -> T | None:
    total: T | None = None
    for value in values:
        if value is not None:
            total = value if total is None else total + value
    return total
