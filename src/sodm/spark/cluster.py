"""What the executors are, and whether they will do: their versions, their memory, their errors."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any

OLDEST_JAVA = 17
# A part's rows are held as they arrived, put together, and as the solver lays them out.
COPIES = 3
# Of what a task may use, the share that its interpreter and libraries do not need themselves.
USABLE = 0.8

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


@dataclass(frozen=True)
class Cluster:
    """The executors of a Spark application, as far as the trainers need them.

    Attributes
    ----------
    slots : int
        Tasks that run at the same time.
    task_cpus : int
        Threads of a task.
    task_bytes : float
        Memory that a task may use.
    """

    slots: int
    task_cpus: int
    task_bytes: float

    @classmethod
    def of(cls, context: Any) -> Cluster:
        """Ask the application for its settings."""
        conf = context.getConf()
        task_cpus = int(conf.get("spark.task.cpus", "1"))
        slots = max(1, context.defaultParallelism // task_cpus)
        cores = int(conf.get("spark.executor.cores", "0")) or _cores_of_executors(context)
        at_once = max(1, cores // task_cpus)
        return cls(slots, task_cpus, _python_bytes(context) / at_once)

    def check_fits(self, n_rows: int, row_bytes: float, n_total: int) -> None:
        """Refuse parts that would not fit, naming the number of parts that would."""
        need = COPIES * n_rows * row_bytes
        room = USABLE * self.task_bytes
        if need <= room:
            return
        fitting = ceil(n_total * row_bytes * COPIES / room)
        raise ValueError(
            f"A part of {n_rows} rows needs {need / 2**20:.0f} MB, and a task has {room / 2**20:.0f} MB: set "
            f"n_partitions to {fitting} or more (merged parts are larger: a larger stop_tol ends before), "
            "or raise spark.executor.memoryOverhead or spark.executor.pyspark.memory."
        )

    @property
    def waiting_bytes(self) -> float:
        """Rows that a task may hold besides those of the part that it solves."""
        return USABLE * self.task_bytes / 4

    def kernel_bytes(self, part_bytes: float) -> float:
        """What is left for kernel values beside the rows of a part."""
        return max(2.0**20, USABLE * self.task_bytes - COPIES * part_bytes)

    @contextmanager
    def errors(self, doing: str) -> Iterator[None]:
        """Says what to change when an executor runs out of memory; shows the traceback of other errors."""
        try:
            yield
        except Exception as error:
            if not type(error).__module__.startswith(("py4j", "pyspark")):
                raise
            text = str(error)
            if any(sign in text for sign in (*_MEMORY_SIGNS, *_LOST_SIGNS)):
                raise OutOfMemory(_what_to_change(text, doing, self.task_bytes)) from error
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


# ------------------------------------------------------------------------------------------------ memory


def _cores_of_executors(context: Any) -> int:
    """Cores of one executor, where they are not set: all tasks of the application on as many executors."""
    return max(1, context.defaultParallelism // count_executors(context))


def count_executors(context: Any) -> int:
    """How many executors there are at the moment; the driver is one in local mode only."""
    java = context._jsc.sc()
    known = len(java.statusTracker().getExecutorInfos())
    return max(1, known if java.isLocal() else known - 1)


def _python_bytes(context: Any) -> float:
    """Memory of one executor beside its Java heap, where our tasks live.

    `spark.executor.pyspark.memory` is a limit that Spark enforces; without, YARN and Kubernetes grant
    `memoryOverhead`. A standalone worker enforces nothing: the size of the heap stands in for what the
    administrator meant an executor to use.
    """
    conf = context.getConf()
    heap = size_in_bytes(conf.get("spark.executor.memory", "1g"))
    limit = conf.get("spark.executor.pyspark.memory", "")
    if limit:
        return size_in_bytes(limit)
    master = context.master or ""
    overhead = conf.get("spark.executor.memoryOverhead", "")
    if overhead:
        return size_in_bytes(overhead)
    if master.startswith(("yarn", "k8s")):
        factor = float(conf.get("spark.executor.memoryOverheadFactor", "0.4" if master[0] == "k" else "0.1"))
        return max(384 * 2**20, factor * heap)
    return heap


def size_in_bytes(text: str) -> float:
    """A size as Spark writes it; MiB if it has no unit.

    Examples
    --------
    >>> size_in_bytes("2g"), size_in_bytes("512")
    (2147483648.0, 536870912.0)
    """
    match = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)i?b?\s*", text.lower())
    if match is None:
        raise ValueError(f"{text!r} is no size that Spark knows, such as 512m or 2g.")
    return float(match[1]) * 2.0 ** {"k": 10, "": 20, "m": 20, "g": 30, "t": 40}[match[2]]


# ---------------------------------------------------------------------------------------------- versions


def check_executors(context: Any) -> None:
    """A tiny job: whether all executors have the sodm and NumPy that the driver has."""

    def versions(_: Any) -> list[tuple[str, ...]]:
        # Nothing of sodm may be needed here: it may be missing, and that is to be said.
        import os
        import platform
        import time
        from importlib import metadata

        def version_of(name: str) -> str:
            try:
                return metadata.version(name)
            except metadata.PackageNotFoundError:
                return "none"

        time.sleep(0.05)  # so that tasks go to all executors, not all of them to the quickest
        python = ".".join(platform.python_version_tuple()[:2])
        where = f"{platform.node()}, {os.environ.get('SPARK_EXECUTOR_DIRS', os.getcwd())}"
        return [(where, version_of("sodm"), version_of("numpy"), python)]

    here, executors = versions(None)[0], count_executors(context)
    if getattr(context, "_sodm_checked", 0) >= executors:
        return  # all of these have been asked before
    count = 2 * max(context.defaultParallelism, executors)
    found = set(context.parallelize(range(count), count).mapPartitions(versions).collect())
    for where, *there in sorted(found):
        for name, ours, theirs in zip(("sodm", "NumPy", "Python"), here[1:], there, strict=True):
            if ours != theirs:
                have = f"has no {name}" if theirs == "none" else f"has {name} {theirs}"
                raise RuntimeError(
                    f"The executor on {where} {have}, the driver has {ours}: install {name} {ours} on all "
                    "machines (PYSPARK_PYTHON names the interpreter that executors use)."
                )
    context._sodm_checked = executors


def check_java() -> None:
    """Refuse to start without a Java that Spark can use, saying what to install."""
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None or "pyspark.worker" in sys.modules:
        return  # there is one running
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    found = None if java is None else _java_version(java)
    if found is not None and found >= OLDEST_JAVA:
        return
    what = "none was found" if found is None else f"the one found ({java}) is version {found}"
    raise ImportError(
        f"sodm.spark needs Java {OLDEST_JAVA} or newer, and {what}: install it (Debian: apt-get install "
        f"openjdk-17-jre-headless), or set JAVA_HOME to where it is."
    )


def _java_version(java: str) -> int | None:
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', told)
    if match is None:
        return None
    first = int(match[1])
    return int(match[2] or 0) if first == 1 else first
