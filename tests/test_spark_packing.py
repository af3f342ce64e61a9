"""Arrow batches become blocks. No cluster needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def packing(spark_package: Any) -> Any:
    from sodm.spark import packing

    return packing


def vectors(rows: list[Any]) -> Any:
    """Spark's form of vectors: a list of values, or a triple (size, indices, values)."""
    kind = pa.struct(
        [
            ("type", pa.int8()),
            ("size", pa.int32()),
            ("indices", pa.list_(pa.int32())),
            ("values", pa.list_(pa.float64())),
        ]
    )
    made = [
        {"type": 0, "size": row[0], "indices": row[1], "values": row[2]}
        if isinstance(row, tuple)
        else {"type": 1, "size": None, "indices": None, "values": row}
        for row in rows
    ]
    return pa.array(made, kind)


def batch(packing: Any, features: Any, label: Any) -> Any:
    from sodm.spark.columns import feature_name

    return pa.RecordBatch.from_pydict({feature_name(0): features, "label": pa.array(label)})


def blocks_of(packing: Any, batches: list[Any], kind: str = "vector") -> list[Any]:
    from sodm.spark.columns import Columns

    columns = Columns(("features",), kind, False, "label")
    return list(packing.pack_batches(iter(batches), columns, 0))


def test_dense_vectors_of_several_batches_are_one_block(packing):
    batches = [
        batch(packing, vectors([[1.0, 2.0], [3.0, 4.0]]), [0, 1]),
        batch(packing, vectors([[5.0, 6.0]]), [1]),
    ]
    (block,) = blocks_of(packing, batches)
    assert block.place == (0, 0) and not block.faults
    assert block.rows.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert block.labels.tolist() == [0, 1, 1]


def test_one_sparse_vector_makes_the_block_sparse(packing):
    rows = [[1.0, 0.0, 2.0], (3, [1], [4.0]), (3, [], []), [0.0, 5.0, 0.0]]
    batches = [batch(packing, vectors(rows), [0, 1, 0, 1]), batch(packing, vectors([[7.0, 8.0, 9.0]]), [1])]
    (block,) = blocks_of(packing, batches)
    assert sparse.issparse(block.rows) and block.rows.has_canonical_format
    assert block.rows.toarray().tolist() == [[1, 0, 2], [0, 4, 0], [0, 0, 0], [0, 5, 0], [7, 8, 9]]


def test_large_batches_are_blocks_of_their_own(packing, monkeypatch):
    monkeypatch.setattr(packing, "BLOCK_BYTES", 32)
    blocks = blocks_of(packing, [batch(packing, vectors([[1.0, 2.0]]), [k]) for k in range(5)])
    assert [block.place for block in blocks] == [(0, 0), (0, 1), (0, 2)]
    assert [block.rows.shape[0] for block in blocks] == [2, 2, 1]


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([[1.0], None], "featuresCol 'features': nulls"),
        ([[1.0], [1.0, 2.0]], "rows with 1 features and others with 2"),
        ([[1.0], (2, [0], [1.0])], "rows with 1 features and others with 2"),
        ([[1.0], [np.inf]], "featuresCol 'features': values that are NaN or infinite"),
    ],
)
def test_faults_are_counted_not_raised(packing, rows, fault):
    features = vectors([row for row in rows if row is not None])
    if None in rows:
        features = pa.concat_arrays([features, pa.nulls(1, features.type)])
    (block,) = blocks_of(packing, [batch(packing, features, [0, 1])])
    assert block.faults == {fault: 1} and block.rows.shape[0] == 0


@pytest.mark.parametrize("as_csr", [False, True])
def test_rows_that_arrived_are_found_by_number(spark_package, as_csr):
    from sodm.spark.routing import Piece
    from sodm.spark.task_rows import RowForm, TaskRows

    rows = np.arange(14.0).reshape(7, 2)
    numbers = np.array([30, 10, 21, 5, 40, 12, 33])
    pieces = []
    for at in ([1, 4, 6], [0, 2, 3, 5]):
        pieces.append(Piece(numbers[at], sparse.csr_matrix(rows[at]) if as_csr else rows[at]))
    form = RowForm(2, as_csr, np.float64)
    arrived = TaskRows(pieces, form)
    found = arrived.take(np.array([40, 5, 12], dtype=np.int32))
    assert np.array_equal(found.toarray() if as_csr else found, rows[[4, 3, 5]])
    with pytest.raises(RuntimeError, match="came with 1 rows instead of 2"):
        arrived.take(np.array([40, 41]))
    with pytest.raises(RuntimeError, match="came with 0 rows instead of 1"):
        TaskRows([], form).take(np.array([1]))


@pytest.mark.parametrize(("n_parts", "n_tasks"), [(1, 1), (5, 5), (24, 8), (64, 8), (250, 8), (500, 8)])
def test_parts_are_dealt_evenly_and_in_order(spark_package, n_parts, n_tasks):
    from sodm.spark.placement import deal

    tasks = np.array(deal(n_parts, n_tasks))
    counts = np.bincount(tasks, minlength=n_tasks)
    assert len(counts) == n_tasks and np.all(np.diff(tasks) >= 0) and counts.min() > 0
    assert counts.max() <= 1.34 * n_parts / n_tasks
    if n_parts >= 16 * n_tasks:  # pairs, and pairs of pairs, stay together
        assert all(tasks[k] == tasks[k - k % 4] for k in range(n_parts))
