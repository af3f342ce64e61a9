"""Items that tasks hand to the driver besides what their job returns."""

from __future__ import annotations

from typing import Any

from pyspark import AccumulatorParam


class _Lists(AccumulatorParam[list[Any]]):
    def zero(self, value: list[Any]) -> list[Any]:
        return []

    def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:
        value1.extend(value2)
        return value1


class ListAccumulator:
    """A list that tasks add to. What a task has added arrives when the task ends, and not if it fails.

    In a job's last stage each task counts once. A task of an earlier stage that is run again, after its
    executor was lost, adds its items again.
    """

    def __init__(self, context: Any) -> None:
        self._items = context.accumulator([], _Lists())

    def add(self, item: Any) -> None:
        """On an executor."""
        self._items.add([item])

    def take(self) -> list[Any]:
        """At the driver: what has arrived. Afterwards the list is empty, for Spark keeps accumulators for
        good."""
        items: list[Any] = self._items.value
        self._items.value = []
        return items
