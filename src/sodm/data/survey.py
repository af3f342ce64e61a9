"""What a column of text holds: numbers, flags or categories; or nothing of use, or something to ask about."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sodm.data.columns import Kind, Reading
from sodm.data.errors import DataError

MOST_VALUES = 20_000  # different texts that are counted; a column of more is no column of categories
MOSTLY = 0.9

_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}.*)?"
)
_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
# Digits with marks between thousands, a currency or a percent sign; or the decimal mark that was not named.
_DRESSED = re.compile(
    r"(?!\d+$)[^\w\s.,+-]?\s?[+-]?\d{1,3}(?:[.,' \u00a0\u202f]?\d{3})*(?:[.,]\d+)?\s?[^\w\s.,+-]?"
)
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

        column = f"column {self.name!r}"
        if _share(self._texts, _DATE) >= MOSTLY and words >= MOSTLY * values:
            raise DataError(
                path,
                f"{column} holds dates or times ({text!r}), which are neither numbers nor categories: put "
                "what matters of them into columns of numbers first (days since the first date, month, "
                f"weekday, hour), or leave the column out with ignore={self.name!r}",
            )
        refuse_dressed_numbers(path, self.name, self._texts, self._reading.decimal)
        if self._numbers >= words:
            raise DataError(
                path,
                f"{column} holds numbers, but {text!r} in line {line}: say missing={text!r} if that stands "
                f"for a missing value, category={self.name!r} if all are categories, or "
                f"ignore={self.name!r} to leave the column out",
            )


def refuse_dressed_numbers(
    path: str | os.PathLike[str], name: str, texts: Mapping[str, int], decimal: str
) -> None:
    """DataError if most of these texts, none of them a plain number, are numbers in another dress."""
    text = next(iter(texts), "")
    if _share(texts, _COMMA) >= MOSTLY and decimal == ".":
        raise DataError(
            path,
            f"column {name!r} holds numbers with decimal commas ({text!r}): say decimal=',' (if they are "
            f"none, category={name!r})",
        )
    if _share(texts, _DRESSED) >= MOSTLY:
        raise DataError(
            path,
            f"column {name!r} holds numbers with other marks ({text!r}): write them plainly, {decimal!r} "
            "as the decimal mark and no marks for thousands, currency or percent; if they are none, say "
            f"category={name!r}",
        )


def are_dates(texts: Sequence[str]) -> bool:
    """Whether most of these different texts are dates or times.

    Examples
    --------
    >>> are_dates(["2024-05-01", "2024-05-02"]), are_dates(["yes", "no"])
    (True, False)
    """
    return bool(texts) and _share(dict.fromkeys(texts, 1), _DATE) >= MOSTLY


def _share(texts: Mapping[str, int], pattern: re.Pattern[str]) -> float:
    """Of the rows with a text, how many match."""
    matching = sum(n for text, n in texts.items() if pattern.fullmatch(text))
    return matching / max(1, sum(texts.values()))
