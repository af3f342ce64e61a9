"""From a DataFrame to blocks: Arrow batches become arrays, never single rows.

A first pass also looks for what cannot be trained on. It does not raise: a failing task would be tried again,
and its message would come wrapped in a traceback. What it finds is counted, and the driver says it once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.problem.row_types import Rows, is_sparse
from sodm.problem.rows import canonical
from sodm.spark.blocks import BLOCK_BYTES, NO_ROWS, PackedBlock, Place, size_of
from sodm.spark.columns import Columns, feature_columns, feature_name, quoted
from sodm.spark.private import arrow_batches, arrow_schema
from sodm.spark.processes import settle

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import RDD
    from pyspark.sql import DataFrame

Held = tuple[Rows, NDArray[Any] | None, NDArray[np.float64] | None]  # rows, labels, weights


def pack(frame: DataFrame, columns: Columns) -> RDD[PackedBlock]:
    """The rows of a DataFrame as an RDD of packed blocks."""
    from pyspark.sql import functions as F

    wanted = feature_columns(columns)
    if columns.label is not None:
        wanted.append(F.col(quoted(columns.label)).alias("label"))
    if columns.weight is not None:
        wanted.append(F.col(quoted(columns.weight)).cast("double").alias("weight"))

    frame = frame.select(*wanted)
    schema = arrow_schema(frame)

    def blocks(partition: int, sent: Iterable[bytes]) -> Iterator[PackedBlock]:
        import pyarrow as pa

        settle()
        batches = (pa.ipc.read_record_batch(pa.py_buffer(one), schema) for one in sent)
        return pack_batches(batches, columns, partition)

    return arrow_batches(frame).mapPartitionsWithIndex(blocks)


# ------------------------------------------------------------------------------------- on the executors


def pack_batches(
    batches: Iterator[pa.RecordBatch], columns: Columns, partition: int
) -> Iterator[PackedBlock]:
    """Blocks of about `BLOCK_BYTES` from the Arrow batches of one partition."""
    held: list[Held] = []
    size, number = 0, 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        faults: Counter[str] = Counter()
        label = _labels(batch, columns, faults)
        weight = _weights(batch, columns, faults)
        rows = features_of(batch, columns, faults)
        if faults:
            for _ in batches:  # a worker that leaves some of its input is not used again
                pass
            yield PackedBlock((partition, number), NO_ROWS, None, None, dict(faults))
            return
        held.append((rows, label, weight))
        size += size_of(rows)
        if size >= BLOCK_BYTES:
            yield _block(held, (partition, number))
            held, size, number = [], 0, number + 1
    if held:
        yield _block(held, (partition, number))


def _block(held: list[Held], place: Place) -> PackedBlock:
    rows, labels, weights = zip(*held, strict=True)
    widths = {part.shape[1] for part in rows}
    if len(widths) > 1:
        return PackedBlock(place, NO_ROWS, None, None, {_widths(widths): 1})
    if any(sparse.issparse(part) for part in rows):
        whole: Rows = canonical(sparse.vstack([sparse.csr_matrix(part) for part in rows], "csr"))
    else:
        whole = rows[0] if len(rows) == 1 else np.concatenate(rows)
    joined = [None if parts[0] is None else np.concatenate(parts) for parts in (labels, weights)]
    return PackedBlock(place, whole, joined[0], joined[1])


def _labels(batch: pa.RecordBatch, columns: Columns, faults: Counter[str]) -> NDArray[Any] | None:
    if columns.label is None:
        return None
    column = batch.column("label")
    if column.null_count:
        faults[f"labelCol {columns.label!r}: nulls"] += column.null_count
        return None
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    labels = column.to_numpy(zero_copy_only=False)
    if labels.dtype == object:
        return labels.astype(np.str_)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        faults[f"labelCol {columns.label!r}: values that are NaN or infinite"] += int(
            np.count_nonzero(~np.isfinite(labels))
        )
    return labels


def _weights(batch: pa.RecordBatch, columns: Columns, faults: Counter[str]) -> NDArray[np.float64] | None:
    if columns.weight is None:
        return None
    column = batch.column("weight")
    if column.null_count:
        faults[f"weightCol {columns.weight!r}: nulls"] += column.null_count
        return None
    weights = column.to_numpy(zero_copy_only=False)
    for wrong, what in (
        (~np.isfinite(weights), "values that are NaN or infinite"),
        (weights < 0, "negative values"),
    ):
        if np.any(wrong):
            faults[f"weightCol {columns.weight!r}: {what}"] += int(np.count_nonzero(wrong))
    return weights


def features_of(batch: pa.RecordBatch, columns: Columns, faults: Counter[str]) -> Rows | None:
    """The features of an Arrow batch, an array or CSR matrix; counts what is wrong with them."""
    parts = [batch.column(feature_name(k)) for k in range(len(columns.features))]
    role = "featuresCols" if columns.kind == "numbers" else "featuresCol"
    for name, part in zip(columns.features, parts, strict=True):
        if part.null_count:
            faults[f"{role} {name!r}: nulls"] += part.null_count
    if faults:
        return None
    name = columns.features[0] if columns.kind != "numbers" else ", ".join(columns.features)
    if columns.kind == "numbers":
        table = np.empty((batch.num_rows, len(parts)), dtype=columns.dtype)
        for k, part in enumerate(parts):
            table[:, k] = part.to_numpy(zero_copy_only=False)
        rows: Rows | None = table
    elif columns.kind == "array":
        flat, lengths = parts[0].flatten(), np.asarray(parts[0].value_lengths())
        if flat.null_count:
            faults[f"{role} {name!r}: nulls inside of arrays"] += flat.null_count
            return None
        rows = _dense(flat.to_numpy(zero_copy_only=False), lengths, faults)
    else:
        rows = _vectors(parts[0], faults)
    if rows is None:
        return None
    values = rows.data if is_sparse(rows) else rows
    if not np.isfinite(values).all():
        count = int(np.count_nonzero(~np.isfinite(values)))
        faults[f"{role} {name!r}: values that are NaN or infinite"] += count
    return rows


def _dense(values: NDArray[Any], lengths: NDArray[Any], faults: Counter[str]) -> Rows | None:
    if np.any(lengths != lengths[0]):
        faults[_widths({int(lengths.min()), int(lengths.max())})] += 1
        return None
    return values.reshape(len(lengths), int(lengths[0]))


def _vectors(column: pa.StructArray, faults: Counter[str]) -> Rows | None:
    """Vectors, which Spark stores as (type, size, indices, values); type 0 is sparse, 1 dense."""
    kind, size, indices, values = column.flatten()
    is_dense = kind.to_numpy(zero_copy_only=False) == 1
    lengths = values.value_lengths().to_numpy(zero_copy_only=False)
    data = values.flatten().to_numpy(zero_copy_only=False)
    if is_dense.all():
        return _dense(data, lengths, faults)
    widths = np.where(is_dense, lengths, size.fill_null(0).to_numpy(zero_copy_only=False))
    if np.any(widths != widths[0]):
        faults[_widths({int(widths.min()), int(widths.max())})] += 1
        return None
    indptr = np.append(0, np.cumsum(lengths, dtype=np.int64))
    of_dense = np.repeat(is_dense, lengths)
    positions = np.empty(len(data), dtype=np.int32)
    positions[~of_dense] = indices.flatten().to_numpy(zero_copy_only=False)
    positions[of_dense] = np.tile(np.arange(widths[0], dtype=np.int32), int(is_dense.sum()))
    small = indptr[-1] <= np.iinfo(np.int32).max
    indptr = indptr.astype(np.int32) if small else indptr
    return canonical(sparse.csr_matrix((data, positions, indptr), shape=(len(lengths), int(widths[0]))))


def _widths(widths: set[int]) -> str:
    return f"rows with {min(widths)} features and others with {max(widths)}"
