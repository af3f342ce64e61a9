"""CSV and TSV of any columns, read line by line: first what each column is, then the values."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sodm.data.columns import Column, Kind, Reading, Table, flag
from sodm.data.dataset import labels_from_text
from sodm.data.delimited import SEPARATORS
from sodm.data.errors import DataError
from sodm.data.limits import Limit
from sodm.data.streams import blocks
from sodm.data.survey import Survey, refuse_dressed_numbers
from sodm.data.tables import check_different, has_names, label_column

ROWS_AT_ONCE = 10_000
AT_ONCE = 2**16  # characters whose lines are in a list: they may be nothing but their ends
_ANNOUNCED = re.compile(r'"?sep=(.)"?')  # the first line of what Excel writes for itself
# What the module csv says, and what it comes from.
_CSV_ERRORS = {
    "new-line character seen": "lines end with a carriage return alone, as on old Macintosh computers: save "
    "it with the line ends of today",
    "unexpected end of data": "a quotation mark in this row is opened and never closed: close it, or write "
    'it twice ("") if it belongs to the text',
    "field larger than": f"a field is longer than {csv.field_size_limit():,} characters; is there a "
    "quotation mark that is opened and never closed?",
    "expected after": 'a quotation mark stands within a quoted text: write it twice ("")',
}
_OTHER_FILES = (
    (b"PK\x03\x04", "a ZIP archive, as the .xlsx files of Excel are"),
    (b"\xd0\xcf\x11\xe0", "an old .xls file of Excel"),
    (b"%PDF", "a PDF file"),
)
_BOMS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


def read_text_table(
    limit: Limit,
    reading: Reading,
    *,
    label: str | int | None,
    header: bool | Literal["auto"] = "auto",
    separator: str | None = None,
) -> Table:
    """The table of a text file; see `read_columns`."""
    path = limit.path
    lines = _Lines(limit, reading, separator)
    names, header = _names(lines, reading, header, label)
    check_different(path, names)
    at = label_column(path, label, names if header else None, len(names))
    kinds, notes = _kinds(path, lines, names, at, reading, header)
    columns, y = _values(path, lines, names, kinds, at, reading, header, limit)
    return Table(columns, y, header, names[at] if at >= 0 else None, notes)


def first_row(
    limit: Limit,
    reading: Reading,
    label: str | int | None,
    header: bool | Literal["auto"],
    separator: str | None,
) -> tuple[list[str], bool]:
    """The names of the columns and True, or their numbers and False where the file has no names."""
    return _names(_Lines(limit, reading, separator), reading, header, label)


def _names(
    lines: _Lines, reading: Reading, header: bool | Literal["auto"], label: str | int | None
) -> tuple[list[str], bool]:
    first = lines.first()
    if header == "auto":
        header = has_names(first, label, lambda text: _is_number(text, reading))
    return (first if header else [str(k) for k in range(len(first))]), header


class _Lines:
    """The rows of a file as lists of text, as often as they are asked for."""

    def __init__(self, limit: Limit, reading: Reading, separator: str | None) -> None:
        self._limit, self._reading, self._announced = limit, reading, False
        line = next((line for line in self._decoded() if line.strip("\r\n")), None)
        if line is None:
            raise DataError(limit.path, "there are no rows in this file")
        announced = _ANNOUNCED.fullmatch(line.rstrip("\r\n"))
        if announced and announced[1] in SEPARATORS:
            separator, self._announced = separator or announced[1], True
        if separator is None:
            name = os.fspath(limit.path).lower()
            separator = "\t" if ".tsv" in name or ".tab" in name else max(SEPARATORS, key=line.count)
            if reading.decimal == "," and separator == ",":
                separator = ";" if ";" in line else "\t"
        self._separator = separator

    def first(self) -> list[str]:
        """The first row."""
        for _, row in self._rows():
            return row
        raise DataError(self._limit.path, "there are no rows in this file")

    def chunks(self, skip_first: bool, width: int) -> Iterator[tuple[list[int], list[list[str]]]]:
        """All rows, some at a time, with the line each is in; rows of another width are refused."""
        rows = islice(self._rows(), int(skip_first), None)
        while chunk := list(islice(rows, ROWS_AT_ONCE)):
            for line, row in chunk:
                if len(row) != width:
                    raise DataError(
                        self._limit.path,
                        f"there are {len(row)} fields where there should be {width}",
                        line=line,
                        column=1,
                    )
            yield [line for line, _ in chunk], [row for _, row in chunk]

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(self._decoded(), delimiter=self._separator, skipinitialspace=True, strict=True)
        ended = 0  # the line where the last row did
        try:
            for row in islice(reader, int(self._announced), None):
                ended = reader.line_num
                if row and (len(row) > 1 or row[0].strip()):
                    yield reader.line_num, [text.strip() for text in row]
        except csv.Error as error:
            why = next((said for known, said in _CSV_ERRORS.items() if known in str(error)), None)
            raise DataError(
                self._limit.path,
                why or f"this is not {self._separator!r}-separated text ({error})",
                line=ended + 1,
                column=1,
            ) from error

    def _decoded(self) -> Iterator[str]:
        """Lines of text, each with its end."""
        decoder = codecs.getincrementaldecoder(self._reading.encoding)()
        waiting: list[str] = []  # the line that is not at its end
        line = 1
        for k, block in enumerate(blocks(self._limit.path, self._limit)):
            if k == 0:
                block = self._without_mark(block)
            text = self._text(decoder, block, line)
            if "\0" in text:
                raise DataError(self._limit.path, "this is not text; is it a CSV file?")
            line += text.count("\n")
            for at in range(0, len(text), AT_ONCE):
                first, *others = text[at : at + AT_ONCE].split("\n")
                waiting.append(first)
                if others:
                    yield "".join(waiting) + "\n"
                    *whole, last = others
                    for one in whole:
                        yield one + "\n"
                    waiting = [last]
        waiting.append(self._text(decoder, b"", line, final=True))
        if rest := "".join(waiting):
            yield rest

    def _without_mark(self, block: bytes) -> bytes:
        for mark, name in _OTHER_FILES:
            if block.startswith(mark):
                raise DataError(self._limit.path, f"this is {name}, and no text: save the table as CSV first")
        if self._reading.encoding.lower().replace("-", "") == "utf8":
            for mark, name in _BOMS:
                if block.startswith(mark):
                    raise DataError(self._limit.path, f"this is {name} text: say encoding='utf-16'")
            return block.removeprefix(codecs.BOM_UTF8)
        return block

    def _text(self, decoder: Any, block: bytes, line: int, final: bool = False) -> str:
        try:
            return decoder.decode(block, final)
        except UnicodeDecodeError as error:
            line += block.count(b"\n", 0, error.start)
            odd = block[error.start : error.start + 1].hex()
            raise DataError(
                self._limit.path,
                f"byte {odd} is not {self._reading.encoding} text: say in which encoding the file is, as in "
                "encoding='latin-1' or encoding='cp1252'",
                line=line,
                column=error.start - block.rfind(b"\n", 0, error.start),
            ) from error


def _kinds(
    path: str | os.PathLike[str], lines: _Lines, names: Sequence[str], at: int, reading: Reading, header: bool
) -> tuple[dict[int, Kind], tuple[str, ...]]:
    """What each column is: as a model knows it, or as all of its rows say."""
    if reading.kinds is not None:
        return {k: reading.kinds[name] for k, name in enumerate(names) if name in reading.kinds}, ()
    unknown = [name for name in (*reading.ignore, *reading.category) if name not in names]
    if unknown:
        raise DataError(path, f"there is no column named {unknown[0]!r}: its columns are {', '.join(names)}")
    surveys = {
        k: Survey(name, reading) for k, name in enumerate(names) if k != at and name not in reading.ignore
    }
    for numbers, rows in lines.chunks(header, len(names)):
        for k, survey in surveys.items():
            survey.add([row[k] for row in rows], numbers[0])
    kinds: dict[int, Kind] = {}
    notes = []
    for k, survey in surveys.items():
        kind = survey.kind(path)
        if kind.startswith(":"):
            notes.append(f"column {survey.name!r} was left aside: {kind[1:]}")
        else:
            kinds[k] = kind  # type: ignore[assignment]
    return kinds, tuple(notes)


def _values(
    path: str | os.PathLike[str],
    lines: _Lines,
    names: Sequence[str],
    kinds: dict[int, Kind],
    at: int,
    reading: Reading,
    header: bool,
    limit: Limit,
) -> tuple[tuple[Column, ...], NDArray[Any] | None]:
    parts: dict[int, list[NDArray[Any]]] = {k: [] for k in kinds}
    known: dict[str, str] = {}  # one object for each different text
    label_codes: list[NDArray[np.int32]] = []
    label_numbers: dict[str, int] = {}
    for numbers, rows in lines.chunks(header, len(names)):
        for k, kind in kinds.items():
            texts = [row[k] for row in rows]
            parts[k].append(converted(path, names[k], kind, texts, numbers, reading, known))
        if at >= 0:
            texts = [row[at] for row in rows]
            if any(text in reading.missing for text in texts):
                row = next(i for i, text in enumerate(texts) if text in reading.missing)
                raise DataError(
                    path,
                    f"the label in column {names[at]!r} is missing: leave out rows without a label",
                    line=numbers[row],
                )
            codes = [label_numbers.setdefault(text, len(label_numbers)) for text in texts]
            label_codes.append(np.array(codes, dtype=np.int32))
    if not any(parts.values()) and not label_codes:
        raise DataError(path, "there are no rows in this file")
    columns = tuple(Column(names[k], kind, np.concatenate(parts[k])) for k, kind in kinds.items())
    if at < 0:
        return columns, None
    labels = list(label_numbers)
    if names[at] not in reading.category and not any(_is_number(text, reading) for text in labels):
        refuse_dressed_numbers(path, names[at], dict.fromkeys(labels, 1), reading.decimal)
    if reading.decimal == "," and all(_is_number(text, reading) for text in labels):
        labels = [text.replace(",", ".") for text in labels]
    return columns, labels_from_text(labels, np.concatenate(label_codes), limit)


def converted(
    path: str | os.PathLike[str],
    name: str,
    kind: Kind,
    texts: list[str],
    lines: Sequence[int],
    reading: Reading,
    known: dict[str, str],
) -> NDArray[Any]:
    """The values that texts are, of a column that is known to be of this kind."""
    missing = reading.missing
    if kind == "category":
        values = np.empty(len(texts), dtype=object)
        values[:] = [np.nan if text in missing else known.setdefault(text, text) for text in texts]
        return values
    convert = flag if kind == "flag" else reading.number
    numbers = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        if text not in missing:
            try:
                numbers[i] = convert(text)
            except ValueError:
                wanted = "true or false" if kind == "flag" else "a number"
                raise DataError(
                    path,
                    f"{text!r} in column {name!r} is not {wanted}, as in training: mend it, or "
                    f"say missing={text!r} if that stands for a missing value",
                    line=lines[i],
                    column=1,
                ) from None
    return numbers


def _is_number(text: str, reading: Reading) -> bool:
    try:
        reading.number(text)
    except ValueError:
        return False
    return True
