"""What a column of text holds: numbers, flags or categories; or nothing of use, or something to ask about."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable

from sodm.data.columns import Kind, Reading
from sodm.data.errors import DataError

MOST_VALUES = 20_000  # different texts that are counted; a column of more is no column of categories
MOSTLY = 0.9

_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}.*)?"
)
_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_FLAGS = ("true", "false")


def rare_below(n_rows: int) -> int:
    """A category of fewer rows shares its column with the other rare ones: one in a hundred, 2 to 10.

    Examples
    --------
    >>> rare_below(50), rare_below(500), rare_below(10**6)
    (2, 5, 10)
    """
    return min(10, max(2, n_rows // 100))


class Survey:
    """Counts what the texts of one column are."""

    def __init__(self, name: str, reading: Reading) -> None:
        self.name = name
        self._reading = reading
        self._rows = self._missing = self._numbers = 0
        self._texts: Counter[str] = Counter()
        self._first: tuple[str, int] | None = None
        self._too_many = False

    def add(self, texts: Iterable[str], first_line: int = 0) -> None:
        """Look at more rows."""
        missing, number = self._reading.missing, self._reading.number
        for line, text in enumerate(texts, first_line):
            self._rows += 1
            if text in missing:
                self._missing += 1
                continue
            try:
                number(text)
                self._numbers += 1
            except ValueError:
                self._first = self._first or (text, line)
                if len(self._texts) < MOST_VALUES or text in self._texts:
                    self._texts[text] += 1
                else:
                    self._too_many = True

    def kind(self, path: str | os.PathLike[str]) -> Kind | str:
        """What the column is, or after a colon why it is of no use; DataError where that must be asked."""
        values = self._rows - self._missing
        if values == 0:
            return ":no value in any row"
        if self.name in self._reading.category:
            return "category"
        if not self._texts:
            return "number"
        if self._numbers == 0 and all(text.lower() in _FLAGS for text in self._texts):
            return "flag"
        self._ask(path, values)
        if len(self._texts) == 1 and self._numbers == 0 and values == self._rows:
            return ":the same text in every row"
        if self._too_many or max(self._texts.values()) < rare_below(self._rows):
            return f":text that hardly repeats ({len(self._texts):,} different in {self._rows:,} rows)"
        return "category"

    def _ask(self, path: str | os.PathLike[str], values: int) -> None:
        """Refuse what may be read in two ways, with what to do about it."""
        assert self._first is not None
        text, line = self._first
        words = sum(self._texts.values())

        def share(pattern: re.Pattern[str]) -> float:
            return sum(n for value, n in self._texts.items() if pattern.fullmatch(value)) / max(1, words)

        column = f"column {self.name!r}"
        if share(_DATE) >= MOSTLY and words >= MOSTLY * values:
            raise DataError(
                path,
                f"{column} holds dates or times ({text!r}), which are neither numbers nor categories: put "
                "what matters of them into columns of numbers first (days since the first date, month, "
                f"weekday, hour), or leave the column out with ignore={self.name!r}",
            )
        if share(_COMMA) >= MOSTLY and self._reading.decimal == ".":
            raise DataError(
                path,
                f"{column} holds numbers with decimal commas ({text!r}): say decimal=',' (if they are "
                f"none, category={self.name!r})",
            )
        if self._numbers >= words:
            raise DataError(
                path,
                f"{column} holds numbers, but {text!r} in line {line}: say missing={text!r} if that stands "
                f"for a missing value, category={self.name!r} if all are categories, or "
                f"ignore={self.name!r} to leave the column out",
            )
