"""Data for the commands: read as rows of numbers or as a table, made dense where that is better, split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from sodm import data
from sodm.data import DataError, Dataset
from sodm.data.columns import MISSING, Reading, Table
from sodm.data.limits import MAX_EXPANSION
from sodm.data.read import format_of
from sodm.data.read_columns import peek_columns, read_columns

DENSE_BYTES = 2**28  # up to this a sparse matrix is made dense, whatever its density
TABLES = ("csv", "arrow", "npy")  # formats with a label column
COLUMNS = ("csv", "arrow")  # formats whose columns may be other things than numbers
COUNTED_FROM = 20  # rows from which a column that counts them is no accident


@dataclass(frozen=True)
class Rows:
    """The rows of a data file.

    Attributes
    ----------
    X : ndarray, CSR matrix or Table
        Numbers; or columns that must be prepared first.
    y : ndarray or None
    names : tuple of str, or None
        Of the columns of X.
    label : str, int or None
        The label column, by name, or by number without names; None where it has a place of its own.
    notes : tuple of str
        What to tell the user.
    """

    X: Any
    y: NDArray[Any] | None
    names: tuple[str, ...] | None = None
    label: str | int | None = None
    notes: tuple[str, ...] = ()

    def take(self, rows: Any) -> Rows:
        """Some of the rows."""
        return replace(self, X=take_rows(self.X, rows), y=None if self.y is None else self.y[rows])


@dataclass(frozen=True)
class Source:
    """A data file and how to read it."""

    path: str
    format: str = "auto"
    label: str = "auto"
    header: bool | None = None
    separator: str | None = None
    zero_based: bool = False
    cache: bool = False
    n_threads: int | None = None
    max_expansion: float = MAX_EXPANSION
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    category: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The format of the file; an error if there is none, or a pipe, which can be read only once."""
        if self.path == "-" or Path(self.path).is_fifo():
            raise ValueError(
                f"{self.path} is a pipe, and data files are read more than once: save it to a file first."
            )
        if not Path(self.path).exists():
            known = ", ".join(data.names())
            raise FileNotFoundError(
                f"{self.path} is no file here, nor the name of a data set: those are {known}."
            )
        return format_of(self.path) if self.format == "auto" else self.format

    @property
    def known_set(self) -> bool:
        """Whether this is the name of a data set, and no file."""
        return not Path(self.path).exists() and self.path in data.names()

    @property
    def label_column(self) -> str | int:
        """The label column as it was given; a number counts columns."""
        return int(self.label) if self.label.lstrip("-").isdigit() else self.label

    def read(self, *, n_features: int | None = None, labels_needed: bool = True) -> Dataset:
        """Rows of numbers; a name that is no file but a known set is loaded by name."""
        if self.known_set:
            return data.load(self.path)
        kind = self.kind
        dataset = self.read_as(self.label_column if kind in TABLES else "auto", n_features)
        if labels_needed and dataset.y is None:
            raise DataError(self.path, "there are no labels in this file")
        return dataset

    def read_as(self, label: str | int | None, n_features: int | None = None) -> Dataset:
        """Rows of numbers, with this label column."""
        return data.read(
            self.path,
            format=self.kind,  # type: ignore[arg-type]
            label=label,
            header="auto" if self.header is None else self.header,
            separator=self.separator,
            zero_based=self.zero_based,
            n_features=n_features,
            cache=self.cache,
            n_threads=self.n_threads,
            max_expansion=self.max_expansion,
        )

    def table(self, reading: Reading, label: str | int | None) -> Table:
        """Columns of any kind, with this label column."""
        return read_columns(
            self.path,
            reading,
            format=self.kind,
            label=label,
            header="auto" if self.header is None else self.header,
            separator=self.separator,
            max_expansion=self.max_expansion,
        )

    def names(self, reading: Reading) -> tuple[list[str] | None, int]:
        """The names of the columns, None if the file has none, and how many there are."""
        return peek_columns(
            self.path,
            reading,
            format=self.kind,
            label=self.label_column,
            header="auto" if self.header is None else self.header,
            separator=self.separator,
            max_expansion=self.max_expansion,
        )

    def reading(self) -> Reading:
        """How the options say that text is to be understood."""
        return Reading(
            decimal=self.decimal or ".",
            encoding=self.encoding or "utf-8",
            missing=frozenset(MISSING) | set(self.missing),
            ignore=self.ignore,
            category=self.category,
        )

    def rows(self) -> Rows:
        """Rows to train on: of numbers if that is all there is, else a table."""
        if self.known_set or self.kind not in COLUMNS:
            self._refuse_column_options()
            dataset = self.read()
            label = self.label_column if not self.known_set and self.kind in TABLES else None
            return Rows(dense_if_better(dataset.X), np.asarray(dataset.y), dataset.feature_names, label)
        label, reading = self.label_column, self.reading()
        unnamed = "" in (self.names(reading)[0] or ())  # as an index that was written along
        if unnamed:
            reading = replace(reading, ignore=(*reading.ignore, ""))
        if not (unnamed or self.ignore or self.category or self.missing or self.decimal or self.encoding):
            try:
                dataset = self.read_as(label)
            except DataError:
                pass  # what is wrong with it, if anything is, the table will tell
            else:
                self._refuse_no_columns(dataset.X.shape[1])
                found = self._found_label(reading)
                rows = Rows(dataset.X, np.asarray(dataset.y), dataset.feature_names, found)
                return replace(rows, notes=_counting(rows))
        table = self.table(reading, label)
        self._refuse_no_columns(len(table.columns))
        at = table.label if table.named else int(table.label or 0)
        names = tuple(table.names) if table.named else None
        X: Any = table
        if table.plain_numbers():
            X = table.block(range(len(table.columns)))
        notes = ("a column without a name was left aside", *table.notes) if unnamed else table.notes
        rows = Rows(X, table.y, names, at, notes)
        return replace(rows, notes=(*rows.notes, *_counting(rows)))

    def _refuse_no_columns(self, count: int) -> None:
        if count == 0:
            raise DataError(self.path, "there is no column to learn from")

    def _found_label(self, reading: Reading) -> str | int | None:
        """The label column by name, or by number if columns have no names."""
        from sodm.data.tables import label_column

        names, n_columns = self.names(reading)
        at = label_column(self.path, self.label_column, names, n_columns)
        return at if names is None else names[at]

    def _refuse_column_options(self) -> None:
        for option in ("ignore", "category", "missing", "decimal", "encoding"):
            if getattr(self, option):
                raise ValueError(
                    f"--{option} is for CSV, TSV, Parquet and Arrow files, which {self.path} is not."
                )


def take_rows(X: Any, rows: Any) -> Any:
    """Some rows of a matrix or of a table."""
    return X.take(rows) if isinstance(X, Table) else X[rows]


def dense_if_better(X: Any) -> Any:
    """Dense if that is small, or hardly larger than sparse; kernels on dense rows are faster."""
    if not sparse.issparse(X):
        return X
    dense = X.shape[0] * X.shape[1] * 8
    return X.toarray() if dense <= max(DENSE_BYTES, 2 * X.data.nbytes) else X


def make_scaler(scale: str, X: Any) -> Any | None:
    """The scaler for these rows, not fitted; ValueError with the remedy where sparse rows do not allow it."""
    if scale == "none":
        return None
    if not sparse.issparse(X):
        return {"minmax": MinMaxScaler, "standard": StandardScaler, "maxabs": MaxAbsScaler}[scale]()
    # To move zeros would make every zero a stored value. Where nothing is negative, [0, max] is [min, max].
    if scale == "maxabs" or (scale == "minmax" and (X.nnz == 0 or X.data.min() >= 0)):
        return MaxAbsScaler()
    raise ValueError(
        f"--scale {scale} would turn these {X.shape[0]:,} x {X.shape[1]:,} sparse rows dense: use "
        f"--scale maxabs or "
        "--scale none."
    )


def split_rows(y: NDArray[Any], share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and rows to hold out: that share of each class, at least one row of it kept.

    Examples
    --------
    >>> import numpy as np
    >>> train, held = split_rows(np.array([0] * 8 + [1] * 4), 0.25, seed=0)
    >>> len(train), len(held)
    (9, 3)
    """
    rng = np.random.default_rng(seed)
    held = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        held[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def _counting(rows: Rows) -> tuple[str, ...]:
    """Columns that count the rows are rarely meant to be learnt from."""
    if rows.names is None or rows.X.shape[0] < COUNTED_FROM:
        return ()
    columns: Any = (
        ((c.name, c.values) for c in rows.X.columns if c.kind == "number")
        if isinstance(rows.X, Table)
        else zip(rows.names, rows.X.T, strict=True)
    )
    return tuple(
        f"column {name!r} counts the rows: if that means nothing, leave it out with --ignore {name}"
        for name, values in columns
        if values[1] - values[0] == 1 and np.all(np.diff(values) == 1)
    )
