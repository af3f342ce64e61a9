"""What readers return: rows, labels, names of features."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.data.limits import Limit

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Dataset:
    """Rows and labels; ``X, y = dataset`` works.

    Attributes
    ----------
    X : ndarray or CSR matrix of float64, shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or None
        int64 if all labels are integers, float64 if all are numbers, else the names as they were written;
        None if the file has no labels.
    feature_names : tuple of str, or None

    Examples
    --------
    >>> import numpy as np
    >>> X, y = Dataset(np.eye(2), np.array([1, -1]))
    >>> y.tolist()
    [1, -1]
    """

    X: Any
    y: NDArray[Any] | None
    feature_names: tuple[str, ...] | None = None

    def __iter__(self) -> Iterator[Any]:
        yield self.X
        yield self.y


def labels_from_text(
    names: Sequence[str], numbers: NDArray[np.int32], limit: Limit | None = None
) -> NDArray[Any]:
    """One label per row, from the different labels as written and each row's number among them.

    Raises
    ------
    DataError
        If they take more memory than the `limit` of the file allows.

    Examples
    --------
    >>> import numpy as np
    >>> labels_from_text(["+1", "-1"], np.array([0, 1, 0])).tolist()
    [1, -1, 1]
    >>> labels_from_text(["1", "cat"], np.array([0, 1])).tolist()
    ['1', 'cat']
    """
    values: NDArray[Any]
    if all(_INTEGER.fullmatch(name) for name in names):
        values = np.array([int(name) for name in names], dtype=np.int64)
    elif all(_NUMBER.fullmatch(name) and np.isfinite(float(name)) for name in names):
        values = np.array([float(name) for name in names])
    else:
        if limit is not None:
            check_label_bytes(names, len(numbers), limit)
        values = np.array(names, dtype=np.str_)
    return values[numbers]


def check_label_bytes(names: Sequence[str], n_rows: int, limit: Limit) -> None:
    """Refuse labels that are too much for memory: every row's takes as much as the longest."""
    longest = max((len(name) for name in names), default=0)
    limit.check(4 * longest * max(n_rows, len(names)), f"labels, the longest of {longest:,} letters, come")
