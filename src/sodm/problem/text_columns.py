"""Text among the features, refused with the column and the remedy; scikit-learn names neither."""

from __future__ import annotations

from typing import Any

import numpy as np


def refuse_text(X: Any) -> Any:
    """X as it is; ValueError if it is a frame, an array or a list with text that is no number in a column.

    Examples
    --------
    >>> refuse_text([[1.0, "red"], [2.0, "blue"]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: column 1 of X holds text ('red'): encode categories first, for example by ...
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # pandas and polars
        for name in X.columns:
            if getattr(X[name].dtype, "kind", "O") not in "biufcmM":
                _refuse(repr(name), repr(name), X[name])
    elif isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and X.ndim == 2:
        for k in range(X.shape[1]):
            _refuse(str(k), str(k), X[:, k])
    elif isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple):
        for k, value in enumerate(X[0]):
            if isinstance(value, str):
                _refuse(str(k), str(k), [value])
    return X


def _refuse(column: str, named: str, values: Any) -> None:
    for value in values:
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                raise ValueError(
                    f"column {column} of X holds text ({value!r}): encode categories first, for example by "
                    "make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore'), "
                    f"[{named}]), remainder='passthrough'), machine)."
                ) from None
