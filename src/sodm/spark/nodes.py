"""The rows of DSVRG's nodes: each node's are in one cached partition, and a job of one task steps on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark import StorageLevel

from sodm.problem.row_types import Rows
from sodm.spark.cluster import Cluster
from sodm.spark.private import joined_by_task, keyed_by_task
from sodm.spark.processes import settle
from sodm.spark.routing import Piece, Route
from sodm.spark.rows import ClusterRows
from sodm.spark.task_rows import RowForm, TaskRows

Array = NDArray[np.float64]
Steps = Callable[[Rows, NDArray[Any], Array | None, NDArray[np.intp]], Array]
Owned = tuple[NDArray[np.int64], NDArray[Any], Array | None]  # numbers, labels, weights of a node's rows
Placed = tuple[NDArray[np.int64], NDArray[Any], Array | None, Rows]  # the same, and the rows


class NodeRows:
    """The rows of all nodes, moved by one shuffle.

    Parameters
    ----------
    rows : ClusterRows
    nodes : sequence of int arrays
        The numbers of each node's rows, in ascending order.
    cluster : Cluster
    """

    def __init__(self, rows: ClusterRows, nodes: Sequence[NDArray[np.int64]], cluster: Cluster) -> None:
        for index in nodes:
            cluster.check_fits(len(index), rows.row_bytes, rows.shape[0])
        self.cluster, self.context = cluster, rows.blocks.context
        self.node_of = np.empty(rows.shape[0], dtype=np.int32)
        for k, index in enumerate(nodes):
            self.node_of[index] = k
        labels, weights = rows.labels(), rows.weights()
        owned = [
            (k, (index, labels[index], None if weights is None else weights[index]))
            for k, index in enumerate(nodes)
        ]
        form = RowForm(rows.shape[1], rows.sparse, rows.dtype)

        def put_together(items: Iterable[Piece | Owned]) -> Iterator[Placed]:
            settle()
            items = list(items)
            arrived = TaskRows((item for item in items if isinstance(item, Piece)), form)
            for own in items:
                if not isinstance(own, Piece):
                    yield (*own, arrived.take(own[0]))

        self._route = Route.of(rows, self.node_of[:, None])
        sources = self.context.parallelize(owned, cluster.slots), self._route.pieces
        placed = joined_by_task(self.context, *(keyed_by_task(source, len(nodes)) for source in sources))
        self._nodes = placed.mapPartitions(put_together).persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            with cluster.errors("moving the rows to their nodes"):
                self._nodes.count()
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Give up the cached rows."""
        self._nodes.unpersist()
        self._route.release()

    def run(self, numbers: NDArray[np.int64], steps: Steps) -> tuple[Array, float]:
        """Steps on these rows, all of one node: the new w, and the seconds that they took.

        Parameters
        ----------
        numbers : int array
        steps : callable
            Takes the node's rows, labels and weights, and the places of `numbers` among them.
        """
        node = int(self.node_of[numbers[0]])

        def of_node(owned: Iterable[Placed]) -> Iterator[tuple[Array, float]]:
            settle()
            for index, labels, weights, rows in owned:
                began = time.perf_counter()
                w = steps(rows, labels, weights, np.searchsorted(index, numbers))
                yield w, time.perf_counter() - began

        with self.cluster.errors(f"the steps of node {node}"):
            ((w, seconds),) = self.context.runJob(self._nodes, of_node, [node])
        return w, seconds
