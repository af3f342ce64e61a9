"""Generated data: a problem that is hard enough to tell machines apart, and one that can be looked at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

Array = NDArray[np.float64]

FEATURES, NOISE = 4, 0.1
TEST_SHARE = 0.25


class Split(NamedTuple):
    """Rows to learn from and rows to test on, features in [0, 1] by the former."""

    X_train: Array
    y_train: NDArray[Any]
    X_test: Array
    y_test: NDArray[Any]


def waves(rows: int, seed: int) -> Split:
    """Two waves that run across each other, with noise: is their sum above zero or not?

    The border winds through all of the square of the first two features and shifts with the third, so that
    every row tells of its own neighbourhood; the fourth tells nothing.
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, FEATURES))
    one, other = X[:, 0] + X[:, 2] / 2, X[:, 1] - X[:, 2] / 2
    value = np.sin(4 * np.pi * one) + np.sin(4 * np.pi * other) + NOISE * rng.standard_normal(rows)
    y = (value > 0).astype(np.int64)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=TEST_SHARE, random_state=seed, stratify=y
    )
    scaler = MinMaxScaler(clip=True).fit(X_train)
    return Split(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)


def spirals(rows: int, seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Two spirals in the plane, one in each other's gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    turn = 3 * np.pi * np.sqrt(rng.uniform(0.02, 1, rows))  # the root spreads the rows evenly along the arm
    arm = turn + np.pi * y
    X = turn[:, None] * np.column_stack([np.cos(arm), np.sin(arm)]) + rng.normal(scale=0.55, size=(rows, 2))
    return MinMaxScaler().fit_transform(X), y
