"""What readers of tables share: which column is the label, and columns turned into rows of numbers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sodm.data.errors import DataError

LABEL_NAMES = ("label", "labels", "class", "target", "y")
ENCODE = (
    "features must be numbers; turn categories into numbers first (scikit-learn's OneHotEncoder or "
    "pandas.get_dummies do), or name the right label column"
)
FILL = "fill missing values in first (scikit-learn's SimpleImputer does)"


def label_column(
    path: str | os.PathLike[str], label: str | int | None, names: Sequence[str] | None, n_columns: int
) -> int:
    """The number of the label column, -1 if there is none.

    `label` is a name, a number (from 0, or negative from the end), None for no labels, or "auto": the one
    column named label, labels, class, target or y, in upper or lower case. Nothing is guessed beyond that.
    """
    if label is None:
        return -1
    if isinstance(label, int):
        if not -n_columns <= label < n_columns:
            raise DataError(path, f"there is no column {label}, only {n_columns} columns, counted from 0")
        return label % n_columns
    listed = list(names) if names is not None else []
    if label in listed:
        return listed.index(label)
    if label != "auto":
        nameless = "its columns have no names, use a number, or header=True if the first line has them"
        have = f"its columns are {_listed(listed)}" if listed else nameless
        raise DataError(path, f"there is no column named {label!r}: {have}")
    found = [k for k, name in enumerate(listed) if name.strip().lower() in LABEL_NAMES]
    if len(found) == 1:
        return found[0]
    nameless = f"it has {n_columns} columns without names (if the first line has them, header=True)"
    have = f"its columns are {_listed(listed)}" if listed else nameless
    raise DataError(
        path,
        f"which column has the labels? {have}; say label=NAME or label=NUMBER (from 0), or "
        f"label=None if none",
    )


def has_names(fields: Sequence[str], label: str | int | None, is_number: Callable[[str], bool]) -> bool:
    """Whether a first line has the names of the columns: the label's is among them, or none is a number.

    Names may be numbers, such as years, or read as one ("nan", "inf"): the label tells.
    """
    return label in fields or not any(map(is_number, fields))


def check_different(path: str | os.PathLike[str], names: Sequence[str]) -> None:
    """Refuse names that two columns have."""
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        named = (
            f"are named {twice!r}" if twice else "have no name (separators at the ends of lines make such)"
        )
        raise DataError(path, f"two columns {named}: give each its own name")


def check_finite(path: str | os.PathLike[str], X: NDArray[np.float64], names: Sequence[str] | None) -> None:
    """Refuse NaN and infinity, naming the first."""
    finite = np.isfinite(X)
    if not finite.all():
        row, column = (int(k) for k in np.argwhere(~finite)[0])
        where = f"column {names[column]!r}" if names else f"column {column}"
        raise DataError(
            path, f"row {row} of {where} (from 0) is {X[row, column]}, not a finite number: {FILL}"
        )


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, and {len(names) - most} more"
