"""One shuffle that brings what several RDDs have for a task together.

`RDD.union` followed by `RDD.partitionBy` would do, but union ends the Python process of each RDD: all items
would pass the Java machine once more, only to be given their keys. Here they get their keys where they are
made. PairwiseRDD, PythonPartitioner and valueOfPair are what `partitionBy` itself is built on.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyspark import RDD
from pyspark.serializers import BatchedSerializer, CPickleSerializer, NoOpSerializer, pack_long


def shuffled(sources: Sequence[Any], n_tasks: int) -> Any:
    """The items of several RDDs of pairs (task, item), as an RDD with a partition for each task."""
    context = sources[0].context
    keyed = [_keyed(source) for source in sources]
    pairs = context._jvm.PairwiseRDD(context.union(keyed)._jrdd.rdd()).asJavaPairRDD()
    partitioner = context._jvm.PythonPartitioner(n_tasks, id(shuffled))
    placed = context._jvm.PythonRDD.valueOfPair(pairs.partitionBy(partitioner))
    return RDD(placed, context, BatchedSerializer(CPickleSerializer()))


def _keyed(source: Any) -> Any:
    """Each item as two byte strings, its task and itself."""

    def write(pairs: Iterable[tuple[int, Any]]) -> Iterator[bytes]:
        for task, item in pairs:
            yield pack_long(task)
            yield pickle.dumps([item], protocol=5)

    keyed = source.mapPartitions(write)
    keyed._bypass_serializer = True
    # Until the Java side is made, it does not know that its items are bytes already.
    assert keyed._jrdd is not None and isinstance(keyed._jrdd_deserializer, NoOpSerializer)
    return keyed
