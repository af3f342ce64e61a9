"""Classes or numbers: what a label column asks for."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.data import DataError

MOST_CLASSES = 50  # up to so many different whole numbers are classes, whatever their share of the rows
LARGEST = 1e100  # the square of a label, and sums of such, are still numbers
ROWS_OF_A_CLASS = 10  # on average; more different whole numbers than that allows are no classes


def task_of(y: NDArray[Any], asked: str = "auto") -> tuple[str, str]:
    """Whether to learn classes or numbers, and why.

    Text is classes, and so are two different values, and whole numbers that repeat. Numbers with fractions
    are numbers, and whole ones of which there are many: more than MOST_CLASSES, and fewer than
    ROWS_OF_A_CLASS rows for each.

    Examples
    --------
    >>> import numpy as np
    >>> task_of(np.array(["yes", "no", "yes"]))
    ('classification', 'the labels are text')
    >>> task_of(np.array([0.5, 1.25, 3.0]))
    ('regression', 'the labels are numbers with fractions')
    >>> task_of(np.array([1.0, 2.0, 3.0, 3.0]))
    ('classification', 'the labels are 3 different whole numbers')
    >>> task_of(np.arange(300))
    ('regression', 'the labels are 300 different whole numbers in 300 rows')
    """
    if asked != "auto":
        return asked, "--task says so"
    if y.dtype.kind not in "iuf":
        return "classification", "the labels are text"
    values = np.unique(y)
    if len(values) <= 2:
        return "classification", f"the labels are {len(values)} different numbers"
    if np.any(values != np.floor(values)):
        return "regression", "the labels are numbers with fractions"
    many = f"the labels are {len(values):,} different whole numbers"
    if len(values) > MOST_CLASSES and len(values) * ROWS_OF_A_CLASS > len(y):
        return "regression", f"{many} in {len(y):,} rows"
    return "classification", many


def said(task: str, because: str, asked: str) -> tuple[str, ...]:
    """A line for those who may have meant classes."""
    if asked != "auto" or task != "regression":
        return ()
    return (f"regression, because {because}; for classes say --task classification",)


def numbers(path: str, y: NDArray[Any]) -> NDArray[np.float64]:
    """Labels as numbers; DataError if they are none."""
    if y.dtype.kind not in "iuf":
        odd = y[np.isnan(as_numbers(y))][0]
        raise DataError(path, f"the labels are text, such as {str(odd)!r}, and regression needs numbers")
    if not np.isfinite(y).all():
        raise DataError(path, "a label is not a finite number, which regression needs")
    largest = np.abs(y).max(initial=0)
    if largest > LARGEST:
        raise DataError(
            path, f"a label has the size {largest:g}, too large to compute with: give labels in a larger unit"
        )
    return y.astype(np.float64)


def as_numbers(texts: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers that labels are, NaN where one is none.

    Examples
    --------
    >>> import numpy as np
    >>> as_numbers(np.array(["1.5", "n.a.", "2"])).tolist()
    [1.5, nan, 2.0]
    """
    found = np.full(len(texts), np.nan)
    for k, text in enumerate(texts):
        with suppress(ValueError):
            found[k] = float(text)
    return found
