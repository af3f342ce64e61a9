"""All that is used of pyspark beyond its public calls. When pyspark changes, this is the file to look at.

`tests/test_spark_api.py` holds each of these against a real cluster, and sees to it that no other file of
this package reaches into pyspark; `pyproject.toml` has the version up to which they were tried.

What `pyspark.ml` means its subclasses to use (`_dummy`, `_set`, `_setDefault`, `_copyValues`, `_resetUid`)
is used where it is needed: the underscore says that callers should not, and its own classes do.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pyspark import RDD, SparkContext, StorageLevel
from pyspark.serializers import BatchedSerializer, CPickleSerializer, NoOpSerializer, pack_long

if TYPE_CHECKING:
    import pyarrow as pa
    from py4j.java_gateway import JavaObject
    from pyspark.sql import DataFrame

    JavaPairs: TypeAlias = JavaObject  # pairs (task, items), as `keyed_by_task` makes them

T = TypeVar("T")

# ------------------------------------------------------------------------------------ rows from a DataFrame


def arrow_batches(frame: DataFrame) -> RDD[bytes]:
    """A DataFrame as an RDD of serialised Arrow batches.

    This is what Spark's own `toPandas` is built on. `mapInArrow` could do the same, but what comes out of it
    is a DataFrame again: its blocks would pass the Java machine as pickled rows, five times slower.
    """
    batches = frame._jdf.toArrowBatchRdd().toJavaRDD()
    return RDD(batches, frame.sparkSession.sparkContext, NoOpSerializer())


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """The schema of these batches, which come without one."""
    from pyspark.sql.pandas.types import to_arrow_schema

    large = frame.sparkSession.conf.get("spark.sql.execution.arrow.useLargeVarTypes", "false")
    return to_arrow_schema(frame.schema, prefers_large_types=large == "true")


def compute(rdd: RDD[T]) -> None:
    """Compute all partitions of an RDD, to have them cached.

    `RDD.count` sends each item to a Python process to be counted; here Java counts.
    """
    rdd._jrdd.count()


# ----------------------------------------------------------------------------------- items brought together


def keyed_by_task(source: RDD[tuple[int, T]], n_tasks: int) -> JavaPairs:
    """An RDD of pairs (task, item) as pairs of Java, those of a task in the partition of its number.

    `RDD.union` followed by `RDD.partitionBy` would do, but union ends the Python process of each RDD: all
    items would pass the Java machine once more, only to be given their keys. Here they get their keys where
    they are made. PairwiseRDD, PythonPartitioner and valueOfPair are what `partitionBy` itself is built on.
    """

    def write(pairs: Iterable[tuple[int, T]]) -> Iterator[bytes]:
        for task, item in pairs:
            yield pack_long(task)
            yield pickle.dumps([item], protocol=5)

    keyed: Any = source.mapPartitions(write)  # a PipelinedRDD, whose fields pyspark does not tell
    keyed._bypass_serializer = True
    return _placed(source.context, keyed._jrdd, n_tasks)


def sent_to_tasks(
    context: SparkContext, items: Sequence[tuple[int, Any]], n_tasks: int, n_slices: int
) -> JavaPairs:
    """Pairs (task, item) of the driver, placed as `keyed_by_task` does.

    `SparkContext.parallelize` would need Python processes to give the items their keys, some 100 ms before
    tasks can begin; here Java finds them beside the items.
    """
    frames = [frame for task, item in items for frame in (pack_long(task), pickle.dumps([item], protocol=5))]
    nothing = [pack_long(0), pickle.dumps([])]  # so that no slice ends between a key and its item
    frames += nothing * (-len(items) % n_slices)
    jvm = context._jvm
    assert jvm is not None
    sent = context._serialize_to_jvm(
        frames,
        NoOpSerializer(),
        lambda name: jvm.PythonRDD.readRDDFromFile(context._jsc, name, n_slices),
        lambda: jvm.PythonParallelizeServer(context._jsc.sc(), n_slices),
    )
    return _placed(context, sent, n_tasks)


def move(context: SparkContext, pairs: JavaPairs) -> None:
    """Have the pairs of `keyed_by_task` sent on their way, without the tasks that will take them.

    In public a job needs such tasks. The adaptive plans of Spark's SQL go stage by stage likewise.
    """
    assert context._jvm is not None
    sending = context._jsc.sc().submitMapStage(pairs.rdd().dependencies().head())
    concurrent = context._jvm.scala.concurrent
    concurrent.Await.result(sending, concurrent.duration.Duration.Inf())


def _placed(context: SparkContext, keyed: JavaObject, n_tasks: int) -> JavaPairs:
    """Keys and items, in turn, as pairs in the partitions of their keys."""
    jvm = context._jvm
    assert jvm is not None
    pairs = jvm.PairwiseRDD(keyed.rdd()).asJavaPairRDD()
    # Pairs that were placed by equal partitioners are joined below without being moved again.
    placed = pairs.partitionBy(jvm.PythonPartitioner(n_tasks, id(keyed_by_task)))
    # Left alone Spark takes Kryo for numbers and bytes, and makes one for each partition that a task writes
    # to, each with a table of hundreds of classes; Java's own serializer has nothing to set up.
    placed.rdd().setSerializer(jvm.org.apache.spark.serializer.JavaSerializer(context._jsc.sc().conf()))
    return placed


def joined_by_task(context: SparkContext, first: JavaPairs, *others: JavaPairs) -> RDD[Any]:
    """The items that several results of `keyed_by_task` have for each task, as an RDD."""
    for other in others:
        first = first.union(other)
    assert context._jvm is not None
    return RDD(context._jvm.PythonRDD.valueOfPair(first), context, BatchedSerializer(CPickleSerializer()))


def persist_pairs(context: SparkContext, pairs: JavaPairs) -> None:
    """Keep a result of `keyed_by_task`; these are RDDs of Java, which know nothing of Python's levels."""
    pairs.persist(context._getJavaStorageLevel(StorageLevel.MEMORY_AND_DISK_DESER))


# ------------------------------------------------------------------------------------------ the application


def is_running() -> bool:
    """Whether this process has a Spark application; asking in public would start one."""
    return SparkContext._active_spark_context is not None


def count_executors(context: SparkContext) -> int:
    """How many executors there are at the moment, of which Python's status tracker does not tell.

    Java counts the driver among them; it is one in local mode only.
    """
    java = context._jsc.sc()
    known = len(java.statusTracker().getExecutorInfos())
    return max(1, known if java.isLocal() else known - 1)


# ----------------------------------------------------------------------------- files anywhere Spark reaches


def upload(context: SparkContext, local: Path, target: str) -> None:
    """Copy a file of this machine to any file system that Spark knows: Python has no call for it."""
    path = _path(context, target)
    _system_of(context, path).copyFromLocalFile(False, True, _path(context, local.as_uri()), path)


def download(context: SparkContext, source: str, local: Path) -> None:
    """Copy a file from a path on any file system that Spark knows to this machine."""
    path = _path(context, source)
    _system_of(context, path).copyToLocalFile(False, path, _path(context, local.as_uri()), True)


def _path(context: SparkContext, text: str) -> JavaObject:
    assert context._jvm is not None
    return context._jvm.org.apache.hadoop.fs.Path(text)


def _system_of(context: SparkContext, path: JavaObject) -> JavaObject:
    return path.getFileSystem(context._jsc.hadoopConfiguration())
