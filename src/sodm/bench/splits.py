"""Scaling and splitting as in the paper, and two splits that do not leak.

random    all rows scaled to [0, 1] together, a random 80 % to train on: the paper's
official  the published training and test parts, scaled by the training part
distinct  random, but rows that are equal stay together: no test row was trained on
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

TRAIN_SHARE = 0.8
MANY_ROWS = 1_000_000  # a machine of so many rows decides slowly,
TEST_ROWS = 20_000  # so that it is measured on some of the test rows
SPLITS = ("random", "official", "distinct")


@dataclass(frozen=True)
class Data:
    """A data set as it was read.

    Attributes
    ----------
    X, y : ndarrays
        The rows of the set, float32, and labels, of +-1 where there are two.
    official : int or None
        How many of the rows, the first ones, are the official training part; the others are its test part.
    X_more, y_more : ndarrays or None
        Official test rows that the set of the paper does not have.
    """

    X: NDArray[np.float32]
    y: NDArray[Any]
    official: int | None = None
    X_more: NDArray[np.float32] | None = None
    y_more: NDArray[Any] | None = None


@dataclass(frozen=True)
class Split:
    """Rows to train on and rows to measure accuracy on, features in [0, 1]."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    X_test: NDArray[np.float32]
    y_test: NDArray[Any]


def split(data: Data, how: str, seed: int, rows: int | None = None) -> Split:
    """Divide a data set.

    Parameters
    ----------
    data : Data
    how : {"random", "official", "distinct"}
    seed : int
        Of the random choice; "official" takes it for the choice of `rows` only.
    rows : int or None
        At most so many training rows, and a quarter of it test rows: for quick runs.
    """
    rng = np.random.default_rng(seed)
    if how == "official":
        X, y, X_test, y_test = _official(data)
        low, high = X.min(axis=0), X.max(axis=0)
        train, test = rng.permutation(len(y)), rng.permutation(len(y_test))
        X, X_test = _scaled(X, low, high), _scaled(X_test, low, high)
    else:
        order = rng.permutation(len(data.y)) if how == "random" else _together(data.X, rng)
        at = int(TRAIN_SHARE * len(data.y))
        train, test = order[:at], order[at:]
        if how == "distinct":  # the group that the cut goes through belongs to the training rows
            train, test = (rng.permutation(side) for side in _whole_groups(data.X, order, at))
        X = X_test = _scaled(data.X, data.X.min(axis=0), data.X.max(axis=0))
        y = y_test = data.y
    if rows is not None:
        train, test = train[:rows], test[: rows // 4]
    if len(train) > MANY_ROWS:
        test = test[:TEST_ROWS]
    return Split(X[train], y[train], X_test[test], y_test[test])


def distinct_groups(X: NDArray[np.float32]) -> NDArray[np.intp]:
    """A number for each row, the same for rows with the same features."""
    order = np.lexsort(X.T)
    new = np.any(X[order[1:]] != X[order[:-1]], axis=1)
    group = np.empty(len(X), dtype=np.intp)
    group[order] = np.concatenate([[0], np.cumsum(new)])
    return group


def _official(data: Data) -> tuple[Any, Any, Any, Any]:
    if data.official is None:
        raise ValueError("this data set has no official training and test parts.")
    at = data.official
    X_test, y_test = data.X[at:], data.y[at:]
    if data.X_more is not None and data.y_more is not None:
        X_test, y_test = np.vstack([X_test, data.X_more]), np.concatenate([y_test, data.y_more])
    return data.X[:at], data.y[:at], X_test, y_test


def _scaled(X: NDArray[np.float32], low: Any, high: Any) -> NDArray[np.float32]:
    return ((X - low) / np.where(high > low, high - low, 1)).astype(np.float32)


def _together(X: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.intp]:
    """All rows, equal ones next to each other, the groups in random order."""
    group = distinct_groups(X)
    return np.argsort(rng.permutation(group.max() + 1)[group], kind="stable")


def _whole_groups(
    X: NDArray[np.float32], order: NDArray[np.intp], at: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    while at < len(order) and np.array_equal(X[order[at]], X[order[at - 1]]):
        at += 1
    return order[:at], order[at:]
