"""scikit-learn's scalers as plain numbers: all of them are x -> x * factor + shift, feature by feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

SCALERS: dict[str, type] = {"minmax": MinMaxScaler, "standard": StandardScaler, "maxabs": MaxAbsScaler}
_ARRAYS = {
    "minmax": ("scale_", "min_", "data_min_", "data_max_", "data_range_"),
    "standard": ("scale_", "mean_", "var_"),
    "maxabs": ("scale_", "max_abs_"),
}
_PARAMETERS = {
    "minmax": ("feature_range", "clip"),
    "standard": ("with_mean", "with_std"),
    "maxabs": ("clip",),
}


def kind_of(scaler: Any) -> str | None:
    """The name under which a scaler is stored, None if it is not one of scikit-learn's three."""
    return next((kind for kind, cls in SCALERS.items() if type(scaler) is cls), None)


def take_apart(scaler: Any) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
    """A header entry and arrays from which `put_together` makes the same scaler."""
    kind = kind_of(scaler)
    assert kind is not None
    parameters = {name: value for name, value in scaler.get_params().items() if name in _PARAMETERS[kind]}
    if "feature_range" in parameters:
        parameters["feature_range"] = [float(end) for end in parameters["feature_range"]]
    arrays = {
        f"scaler.{name.rstrip('_')}": np.asarray(getattr(scaler, name), dtype=np.float64)
        for name in _ARRAYS[kind]
        if getattr(scaler, name, None) is not None
    }
    seen = int(np.max(scaler.n_samples_seen_))
    return {"kind": kind, "parameters": parameters, "n_samples_seen": seen}, arrays


def put_together(entry: Any, array: Callable[[str], NDArray[Any]], held: set[str], n_features: int) -> Any:
    """The scaler of a header entry; ValueError with a reason if the entry makes no sense."""
    if not isinstance(entry, dict) or entry.get("kind") not in SCALERS:
        raise ValueError("the scaler is of no known kind")
    kind, parameters = entry["kind"], entry.get("parameters")
    if not isinstance(parameters, dict) or not set(parameters) <= set(_PARAMETERS[kind]):
        raise ValueError("the scaler has parameters that are not its own")
    if "feature_range" in parameters:
        ends = parameters["feature_range"]
        if not (isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, float) for end in ends)):
            raise ValueError("the scaler has no proper range")
        parameters = {**parameters, "feature_range": tuple(ends)}
    if not all(isinstance(v, bool) for name, v in parameters.items() if name != "feature_range"):
        raise ValueError("the scaler has parameters of the wrong type")
    scaler = SCALERS[kind](**parameters)
    for name in _ARRAYS[kind]:
        stored = f"scaler.{name.rstrip('_')}"
        if stored not in held:
            setattr(scaler, name, None)  # as StandardScaler has it without mean or without deviation
            continue
        values = array(stored)
        if values.shape != (n_features,) or values.dtype != np.float64 or not np.isfinite(values).all():
            raise ValueError(f"{stored} is not one finite number per feature")
        setattr(scaler, name, values)
    if kind != "standard" and any(getattr(scaler, name) is None for name in _ARRAYS[kind]):
        raise ValueError("the scaler lacks an array")
    seen = entry.get("n_samples_seen")
    if not isinstance(seen, int) or seen < 0:
        raise ValueError("the scaler does not say how many rows it has seen")
    scaler.n_samples_seen_, scaler.n_features_in_ = seen, n_features
    return scaler


def affine(scaler: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """factor and shift of x -> x * factor + shift; ValueError if the scaler clips.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> factor, shift = affine(MinMaxScaler().fit([[0.0], [4.0]]))
    >>> (factor * 2.0 + shift).tolist()
    [0.5]
    """
    kind = kind_of(scaler)
    if kind is None:
        raise ValueError(
            f"{type(scaler).__name__} cannot be converted, only scalers can: convert the machine alone "
            "(model[-1]), and give it rows that are prepared already."
        )
    if getattr(scaler, "clip", False):
        raise ValueError("a scaler with clip=True cannot be converted: fit it with clip=False.")
    one = np.ones(scaler.n_features_in_)
    if kind == "minmax":
        return scaler.scale_.copy(), scaler.min_.copy()
    if kind == "maxabs":
        return one / scaler.scale_, 0 * one
    factor = one / scaler.scale_ if scaler.with_std else one
    return factor, -scaler.mean_ * factor if scaler.with_mean else 0 * one
