"""What the header of a model file says, written and read: parameters, labels, the kernel.

Of each entry there are two functions: `..._out` makes JSON of it, `..._in` takes nothing for granted and
raises ValueError with a reason where the entry makes no sense.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.model import container
from sodm.problem.evaluator import Precision
from sodm.problem.kernels import KERNELS, Kernel

_LABEL_TYPE = re.compile(r"[<|](?:[iu][1248]|f[48]|b1|U[0-9]{1,6})")


def parameters_out(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a machine, as `get_params` gives them."""
    if callable(parameters.get("kernel")):
        raise TypeError(
            "a kernel that is a Python function cannot be saved without running code at loading: use a "
            "kernel by name, or pickle the machine."
        )
    stored: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if name == "random_state" and not isinstance(value, int | np.integer | None):
            value = None
        if isinstance(value, dict):  # JSON has text as keys only
            value = {"pairs": [[plain(k), plain(v)] for k, v in value.items()]}
        stored[name] = plain(value)
    return stored


def parameters_in(parameters: Any) -> dict[str, Any]:
    """The parameters that the machine is made with, which checks them."""
    if not isinstance(parameters, dict):
        raise ValueError("there are no parameters")
    return {
        name: dict(value["pairs"]) if isinstance(value, dict) else value for name, value in parameters.items()
    }


def labels_out(classes: NDArray[Any]) -> dict[str, Any]:
    """The labels, and of which type they are."""
    if classes.dtype == object and all(isinstance(label, str) for label in classes):
        classes = classes.astype(np.str_)
    kind = classes.dtype.newbyteorder("<").str
    if not _LABEL_TYPE.fullmatch(kind):
        raise TypeError(f"labels of type {classes.dtype} cannot be saved: use numbers or text.")
    return {"dtype": kind, "values": classes.tolist()}


def labels_in(entry: Any) -> NDArray[Any]:
    """The labels: two or more different ones in order, of a type that holds them."""
    kind, values = entry["dtype"], entry["values"]
    if not (isinstance(kind, str) and _LABEL_TYPE.fullmatch(kind) and isinstance(values, list)):
        raise ValueError("the classes have no proper type")
    width = int(kind[2:]) * 4 if kind[1] == "U" else 8
    if width * len(values) > container.MOST_HEADER_BYTES * 4 or not all(
        isinstance(v, str if kind[1] == "U" else int | float) for v in values
    ):
        raise ValueError("the classes are not of their type")
    classes = np.array(values, dtype=kind)
    if classes.tolist() != values:
        raise ValueError("the classes are not of their type")
    if len(classes) < 2 or len(np.unique(classes)) != len(classes) or np.any(classes != np.sort(classes)):
        raise ValueError("the classes are not two or more different labels in order")
    return classes


def targets_out(machine: Any) -> dict[str, Any] | None:
    """How many targets a regressor has, and whether they came as one column; None of a classifier."""
    if hasattr(machine, "classes_"):
        return None
    return {"count": len(machine.intercept_), "flat": bool(machine._flat)}


def targets_in(entry: Any) -> tuple[int, bool]:
    """The number of targets, and whether they are one column."""
    count, flat = entry["count"], entry["flat"]
    proper = isinstance(count, int) and not isinstance(count, bool) and 1 <= count < 2**31
    if not (proper and isinstance(flat, bool) and (count == 1 or not flat)):
        raise ValueError("the targets are not a number of columns")
    return count, flat


def kernel_out(kernel: Kernel, precision: Precision) -> dict[str, Any]:
    """A kernel by name, its numbers, and the precision of its values."""
    return {
        "name": kernel.name,
        "gamma": float(kernel.gamma),
        "degree": int(kernel.degree),
        "coef0": float(kernel.coef0),
        "precision": precision,
    }


def kernel_in(entry: Any) -> tuple[Kernel, Precision]:
    """The kernel, and the precision of its values."""
    kernel = Kernel(entry["name"], entry["gamma"], entry["degree"], entry["coef0"])
    precision: Precision = entry["precision"]
    numbers = (kernel.gamma, kernel.degree, kernel.coef0)
    if (
        kernel.name not in KERNELS
        or precision not in ("single", "double")
        or not all(
            isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in numbers
        )
        or not isinstance(kernel.degree, int)
        or not 0 <= kernel.degree < 2**31
        or kernel.gamma < 0
    ):
        raise ValueError("the kernel is not one with finite parameters")
    return replace(kernel, gamma=float(kernel.gamma), coef0=float(kernel.coef0)), precision


def plain(value: Any) -> Any:
    """The same in JSON's types; TypeError if there is no such."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    raise TypeError(f"{value!r} cannot be stored in a model file.")
