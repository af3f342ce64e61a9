"""Parquet and Arrow (Feather) files, read with pyarrow."""

from __future__ import annotations

import mmap
import os
import struct
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sodm.data.arrow_size import MAGIC, ipc_bytes, parquet_bytes
from sodm.data.dataset import Dataset, check_label_bytes
from sodm.data.errors import DataError
from sodm.data.limits import MAX_EXPANSION, Limit
from sodm.data.tables import ENCODE, FILL, check_finite, label_column


def read_arrow(
    path: str | os.PathLike[str],
    *,
    label: str | int | None = "auto",
    max_expansion: float = MAX_EXPANSION,
) -> Dataset:
    """Read a Parquet or Arrow (Feather, IPC) file; needs pyarrow.

    Parameters
    ----------
    path : path
        Which of the formats it is, the file itself tells.
    label : str, int or None, default="auto"
        The label column, see `read_csv`.
    max_expansion : float, default=200
        See `read`.

    Returns
    -------
    Dataset
        X is a dense array; labels keep their type.

    Raises
    ------
    DataError
        If the file is damaged, holds what are no numbers, or expands too far.
    """
    limit = Limit.of(path, max_expansion)
    return _dataset(open_table(limit), label, limit)


def open_table(limit: Limit) -> Any:
    """The pyarrow table of a file; text columns as numbered names."""
    path = limit.path
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"{path} needs pyarrow to be read: run `pip install 'sodm[arrow]'`.") from error
    with open(path, "rb") as file:
        try:
            table = _table(file, limit)
        except (pyarrow.ArrowException, OSError, struct.error) as error:
            raise DataError(path, f"this is no whole Parquet or Arrow file ({_first_line(error)})") from error
    if table.num_rows == 0:
        raise DataError(path, "there are no rows in this file")
    return table


def _table(file: IO[bytes], limit: Limit) -> Any:
    """The table of a file; text columns as numbered names, each held once however often it occurs."""
    import pyarrow.feather
    import pyarrow.parquet
    from pyarrow import types

    head = file.read(len(MAGIC))
    file.seek(0)
    if head.startswith(b"PAR1"):
        with pyarrow.parquet.ParquetFile(file) as opened:
            limit.check(parquet_bytes(opened.metadata))
            text = [
                field.name
                for field in opened.schema_arrow
                if types.is_string(field.type) or types.is_large_string(field.type)
            ]
        file.seek(0)
        return pyarrow.parquet.read_table(file, read_dictionary=text)
    if head == MAGIC:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as view:
            limit.check(ipc_bytes(view))
    return pyarrow.feather.read_table(file)


def _dataset(table: Any, label: str | int | None, limit: Limit) -> Dataset:
    path, names = limit.path, table.column_names
    at = label_column(path, label, names, len(names))
    features = tuple(name for k, name in enumerate(names) if k != at)
    limit.check(8 * table.num_rows * max(1, len(names)), "its rows come")
    X = np.empty((table.num_rows, len(features)))
    for j, k in enumerate(k for k in range(len(names)) if k != at):
        X[:, j] = _numbers(path, names[k], table.column(k))
    check_finite(path, X, features)
    return Dataset(X, labels_of(names[at], table.column(at), limit) if at >= 0 else None, features)


def _numbers(path: str | os.PathLike[str], name: str, column: Any) -> NDArray[Any]:
    from pyarrow import types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        kind = kind.value_type if types.is_dictionary(kind) else kind
        raise DataError(path, f"column {name!r} holds {kind}: {ENCODE}")
    if column.null_count:
        raise DataError(path, f"no value in row {_first_null(column)} (from 0) of column {name!r}: {FILL}")
    return column.to_numpy()


def labels_of(name: str, column: Any, limit: Limit) -> NDArray[Any]:
    """Labels from a column of numbers or text."""
    from pyarrow import types

    if column.null_count:
        raise DataError(
            limit.path,
            f"the label in row {_first_null(column)} (from 0) of column {name!r} is missing: "
            "leave out rows without a label",
        )
    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return column.to_numpy()
    if _is_text(kind):
        column = column.dictionary_encode()
    elif not types.is_dictionary(kind):
        raise DataError(limit.path, f"the label column {name!r} holds {kind}: labels are numbers or text")
    return np.concatenate(
        [_named(name, chunk, limit, len(column)) for chunk in column.unify_dictionaries().chunks]
    )


def _named(name: str, chunk: Any, limit: Limit, n_rows: int) -> NDArray[Any]:
    """Labels of a chunk of numbered names."""
    from pyarrow import types

    kind, values = chunk.type.value_type, chunk.dictionary
    if values.null_count:
        raise DataError(limit.path, f"a label of column {name!r} is missing: leave out such rows")
    if _is_text(kind):
        names = values.to_pylist()
        check_label_bytes(names, n_rows, limit)
        return np.array(names, dtype=np.str_)[chunk.indices.to_numpy()]
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return values.to_numpy(zero_copy_only=False)[chunk.indices.to_numpy()]
    raise DataError(limit.path, f"the label column {name!r} holds {kind}: labels are numbers or text")


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _first_null(column: Any) -> int:
    return int(column.is_null().to_numpy().argmax())


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
