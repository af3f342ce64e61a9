"""Tables as people keep them: columns of numbers, flags and categories, with values missing.

`read_columns` reads what `read_csv` and `read_arrow` refuse. What a column holds is found out by looking at
all of it (`survey`), or is told by a model that was trained on such columns. Nothing is guessed where a guess
may be wrong: dates, decimal commas and numbers with a few words among them are refused, with what to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["number", "flag", "category"]
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "NAN", "null", "NULL", "None", "?")


@dataclass(frozen=True)
class Column:
    """Values of one name: float64 with NaN where one is missing; of categories text, and NaN."""

    name: str
    kind: Kind
    values: NDArray[Any]

    @property
    def n_missing(self) -> int:
        """How many rows have no value."""
        return int(np.count_nonzero(self.values != self.values))  # only NaN differs from itself


@dataclass(frozen=True)
class Table:
    """Columns of the same number of rows.

    Attributes
    ----------
    columns : tuple of Column
    y : ndarray or None
        Labels, as in `Dataset`.
    named : bool
        Whether the file has names of columns; without, they are called by their number, from 0.
    label : str or None
        The name of the label column.
    notes : tuple of str
        What the reader of the file should know: columns that were left aside, and why.
    """

    columns: tuple[Column, ...]
    y: NDArray[Any] | None = None
    named: bool = True
    label: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (len(self.columns[0].values) if self.columns else 0), len(self.columns)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def take(self, rows: Any) -> Table:
        """The same columns, of these rows only."""
        columns = tuple(Column(c.name, c.kind, c.values[rows]) for c in self.columns)
        return Table(columns, None if self.y is None else self.y[rows], self.named, self.label, self.notes)

    def block(self, at: Sequence[int]) -> NDArray[Any]:
        """Some columns side by side: float64 if all are numbers, else objects."""
        chosen = [self.columns[k] for k in at]
        plain = all(column.kind != "category" for column in chosen)
        block = np.empty((self.shape[0], len(chosen)), dtype=np.float64 if plain else object)
        for j, column in enumerate(chosen):
            block[:, j] = column.values
        return block

    def plain_numbers(self) -> bool:
        """Whether there are numbers only, and all of them: such a table needs no preparation."""
        return all(c.kind != "category" and np.isfinite(c.values).all() for c in self.columns)


@dataclass(frozen=True)
class Reading:
    """How the text of a table is to be understood."""

    decimal: str = "."
    encoding: str = "utf-8"
    missing: frozenset[str] = field(default_factory=lambda: frozenset(MISSING))
    ignore: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] | None = None  # of columns that are known; all others are left aside

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r}.")

    def number(self, text: str) -> float:
        """The number that a text is; ValueError if it is none."""
        if self.decimal == ",":
            if "." in text:
                raise ValueError(text)
            text = text.replace(",", ".")
        if "_" in text:  # float takes 1_000, tables do not
            raise ValueError(text)
        value = float(text)
        if value in (np.inf, -np.inf):
            raise ValueError(text)
        return value


def flag(text: str) -> float:
    """1 for true, 0 for false, in any case; ValueError for all else."""
    word = text.lower()
    if word in ("true", "1", "1.0"):
        return 1.0
    if word in ("false", "0", "0.0"):
        return 0.0
    raise ValueError(text)
