"""Tables of any columns: numbers, flags, categories, and missing values among them."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from sodm.data.columns import Column, Kind, Reading, Table
from sodm.data.errors import DataError
from sodm.data.limits import MAX_EXPANSION, Limit
from sodm.data.read import format_of
from sodm.data.survey import Survey
from sodm.data.tables import label_column
from sodm.data.text_tables import converted, first_row, read_text_table


def read_columns(
    path: str | os.PathLike[str],
    reading: Reading | None = None,
    *,
    format: str = "auto",
    label: str | int | None = "auto",
    header: bool | Literal["auto"] = "auto",
    separator: str | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Table:
    """Read a CSV, TSV, Parquet or Arrow file column by column.

    Parameters
    ----------
    path : path
    reading : Reading, optional
        Decimal mark, encoding, what stands for a missing value, columns to ignore or to take as categories.
    format : {"auto", "csv", "arrow"}, default="auto"
    label, header, separator
        See `read_csv`.
    max_expansion : float, default=200
        See `read`.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        For what may be read in two ways, and for all that is wrong with the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pets.csv")
    >>> _ = path.write_text("kg,colour,class\\n4.5,black,cat\\n,white,dog\\n20,black,dog\\n5,white,cat\\n")
    >>> table = read_columns(path)
    >>> [(column.name, column.kind, column.n_missing) for column in table.columns]
    [('kg', 'number', 1), ('colour', 'category', 0)]
    """
    reading = Reading() if reading is None else reading
    kind = format_of(path) if format == "auto" else format
    limit = Limit.of(path, max_expansion)
    if kind == "csv":
        return read_text_table(limit, reading, label=label, header=header, separator=separator)
    if kind == "arrow":
        return _arrow_columns(limit, reading, label)
    raise DataError(path, "only CSV, TSV, Parquet and Arrow files have columns of other things than numbers")


def peek_columns(
    path: str | os.PathLike[str],
    reading: Reading | None = None,
    *,
    format: str = "auto",
    label: str | int | None = None,
    header: bool | Literal["auto"] = "auto",
    separator: str | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> tuple[list[str] | None, int]:
    """The names of the columns of a table, None if it has none, and their number."""
    kind = format_of(path) if format == "auto" else format
    limit = Limit.of(path, max_expansion)
    if kind == "arrow":
        from sodm.data.arrow import open_table

        names = open_table(limit).column_names
        return names, len(names)
    names, named = first_row(limit, Reading() if reading is None else reading, label, header, separator)
    return (names if named else None), len(names)


def _arrow_columns(limit: Limit, reading: Reading, label: str | int | None) -> Table:
    from sodm.data.arrow import labels_of, open_table

    path, table = limit.path, open_table(limit)
    names = table.column_names
    at = label_column(path, label, names, len(names))
    columns, notes = [], []
    for k, name in enumerate(names):
        if k == at or name in reading.ignore or (reading.kinds is not None and name not in reading.kinds):
            continue
        found = _arrow_column(path, name, table.column(k), reading)
        if isinstance(found, str):
            notes.append(f"column {name!r} was left aside: {found}")
        else:
            columns.append(found)
    y = labels_of(names[at], table.column(at), limit) if at >= 0 else None
    return Table(tuple(columns), y, True, names[at] if at >= 0 else None, tuple(notes))


def _arrow_column(path: str | os.PathLike[str], name: str, column: Any, reading: Reading) -> Column | str:
    """A column of an Arrow table, or why it is of no use."""
    from pyarrow import compute, types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    told: Kind | None = None if reading.kinds is None else reading.kinds[name]
    if types.is_temporal(kind):
        raise DataError(
            path,
            f"column {name!r} holds dates or times ({kind}): put what matters of them into columns of "
            "numbers first (days since the first date, month, weekday, hour), or leave it out with "
            f"ignore={name!r}",
        )
    if types.is_null(kind) or column.null_count == len(column):
        return "no value in any row"
    numeric = (
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    )
    if numeric and told != "category" and name not in reading.category:
        if types.is_boolean(kind):
            column = compute.cast(column, "uint8")
        values = compute.cast(column, "float64").to_numpy().astype(np.float64)
        if np.isinf(values).any():
            raise DataError(path, f"column {name!r} has infinite values: replace them first")
        return Column(name, "flag" if types.is_boolean(kind) else "number", values)
    if not numeric and not (
        types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    ):
        raise DataError(
            path,
            f"column {name!r} holds {kind}: columns are numbers, flags or text; leave it out with "
            f"ignore={name!r}",
        )
    texts = compute.fill_null(compute.cast(column, "string"), "").to_pylist()
    if told is None:
        survey = Survey(name, reading)
        survey.add(texts)
        found = survey.kind(path)
        if found.startswith(":"):
            return found[1:]
        told = found  # type: ignore[assignment]
    assert told is not None
    return Column(name, told, converted(path, name, told, texts, range(1, len(texts) + 1), reading, {}))
