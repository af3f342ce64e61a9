"""Rows in chunks, for data that does not fit into memory: from a function of the caller's, or from Arrow."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

Item = TypeVar("Item")


class Chunk(NamedTuple):
    """Some rows, their labels, and their weights if they have any."""

    X: Any
    y: Any
    sample_weight: Any = None


def chunk_factory(
    chunks: Any,
    *,
    label: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    batch_rows: int = 65_536,
) -> Callable[[], Iterable[Chunk]]:
    """A function that starts a new pass over the rows each time it is called.

    Parameters
    ----------
    chunks : callable, pyarrow Dataset or Table, or path
        A callable takes nothing and returns an iterator of ``(X, y)`` or ``(X, y, sample_weight)``. A path is
        that of a Parquet file or of a directory of them.
    label, features, weight : column names
        For Arrow data: which column holds the labels, which the features (default: all others), which the
        weights (default: none).
    batch_rows : int
        Rows of a chunk of Arrow data.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.zeros((5, 2)), np.arange(5)
    >>> passes = chunk_factory(lambda: ((X[i : i + 2], y[i : i + 2]) for i in range(0, 5, 2)))
    >>> [len(chunk.y) for chunk in passes()], [len(chunk.y) for chunk in passes()]
    ([2, 2, 1], [2, 2, 1])
    """
    if callable(chunks):
        return lambda: (_as_chunk(item) for item in chunks())
    dataset = _as_dataset(chunks)
    if label is None:
        raise ValueError("label must name the column that holds the labels.")
    names = list(dataset.schema.names)
    columns = list(features) if features is not None else [n for n in names if n not in (label, weight)]
    wanted = [*columns, label] + ([weight] if weight is not None else [])
    missing = [name for name in wanted if name not in names]
    if missing:
        raise ValueError(f"the data has no column {missing[0]!r}; its columns are {names}.")

    def batches() -> Iterator[Chunk]:
        for batch in dataset.to_batches(columns=wanted, batch_size=batch_rows):
            if batch.num_rows:
                yield _from_arrow(batch, columns, label, weight)

    return batches


def _as_chunk(item: Any) -> Chunk:
    if not isinstance(item, tuple) or len(item) not in (2, 3):
        raise ValueError("each chunk must be a tuple (X, y) or (X, y, sample_weight).")
    return Chunk(*item)


def _as_dataset(chunks: Any) -> Any:
    """An Arrow dataset of a dataset, a table or a path."""
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ImportError as error:
        raise ImportError(
            "chunks must be a function that returns an iterator of (X, y), or Arrow data, which needs "
            "pyarrow: pip install pyarrow."
        ) from error
    if isinstance(chunks, ds.Dataset):
        return chunks
    if isinstance(chunks, pa.Table):
        return ds.dataset(chunks)
    if isinstance(chunks, str | os.PathLike):
        return ds.dataset(os.fspath(chunks), format="parquet")
    raise ValueError(
        "chunks must be a function that returns an iterator of (X, y), an Arrow dataset or table, or the "
        f"path of Parquet files; got {type(chunks).__name__}."
    )


def _from_arrow(batch: Any, columns: Sequence[str], label: str, weight: str | None) -> Chunk:
    parts = [batch.column(name).to_numpy(zero_copy_only=False) for name in columns]
    single = all(part.dtype == np.float32 for part in parts)
    # Feature by feature, as Arrow has them: the core takes Fortran order as it is.
    X = np.empty((batch.num_rows, len(parts)), dtype=np.float32 if single else np.float64, order="F")
    for k, part in enumerate(parts):
        X[:, k] = part
    y = batch.column(label).to_numpy(zero_copy_only=False)
    return Chunk(X, y, None if weight is None else batch.column(weight).to_numpy(zero_copy_only=False))


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, the next one being read by another thread while the last one is worked on."""
    ready: queue.Queue[tuple[str, Any]] = queue.Queue(maxsize=1)
    stop = threading.Event()

    def put(kind: str, value: Any) -> bool:
        while not stop.is_set():
            try:
                ready.put((kind, value), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not put("item", item):
                    return
            put("end", None)
        except BaseException as error:  # handed on to the thread that asked
            put("error", error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        stop.set()
        thread.join()
