"""Values that executors are sent once, for one job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from pyspark import Broadcast, SparkContext

T = TypeVar("T")


@contextmanager
def broadcast(context: SparkContext, value: T) -> Iterator[Broadcast[T]]:
    """A broadcast that is taken back in the end, also if a job fails: Spark keeps its files otherwise."""
    sent = context.broadcast(value)
    try:
        yield sent
    finally:
        sent.destroy()
