"""Parquet and Arrow (Feather) files, read with pyarrow."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.data.dataset import Dataset
from sodm.data.errors import DataError
from sodm.data.tables import ENCODE, FILL, check_finite, label_column


def read_arrow(path: str | os.PathLike[str], *, label: str | int | None = "auto") -> Dataset:
    """Read a Parquet or Arrow (Feather, IPC) file; needs pyarrow.

    Parameters
    ----------
    path : path
        Which of the formats it is, the file itself tells.
    label : str, int or None, default="auto"
        The label column, as in `read_csv`.

    Returns
    -------
    Dataset
        X is a dense array; labels keep their type.
    """
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            f"{os.fspath(path)} needs pyarrow to be read: run `pip install sodm[arrow]`."
        ) from error
    with open(path, "rb") as file:
        is_parquet = file.read(4) == b"PAR1"
        file.seek(0)
        try:
            read = pyarrow.parquet.read_table if is_parquet else pyarrow.feather.read_table
            table = read(file)
        except (pyarrow.ArrowException, OSError) as error:
            raise DataError(path, f"this is no whole Parquet or Arrow file ({_first_line(error)})") from error
    return _dataset(path, table, label)


def _dataset(path: str | os.PathLike[str], table: Any, label: str | int | None) -> Dataset:
    names = table.column_names
    if table.num_rows == 0:
        raise DataError(path, "there are no rows in this file")
    at = label_column(path, label, names, len(names))
    features = tuple(name for k, name in enumerate(names) if k != at)
    X = np.empty((table.num_rows, len(features)))
    for j, k in enumerate(k for k in range(len(names)) if k != at):
        X[:, j] = _numbers(path, names[k], table.column(k))
    check_finite(path, X, features)
    return Dataset(X, _labels(path, names[at], table.column(at)) if at >= 0 else None, features)


def _numbers(path: str | os.PathLike[str], name: str, column: Any) -> NDArray[Any]:
    from pyarrow import types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise DataError(path, f"column {name!r} holds {kind}: {ENCODE}")
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise DataError(path, f"no value in row {row} (from 0) of column {name!r}: {FILL}")
    return column.to_numpy()


def _labels(path: str | os.PathLike[str], name: str, column: Any) -> NDArray[Any]:
    from pyarrow import types

    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise DataError(path, f"the label in row {row} (from 0) of column {name!r} is missing")
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return np.array(column.to_pylist(), dtype=np.str_)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return column.to_numpy()
    raise DataError(path, f"the label column {name!r} holds {kind}: labels are numbers or text")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
