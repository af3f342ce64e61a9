"""A compiled parser run over the blocks of a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from sodm.data.errors import DataError


def parse(parser: Any, blocks: Iterable[bytes], path: str | os.PathLike[str], n_threads: int) -> None:
    """Feed all blocks to the parser; its errors become a `DataError`."""
    for block in blocks:
        _check(parser.feed(np.frombuffer(block, dtype=np.uint8), n_threads), path)
    _check(parser.finish(n_threads), path)
    if parser.rows == 0:
        raise DataError(path, "there are no rows in this file")
    if parser.open_ended:
        warnings.warn(
            f"{os.fspath(path)}: the last line does not end with a newline; if the file was cut short there, "
            "its last number may be too.",
            UserWarning,
            stacklevel=4,
        )


def _check(error: tuple[int, int, str] | None, path: str | os.PathLike[str]) -> None:
    if error is not None:
        line, column, message = error
        raise DataError(path, message, line=line, column=column)
