"""A table: columns that know how their numbers are written, and rows of plain values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sodm.bench.report.summary import seconds_text

Cell = str | float | int | None
ACCURACY, DIFFERENCE, SECONDS = ".4f", "+.4f", "seconds"


@dataclass(frozen=True)
class Column:
    """A column: its heading, and how its numbers are written."""

    title: str
    form: str = ""

    def text(self, value: Cell) -> str:
        """A cell as people read it."""
        if value is None:
            return "–"
        if isinstance(value, str):
            return value
        return seconds_text(value) if self.form == SECONDS else format(value, self.form)


@dataclass(frozen=True)
class Table:
    """A table with a title, and a sentence on how to read it."""

    name: str
    title: str
    about: str
    columns: list[Column]
    rows: list[list[Cell]] = field(default_factory=list)

    def filled(self) -> Table:
        """The table without the columns that have no value."""
        kept = [k for k in range(len(self.columns)) if any(row[k] not in ("", None) for row in self.rows)]
        rows = [[row[k] for k in kept] for row in self.rows]
        return replace(self, columns=[self.columns[k] for k in kept], rows=rows)

    def numeric(self) -> list[bool]:
        """Which columns are of numbers, whatever words and dashes there are among them."""
        return [any(isinstance(row[k], int | float) for row in self.rows) for k in range(len(self.columns))]

    def texts(self) -> list[list[str]]:
        """All cells as text."""
        return [[c.text(v) for c, v in zip(self.columns, row, strict=True)] for row in self.rows]
