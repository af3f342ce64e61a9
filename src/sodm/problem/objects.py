"""Rows that are no numbers (strings, graphs, series of any length), for kernels that are functions.

Such rows are numbered, and the machine works on their numbers; the function is handed the objects themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def objects_of(kernel: Any, X: Any) -> list[Any] | None:
    """The rows of X as a list, if they are no numbers and the kernel is a function; None otherwise.

    Examples
    --------
    >>> objects_of(lambda a, b: 1.0, ["GATTACA", "CAT"])
    ['GATTACA', 'CAT']
    >>> objects_of(lambda a, b: 1.0, [[1.0, 2.0], [3.0, 4.0]]) is None
    True
    """
    if not callable(kernel) or not (isinstance(X, list | tuple) or _flat_objects(X)) or len(X) == 0:
        return None
    try:
        if np.asarray(X, dtype=np.float64).ndim == 2:
            return None
    except (TypeError, ValueError):
        pass
    return list(X)


def numbered(n: int) -> NDArray[np.float64]:
    """Rows that stand for the first n objects of a list."""
    return np.arange(n, dtype=np.float64)[:, None]


def as_rows(objects: Sequence[Any]) -> NDArray[Any]:
    """Objects as rows that an `ObjectKernel` takes as they are."""
    rows = np.empty((len(objects), 1), dtype=object)
    for k, each in enumerate(objects):
        rows[k, 0] = each
    return rows


class ObjectKernel:
    """A kernel function of objects, for rows that are their numbers in a list, or the objects themselves.

    Examples
    --------
    >>> shared = ObjectKernel(lambda A, B: [[len(set(a) & set(b)) for b in B] for a in A], ["abc", "bcd"])
    >>> shared(numbered(2), as_rows(["b", "xyz"]))
    [[1, 0], [1, 0]]
    """

    def __init__(self, function: Callable[[Any, Any], Any], objects: list[Any]) -> None:
        self.function, self.objects = function, objects

    def __call__(self, A: NDArray[Any], B: NDArray[Any]) -> Any:
        return self.function(self._named(A), self._named(B))

    def _named(self, rows: NDArray[Any]) -> list[Any]:
        values = rows[:, 0].tolist()
        return values if rows.dtype == object else [self.objects[int(k)] for k in values]


def _flat_objects(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "OUS"
