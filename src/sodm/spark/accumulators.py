"""Items that tasks hand to the driver besides what their job returns."""

from __future__ import annotations

from typing import Generic, TypeVar

from pyspark import Accumulator, AccumulatorParam, SparkContext

T = TypeVar("T")


class _Lists(AccumulatorParam[list[T]]):
    def zero(self, value: list[T]) -> list[T]:
        return []

    def addInPlace(self, value1: list[T], value2: list[T]) -> list[T]:
        value1.extend(value2)
        return value1


class ListAccumulator(Generic[T]):
    """A list that tasks add to. What a task has added arrives when the task ends, and not if it fails.

    In a job's last stage each task counts once. A task of an earlier stage that is run again, after its
    executor was lost, adds its items again.
    """

    def __init__(self, context: SparkContext) -> None:
        self._items: Accumulator[list[T]] = context.accumulator([], _Lists())

    def add(self, item: T) -> None:
        """On an executor."""
        self._items.add([item])

    def take(self) -> list[T]:
        """At the driver: what has arrived. Afterwards the list is empty, for Spark keeps accumulators for
        good."""
        items = self._items.value
        self._items.value = []
        return items
