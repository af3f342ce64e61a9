"""What every reader raises when a file is not what it should be."""

from __future__ import annotations

import os


class DataError(ValueError):
    """A file cannot be read as data; the message names the file, the place and what to do.

    Attributes
    ----------
    path : str
        The file.
    line, column : int or None
        Where in it, both counted from 1 (columns in bytes), for text files; the line alone where the message
        names a column of the table.

    Examples
    --------
    >>> error = DataError("a9a", "expected index:value, found 'x'", line=3, column=7)
    >>> print(error)
    a9a, line 3, column 7: expected index:value, found 'x'.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.path, self.message, self.line, self.column = os.fspath(path), message, line, column
        place = "" if line is None else f", line {line}" + ("" if column is None else f", column {column}")
        end = "" if message.endswith("?") else "."
        super().__init__(f"{self.path}{place}: {message}{end}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.path, self.message, self.line, self.column)


def _rebuilt(path: str, message: str, line: int | None, column: int | None) -> DataError:
    return DataError(path, message, line=line, column=column)
