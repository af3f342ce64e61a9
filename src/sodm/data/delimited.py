"""CSV and TSV, read by the compiled parser (core/text/csv_parser.cpp)."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from itertools import chain
from typing import Literal

from sodm import _core
from sodm.data.cache import cached
from sodm.data.dataset import Dataset, labels_from_text
from sodm.data.errors import DataError
from sodm.data.limits import MAX_EXPANSION, Limit
from sodm.data.parsing import parse
from sodm.data.streams import blocks
from sodm.data.tables import check_different, has_names, label_column
from sodm.data.threads import threads_for

SEPARATORS = (",", "\t", ";")
LONGEST_FIRST_LINE = 2**24  # bytes: it is taken apart in Python, where a field is many times its text


def read_csv(
    path: str | os.PathLike[str],
    *,
    label: str | int | None = "auto",
    header: bool | Literal["auto"] = "auto",
    separator: str | None = None,
    cache: bool = False,
    n_threads: int | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Dataset:
    """Read a table of numbers with one column of labels: CSV, TSV, or with another separator.

    Parameters
    ----------
    path : path
    label : str, int or None, default="auto"
        The label column: its name, its number (from 0, or negative from the end), None if there is none;
        "auto" takes the one named label, labels, class, target or y, and is an error if there is no such.
    header : bool or "auto", default="auto"
        Whether the first line has the names of the columns; "auto": if none of its fields is a number, or
        one is the name given as `label`.
    separator : str, optional
        One character. None: the tab for .tsv and .tab, else the most frequent of comma, tab and semicolon in
        the first line.
    cache, n_threads, max_expansion
        See `read`.

    Returns
    -------
    Dataset
        X is a dense array.

    Raises
    ------
    DataError
        Naming file, line and column, for text among the features, missing values, lines too short or long.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "iris.csv")
    >>> _ = path.write_text("length,width,class\\n5.1,3.5,setosa\\n6.2,2.9,versicolor\\n")
    >>> data = read_csv(path)
    >>> data.X.tolist(), data.y.tolist(), data.feature_names
    ([[5.1, 3.5], [6.2, 2.9]], ['setosa', 'versicolor'], ('length', 'width'))
    """
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise ValueError(f"separator must be one ASCII character other than a quote, got {separator!r}.")
    options = {"format": "csv", "label": label, "header": header, "separator": separator}
    limit = Limit.of(path, max_expansion)
    return cached(
        path, options, lambda: _read(limit, label, header, separator, threads_for(n_threads)), enabled=cache
    )


def _read(
    limit: Limit,
    label: str | int | None,
    header: bool | Literal["auto"],
    separator: str | None,
    n_threads: int,
) -> Dataset:
    path = limit.path
    line, lines_before, rest = _first_line(limit)
    if separator is None:
        separator = _guess_separator(path, line)
    try:
        fields = next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise DataError(path, f"the first line is not {separator!r}-separated text ({error})") from error
    fields = [field.strip() for field in fields]
    if header == "auto":
        header = has_names(fields, label, _is_number)
    names = fields if header else None
    check_different(path, names or ())
    if header:
        rest = _without_first_line(rest)
    at = label_column(path, label, names, len(fields))
    parser = _core.CsvParser(separator, len(fields), at, lines_before + bool(header), names or [])
    parse(parser, rest, path, n_threads)
    label_names = parser.label_names
    X, numbers = parser.take(n_threads)
    features = None if names is None else tuple(name for k, name in enumerate(names) if k != at)
    return Dataset(X, labels_from_text(label_names, numbers, limit) if at >= 0 else None, features)


def _first_line(limit: Limit) -> tuple[str, int, Iterator[bytes]]:
    """The first line that is not empty, the number of lines before it, and all bytes from it on."""
    path, source = limit.path, blocks(limit.path, limit)
    lines_before, kept = 0, b""
    for k, block in enumerate(source):
        block = block.removeprefix(b"\xef\xbb\xbf") if k == 0 else block
        if not kept:
            head = block
            block = head.lstrip(b"\r\n")
            lines_before += head.count(b"\n", 0, len(head) - len(block))
        kept += block
        if b"\n" in block or len(kept) > LONGEST_FIRST_LINE:
            break
    if not kept:
        raise DataError(path, "there are no rows in this file")
    first = kept.partition(b"\n")[0].rstrip(b"\r")
    if len(first) > LONGEST_FIRST_LINE:
        raise DataError(
            path, f"the first line is longer than {LONGEST_FIRST_LINE >> 20} MiB; is this a CSV file?"
        )
    try:
        line = first.decode()
    except UnicodeDecodeError as error:
        raise DataError(path, "the first line is not UTF-8 text; is this a CSV file?") from error
    if "\0" in line:
        raise DataError(path, "the first line is not text; is this a CSV file?")
    return line, lines_before, chain([kept], source)


def _without_first_line(source: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes from the second line on; the first block has the whole first line."""
    yield next(source).partition(b"\n")[2]
    yield from source


def _guess_separator(path: str | os.PathLike[str], line: str) -> str:
    if any(suffix in os.fspath(path).lower() for suffix in (".tsv", ".tab")):
        return "\t"
    return max(SEPARATORS, key=line.count)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
