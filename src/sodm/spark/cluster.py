"""What the executors have to offer: tasks at a time, threads, memory."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil

from pyspark import SparkConf, SparkContext

from sodm.estimators.threads import threads_for
from sodm.spark.errors import explained
from sodm.spark.private import count_executors

# A part's rows are held as they arrived, put together, and as the solver lays them out.
COPIES = 3
# Of what a task may use, the share that its interpreter and libraries do not need themselves.
USABLE = 0.8


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
    driver_cpus : int
        Threads of the driver: `spark.driver.cores`, or all cores of its machine where that is not set.
    """

    slots: int
    task_cpus: int
    task_bytes: float
    driver_cpus: int = 1

    @classmethod
    def of(cls, context: SparkContext) -> Cluster:
        """Ask the application for its settings."""
        conf = context.getConf()
        task_cpus = int(conf.get("spark.task.cpus", "1"))
        slots = max(1, context.defaultParallelism // task_cpus)
        cores = int(conf.get("spark.executor.cores", "0")) or _cores_of_executors(context)
        at_once = max(1, cores // task_cpus)
        driver_cpus = int(conf.get("spark.driver.cores", "0")) or threads_for(None)
        return cls(slots, task_cpus, _python_bytes(conf, context.master or "") / at_once, driver_cpus)

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

    def errors(self, doing: str) -> AbstractContextManager[None]:
        """Says what to change when an executor fails inside of it."""
        return explained(doing, self.task_bytes)


def _cores_of_executors(context: SparkContext) -> int:
    """Cores of one executor, where they are not set: all tasks of the application on as many executors."""
    return max(1, context.defaultParallelism // count_executors(context))


def _python_bytes(conf: SparkConf, master: str) -> float:
    """Memory of one executor beside its Java heap, where our tasks live.

    `spark.executor.pyspark.memory` is a limit that Spark enforces; without, YARN and Kubernetes grant
    `memoryOverhead`. A standalone worker enforces nothing: the size of the heap stands in for what the
    administrator meant an executor to use.
    """
    heap = size_in_bytes(conf.get("spark.executor.memory", "1g"))
    limit = conf.get("spark.executor.pyspark.memory", "")
    if limit:
        return size_in_bytes(limit)
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
