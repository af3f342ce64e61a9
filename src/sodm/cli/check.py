"""What nothing can be learnt from, said before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.cli.inputs import Rows
from sodm.cli.task import as_numbers, task_of
from sodm.data import DataError
from sodm.data.columns import Table
from sodm.data.survey import are_dates

TOO_LARGE = 1e100  # squares of values, and their sums, are still numbers
HARDLY_TWICE_FROM = 20  # rows from which labels that are mostly different are no accident
SQUEEZED = 1e-4  # the share of its range that all but the outermost values of a column have
MOST_VALUES = 2**24  # of rows that are looked at for such values
NAMES_SHOWN = 5


def check_rows(path: str, rows: Rows) -> tuple[str, ...]:
    """Columns that say nothing, or hide what they say; DataError if none says anything."""
    refuse_too_large(path, rows, rows.names)
    if sparse.issparse(rows.X) or rows.X.shape[0] < 2:
        return ()
    constant, hidden = [], []
    for name, values in _numbers(rows, rows.names):
        low, high = values.min(), values.max()
        if low == high:
            constant.append(name)
        elif rows.X.shape[0] * rows.X.shape[1] <= MOST_VALUES and _squeezed(values, low, high):
            far = high if high - np.median(values) > np.median(values) - low else low
            hidden.append(
                f"column {name!r} goes to {far:g}, and nearly all other values lie in less than a "
                "ten-thousandth of its range, where scaling leaves no difference: mend that value if it is "
                "wrong, or put the logarithm into the file"
            )
    if len(constant) == rows.X.shape[1]:
        raise DataError(
            path,
            f"every column has one value only in all {rows.X.shape[0]:,} rows: there is nothing to learn "
            "from",
        )
    if constant and rows.names is not None:
        many = len(constant) - NAMES_SHOWN
        listed = ", ".join(map(repr, constant[:NAMES_SHOWN])) + (f" and {many} more" if many > 0 else "")
        said = "columns with" if len(constant) > 1 else "a column with"
        hidden.append(
            f"{said} one value only: {listed}; what says nothing can be left out with --ignore NAME"
        )
    return tuple(hidden)


def check_labels(path: str, rows: Rows, asked: str) -> None:
    """DataError if the label column is none, or another was meant."""
    y = np.asarray(rows.y)
    column = f"column {rows.label!r}" if isinstance(rows.label, str) else "the label column"
    values, counts = np.unique(y, return_counts=True)
    if len(values) == 1:
        raise DataError(
            path,
            f"{column} has the label {values[0].item()!r} in every row, and to learn takes two different "
            "ones: add rows of others, or name another column with --label",
        )
    if y.dtype.kind in "iuf" or asked == "classification":
        return
    numbers = as_numbers(values)
    known = ~np.isnan(numbers)
    if known.any() and not known.all() and task_of(numbers[known].repeat(counts[known]))[0] == "regression":
        odd = values[~known][0]
        raise DataError(
            path,
            f"{column} has numbers for labels, but {str(odd)!r} in {counts[~known][0]:,} of {len(y):,} rows: "
            "leave out such rows, or say --task classification if all are names of classes",
        )
    if are_dates(values.tolist()):
        raise DataError(
            path,
            f"{column} has dates or times for labels ({str(values[0])!r}): name another column with "
            "--label, or make numbers of them, such as days since the first; say --task classification if "
            "they are classes",
        )
    if asked == "auto" and len(y) >= HARDLY_TWICE_FROM and 2 * len(values) > len(y):
        raise DataError(
            path,
            f"{column} has {len(values):,} different labels in {len(y):,} rows, such as "
            f"{str(values[0])!r}, and classes need several rows each: name another column with --label, or "
            "say --task classification if it is the right one",
        )


def refuse_too_large(path: str, rows: Rows, names: Sequence[str] | None) -> None:
    """DataError if there is a value that cannot be squared."""
    if sparse.issparse(rows.X):
        if rows.X.nnz and np.abs(rows.X.data).max() > TOO_LARGE:
            raise DataError(path, f"a value is beyond {TOO_LARGE:g}, too large to compute with: mend it")
        return
    if not rows.X.shape[0]:
        return
    for name, values in _numbers(rows, names):
        # Faster than abs, which makes a copy; a NaN is neither.
        if values.max() > TOO_LARGE or values.min() < -TOO_LARGE:
            row = int(np.argmax(np.abs(values) > TOO_LARGE))
            called = f"column {name!r}" if isinstance(name, str) else f"column {name}"
            raise DataError(
                path,
                f"{called} has {values[row]:g} in row {row + 1:,}, which is too large to compute with: mend "
                "it, or leave the row out",
            )


def _numbers(rows: Rows, given: Sequence[str] | None) -> Iterator[tuple[Any, NDArray[np.float64]]]:
    """The columns of numbers, without what is missing, that have any."""
    if isinstance(rows.X, Table):
        for column in rows.X.columns:
            if column.kind != "category":
                values = column.values[column.values == column.values] if column.n_missing else column.values
                if len(values):
                    yield column.name, values
        return
    names: Any = range(rows.X.shape[1]) if given is None else given
    yield from zip(names, rows.X.T, strict=True)


def _squeezed(values: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether all but the outermost values, one in a thousand at either end, are close together."""
    k = max(1, len(values) // 1000)
    if len(values) < 2 * k + 2:
        return False
    inner = np.partition(values, (k, len(values) - 1 - k))
    width = inner[len(values) - 1 - k] - inner[k]
    return bool(0 < width < SQUEEZED * (high - low))
