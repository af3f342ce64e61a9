"""Items brought together by task, from several RDDs, with one shuffle each.

`RDD.union` followed by `RDD.partitionBy` would do, but union ends the Python process of each RDD: all items
would pass the Java machine once more, only to be given their keys. Here they get their keys where they are
made. PairwiseRDD, PythonPartitioner and valueOfPair are what `partitionBy` itself is built on.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark import RDD
from pyspark.serializers import BatchedSerializer, CPickleSerializer, pack_long


def by_task(source: Any, n_tasks: int) -> Any:
    """An RDD of pairs (task, item) as pairs of Java, those of a task in the partition of its number."""

    def write(pairs: Iterable[tuple[int, Any]]) -> Iterator[bytes]:
        for task, item in pairs:
            yield pack_long(task)
            yield pickle.dumps([item], protocol=5)

    context = source.context
    keyed = source.mapPartitions(write)
    keyed._bypass_serializer = True
    pairs = context._jvm.PairwiseRDD(keyed._jrdd.rdd()).asJavaPairRDD()
    # Pairs that were placed by equal partitioners are joined below without being moved again.
    return pairs.partitionBy(context._jvm.PythonPartitioner(n_tasks, id(by_task)))


def together(context: Any, first: Any, *others: Any) -> Any:
    """The items that several results of `by_task` have for each task, as an RDD."""
    for other in others:
        first = first.union(other)
    return RDD(context._jvm.PythonRDD.valueOfPair(first), context, BatchedSerializer(CPickleSerializer()))
