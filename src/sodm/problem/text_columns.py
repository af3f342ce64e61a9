"""Text and dates among numbers, refused with the column and the remedy; scikit-learn names neither."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np


def refuse_text(X: Any) -> Any:
    """X, a frame, an array or a list; ValueError if a column has dates, or text that is no number.

    Examples
    --------
    >>> refuse_text([[1.0, "red"], [2.0, "blue"]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: column 1 of X holds text ('red'): encode categories first, for example by ...
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # pandas and polars
        for name in X.columns:
            if getattr(X[name].dtype, "kind", "O") not in "biufc":
                _refuse(repr(name), repr(name), X[name])
    elif isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and X.ndim == 2:
        for k in range(X.shape[1]):
            _refuse(str(k), str(k), X[:, k])
    elif isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple):
        for k, value in enumerate(X[0]):
            if isinstance(value, str):
                _refuse(str(k), str(k), [value])
    return X


def refuse_text_targets(y: Any, name: str) -> Any:
    """y as it is; ValueError if it holds text that is no number, where the machine `name` takes numbers.

    Examples
    --------
    >>> refuse_text_targets(["1.5", "high"], "ODMRegressor")
    Traceback (most recent call last):
    ValueError: y holds text ('high'), and ODMRegressor learns numbers: for classes take ODMClassifier.
    """
    values = np.asarray(y)
    found = next(filter(_is_text, values.ravel().tolist()), None) if values.dtype.kind in "OUS" else None
    if found is not None:
        other = name.replace("Regressor", "Classifier")
        raise ValueError(f"y holds text ({found!r}), and {name} learns numbers: for classes take {other}.")
    return y


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _refuse(column: str, named: str, values: Any) -> None:
    for value in values:
        if _is_text(value):
            raise ValueError(
                f"column {column} of X holds text ({value!r}): encode categories first, for example by "
                "make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore'), "
                f"[{named}]), remainder='passthrough'), machine)."
            )
        if isinstance(value, date | timedelta | np.datetime64 | np.timedelta64):
            raise ValueError(
                f"column {column} of X holds dates or times ({value}): put what matters of them into columns "
                "of numbers first, such as days since the first date, month, weekday or hour."
            )
