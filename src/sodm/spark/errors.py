"""Errors of executors, as the user is told of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_MEMORY_SIGNS = (
    "MemoryError",
    "bad_alloc",
    "OutOfMemoryError",
    "exit code 137",
    "code 137",
    "exited with 137",
)
_LOST_SIGNS = ("ExecutorLostFailure", "Python worker exited unexpectedly", "EOFException")


class OutOfMemory(RuntimeError):
    """An executor ran out of memory."""


class TaskFailed(RuntimeError):
    """A task raised an error on an executor, again and again; the message has its traceback."""


@contextmanager
def explained(doing: str, task_bytes: float) -> Iterator[None]:
    """Says what to change when an executor runs out of memory; shows the traceback of other errors.

    Parameters
    ----------
    doing : str
        What the tasks work on.
    task_bytes : float
        Memory that a task may use.
    """
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        text = str(error)
        if any(sign in text for sign in (*_MEMORY_SIGNS, *_LOST_SIGNS)):
            raise OutOfMemory(_what_to_change(text, doing, task_bytes)) from error
        traceback = _traceback_in(text)
        if traceback:
            raise TaskFailed(f"A task failed on {doing}:\n{traceback}") from error
        raise


def _traceback_in(text: str) -> str:
    """The Python traceback in an error of Spark, without Java's."""
    begin = text.find("Traceback (most recent call last)")
    return "" if begin < 0 else re.split(r"\n\s*\n|\n\tat |\n SQLSTATE", text[begin:])[0].rstrip()


def _what_to_change(text: str, doing: str, task_bytes: float) -> str:
    sure = any(sign in text for sign in _MEMORY_SIGNS)
    what = "ran out of memory" if sure else "was lost, most likely for want of memory,"
    return (
        f"An executor {what} on {doing}, with about {task_bytes / 2**20:.0f} MB for each task: raise "
        "n_partitions, lower cache_size, give executors more spark.executor.memoryOverhead (or "
        "spark.executor.pyspark.memory), or run fewer tasks at a time (spark.task.cpus)."
    )
