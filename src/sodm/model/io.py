"""Save a fitted machine to a `.sodm` file, and load it: one file, no pickle, no code run."""

from __future__ import annotations

import math
import os
import re
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from sodm.model import container
from sodm.model.errors import ModelFileError
from sodm.model.scalers import kind_of, put_together, take_apart
from sodm.problem.evaluator import Precision
from sodm.problem.kernels import KERNELS, Kernel
from sodm.training.regions import Regions

# The machines a file may name, and where they are. A file can name nothing else.
MACHINES = {
    "ODMClassifier": "sodm.estimators.odm",
    "LinearODMClassifier": "sodm.estimators.linear",
    "SODMClassifier": "sodm.estimators.sodm",
    "CascadeClassifier": "sodm.estimators.cascade",
    "DiPClassifier": "sodm.estimators.dip",
    "DCClassifier": "sodm.estimators.dc",
}
NUMBERS_OF_THE_FIT = (
    *("n_iter_", "dual_gap_", "violation_", "objective_", "n_kernel_evaluations_"),
    *("gradient_norm_", "solver_", "stop_reason_"),
)

_LABEL_TYPE = re.compile(r"[<|](?:[iu][1248]|f[48]|b1|U[0-9]{1,6})")


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    summary: dict[str, Any] | None = None,
    margins: ArrayLike | None = None,
) -> None:
    """Save a fitted machine, alone or behind a scaler.

    Parameters
    ----------
    model : fitted machine, or Pipeline of a scaler and a machine
        The machine is one of `MACHINES`. The scaler is scikit-learn's MinMaxScaler, StandardScaler or
        MaxAbsScaler. A kernel that is a Python function cannot be saved.
    path : path
        Usually ending in ``.sodm``. An old file is replaced only when the new one is on the disk.
    summary : dict, optional
        What to remember of the training: text, numbers, lists and dictionaries of them.
    margins : array-like, optional
        Margins y f(x) to remember, for a picture later.

    Notes
    -----
    A `random_state` that is a generator is not kept: the saved parameters have None instead. Nor are
    `history_` and the rows that `partial_fit` of a linear machine remembers.

    Examples
    --------
    >>> import tempfile, os, sodm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = sodm.ODMClassifier().fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.sodm")
    >>> sodm.save(machine, path)
    >>> (sodm.load(path).predict(X) == machine.predict(X)).all()
    np.True_
    """
    scaler, machine = split(model)
    check_is_fitted(machine)
    name = type(machine).__name__
    header: dict[str, Any] = {
        "library": _library_version(),
        "machine": name,
        "parameters": _parameters_out(machine.get_params(deep=False)),
        "classes": _labels_out(machine.classes_),
        "n_features": int(machine.n_features_in_),
        "feature_names": _names_of(model, machine),
        "kernel": _kernel_out(machine) if _has_kernel(machine) else None,
        "sparse": bool(_has_kernel(machine) and sparse.issparse(machine.support_vectors_)),
        "fit": {k: _plain(getattr(machine, k)) for k in NUMBERS_OF_THE_FIT if hasattr(machine, k)},
        "scaler": None,
        "summary": _plain(summary or {}),
    }
    arrays: dict[str, NDArray[Any]] = {"intercept": np.asarray(machine.intercept_, dtype=np.float64)}
    if hasattr(machine, "coef_"):
        arrays["coef"] = np.asarray(machine.coef_)
    if _has_kernel(machine):
        arrays["support"] = np.asarray(machine.support_, dtype=np.int64)
        arrays["dual_coef"] = np.asarray(machine.dual_coef_, dtype=np.float64)
        arrays |= _rows_out("sv", machine.support_vectors_)
    if _regions_of(machine) is not None:
        arrays |= _regions_out(machine)
    if scaler is not None:
        header["scaler"], scaling = take_apart(scaler)
        arrays |= scaling
    if margins is not None:
        arrays["margins"] = np.asarray(margins, dtype=np.float64).ravel()
    container.write(path, header, arrays)


def load(path: str | os.PathLike[str], *, mmap: bool = True) -> Any:
    """Load a machine that `save` saved.

    Nothing in the file is run as code; every size and checksum is checked before it is used.

    Parameters
    ----------
    path : path
    mmap : bool, default=True
        Leave the support vectors in the file and map them into memory, read-only. False reads them.

    Returns
    -------
    the machine, or Pipeline of a scaler and the machine
        It predicts what the saved one did, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, or of a later version.
    """
    with container.Reader(path) as reader:
        try:
            return _build(reader, mmap)
        except ModelFileError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise reader.fail(f"the header makes no sense ({error})") from error


def expansion(machine: Any) -> tuple[Kernel, Any, NDArray[np.float64], NDArray[np.float64]]:
    """A machine as a sum over support vectors: kernel, vectors, coefficients and intercepts.

    A linear decision is one vector per class, its coefficients.
    """
    if _regions_of(machine) is not None:
        raise ValueError(
            "a DCClassifier with early=True decides each row by the machine of its nearest cluster, which is "
            "no one sum over support vectors: fit it with early=False to convert it."
        )
    if _has_kernel(machine) and machine._fitted_kernel.name != "linear":
        return machine._fitted_kernel, machine.support_vectors_, machine.dual_coef_, machine.intercept_
    coefficients = np.asarray(machine.coef_, dtype=np.float64)
    return Kernel("linear"), coefficients, np.eye(len(coefficients)), machine.intercept_


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says about itself: the header, without the arrays.

    Parameters
    ----------
    path : path

    Returns
    -------
    dict
        Among its keys: ``machine``, ``library`` (the version that wrote it), ``parameters``, ``classes``,
        ``n_features``, ``feature_names``, ``kernel``, ``scaler``, ``fit``, ``summary``, and ``arrays``, with
        type, shape and checksum of each.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, or of a later version.
    """
    with container.Reader(path) as reader:
        return reader.header


def stored_margins(path: str | os.PathLike[str]) -> NDArray[np.float64] | None:
    """The margins that were saved with a model, None if there are none."""
    with container.Reader(path) as reader:
        return reader.array("margins") if "margins" in reader.header["arrays"] else None


def split(model: Any) -> tuple[Any | None, Any]:
    """The scaler, or None, and the machine that a model consists of."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    steps = [step for step in steps if step is not None and step != "passthrough"]
    if not steps or type(steps[-1]).__name__ not in MACHINES:
        raise TypeError(
            f"only {', '.join(MACHINES)} can be saved, alone or behind a scaler; got {type(model).__name__}."
        )
    if len(steps) > 2 or (len(steps) == 2 and kind_of(steps[0]) is None):
        raise TypeError(
            "only one step may come before the machine, a MinMaxScaler, StandardScaler or MaxAbsScaler; got "
            + ", ".join(type(step).__name__ for step in steps[:-1])
            + ": pickle such a pipeline instead."
        )
    return (steps[0] if len(steps) == 2 else None), steps[-1]


# ------------------------------------------------------------------------------------- writing, in detail


def _has_kernel(machine: Any) -> bool:
    """Whether the machine is a sum over support vectors, rather than one vector of coefficients."""
    return hasattr(machine, "support_vectors_")


def _regions_of(machine: Any) -> Any | None:
    """The clusters of a machine that decides by the nearest one, None for all others."""
    return getattr(machine, "_regions", None)


def _regions_out(machine: Any) -> dict[str, NDArray[Any]]:
    regions = machine._regions
    return {
        **_rows_out("regions.rows", regions.rows),
        "regions.means": regions.means,
        "regions.half_norms": regions.half_norms,
        "regions.of_support": np.asarray(machine._region_of_support, dtype=np.int64),
    }


def _rows_out(name: str, rows: Any) -> dict[str, NDArray[Any]]:
    """A dense array as it is, a CSR matrix as its three arrays."""
    if not sparse.issparse(rows):
        return {name: np.asarray(rows)}
    return {f"{name}.data": rows.data, f"{name}.indices": rows.indices, f"{name}.indptr": rows.indptr}


def _library_version() -> str:
    from sodm import __version__

    return __version__


def _names_of(model: Any, machine: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    names = getattr(machine, "feature_names_in_", None) if names is None else names
    return None if names is None else [str(name) for name in names]


def _parameters_out(parameters: dict[str, Any]) -> dict[str, Any]:
    if callable(parameters.get("kernel")):
        raise TypeError(
            "a kernel that is a Python function cannot be saved without running code at loading: "
            "use a kernel by "
            "name, or pickle the machine."
        )
    plain: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if name == "random_state" and not isinstance(value, int | np.integer | None):
            value = None
        if isinstance(value, dict):  # JSON has text as keys only
            value = {"pairs": [[_plain(k), _plain(v)] for k, v in value.items()]}
        plain[name] = _plain(value)
    return plain


def _labels_out(classes: NDArray[Any]) -> dict[str, Any]:
    if classes.dtype == object and all(isinstance(label, str) for label in classes):
        classes = classes.astype(np.str_)
    kind = classes.dtype.newbyteorder("<").str
    if not _LABEL_TYPE.fullmatch(kind):
        raise TypeError(f"labels of type {classes.dtype} cannot be saved: use numbers or text.")
    return {"dtype": kind, "values": classes.tolist()}


def _kernel_out(machine: Any) -> dict[str, Any]:
    kernel = machine._fitted_kernel
    return {
        "name": kernel.name,
        "gamma": float(kernel.gamma),
        "degree": int(kernel.degree),
        "coef0": float(kernel.coef0),
        "precision": machine._fitted_precision,
    }


def _plain(value: Any) -> Any:
    """The same in JSON's types; TypeError if there is no such."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    raise TypeError(f"{value!r} cannot be stored in a model file.")


# ------------------------------------------------------------------------------------- reading, in detail


def _build(reader: container.Reader, mmap: bool) -> Any:
    header, held = reader.header, set(reader.header["arrays"])
    name = header.get("machine")
    if name not in MACHINES:
        raise ValueError(f"it names the machine {str(name)[:60]!r}, which this sodm does not have")
    machine = getattr(import_module(MACHINES[name]), name)(**_parameters_in(header["parameters"]))
    machine._check_parameters()
    n_features = header["n_features"]
    if not isinstance(n_features, int) or isinstance(n_features, bool) or n_features < 1:
        raise ValueError("n_features is not a number of features")
    machine.classes_ = _labels_in(header["classes"])
    machine.n_features_in_ = n_features
    for attribute in NUMBERS_OF_THE_FIT:
        if attribute in header["fit"]:
            value = header["fit"][attribute]
            setattr(machine, attribute, np.asarray(value) if isinstance(value, list) else value)

    n_machines = 1 if len(machine.classes_) == 2 else len(machine.classes_)
    machine.intercept_ = reader.array("intercept")
    if machine.intercept_.shape != (n_machines,):
        raise ValueError("the intercepts are not one number per class")
    _check_numbers(machine.intercept_)
    linear = not hasattr(machine, "kernel")
    if linear or machine.kernel == "linear":
        machine.coef_ = reader.array("coef")
        if machine.coef_.shape != (n_machines, n_features) or not np.isfinite(machine.coef_).all():
            raise ValueError("the linear coefficients are not finite numbers, one per class and feature")
    if not linear:
        _add_kernel(machine, reader, n_machines, mmap)
    return _behind_scaler(machine, reader, held)


def _add_kernel(machine: Any, reader: container.Reader, n_machines: int, mmap: bool) -> None:
    """Kernel, support vectors and their coefficients."""
    n_features = machine.n_features_in_
    kernel, precision = _kernel_in(reader.header["kernel"])
    if kernel.name != machine.kernel:
        raise ValueError("the kernel is not that of the parameters")
    machine.support_ = reader.array("support")
    machine.dual_coef_ = reader.array("dual_coef")
    machine.support_vectors_ = (
        np.empty((0, 0)) if kernel.name == "precomputed" else _rows_in("sv", reader, mmap)
    )
    n_support = len(machine.support_)
    if machine.dual_coef_.shape != (n_machines, n_support):
        raise ValueError("the numbers of classes, support vectors and coefficients do not fit each other")
    expected_rows = (0, 0) if kernel.name == "precomputed" else (n_support, n_features)
    if machine.support_vectors_.shape != expected_rows:
        raise ValueError("the support vectors do not have the shape they should have")
    _check_numbers(machine.dual_coef_)
    lowest = n_features if kernel.name == "precomputed" else np.iinfo(np.int64).max
    if (
        machine.support_.dtype != np.int64
        or np.any(machine.support_ < 0)
        or np.any(machine.support_ >= lowest)
    ):
        raise ValueError("a support vector is numbered beyond the training rows")
    machine._restore(kernel, precision)
    if getattr(machine, "early", False):
        _add_regions(machine, reader, kernel, mmap)


def _add_regions(machine: Any, reader: container.Reader, kernel: Kernel, mmap: bool) -> None:
    """The clusters of early prediction: their centres, and whose each support vector is."""
    means, half_norms = reader.array("regions.means"), reader.array("regions.half_norms")
    of_support = reader.array("regions.of_support")
    if kernel.name == "precomputed":
        rows = reader.array("regions.rows")
        if rows.dtype != np.int64 or np.any(rows < 0) or np.any(rows >= machine.n_features_in_):
            raise ValueError("a cluster has rows beyond the training rows")
        fits = rows.ndim == 1
    else:
        rows = _rows_in("regions.rows", reader, mmap)
        fits = rows.ndim == 2 and rows.shape[1] == machine.n_features_in_
    if not fits or half_norms.ndim != 1 or means.shape != (rows.shape[0], len(half_norms)):
        raise ValueError("the clusters do not have the shapes they should have")
    _check_numbers(means)
    _check_numbers(half_norms)
    if (
        of_support.dtype != np.int64
        or of_support.shape != machine.support_.shape
        or np.any((of_support < 0) | (of_support >= len(half_norms)))
    ):
        raise ValueError("a support vector is in none of the clusters")
    machine._regions, machine._region_of_support = Regions(rows, means, half_norms), of_support


def _check_numbers(array: NDArray[Any]) -> None:
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError("a coefficient is not a finite number")


def _behind_scaler(machine: Any, reader: container.Reader, held: set[str]) -> Any:
    """The machine, or a pipeline of the stored scaler and it, with the names of the features."""
    header, n_features = reader.header, machine.n_features_in_
    names = header.get("feature_names")
    scaler = None
    if header.get("scaler") is not None:
        scaler = put_together(header["scaler"], reader.array, held, n_features)
    if names is not None:
        if not (
            isinstance(names, list) and len(names) == n_features and all(isinstance(n, str) for n in names)
        ):
            raise ValueError("feature_names does not have one name per feature")
        first = machine if scaler is None else scaler
        first.feature_names_in_ = np.array(names, dtype=object)
    return machine if scaler is None else make_pipeline(scaler, machine)


def _parameters_in(parameters: Any) -> dict[str, Any]:
    if not isinstance(parameters, dict):
        raise ValueError("there are no parameters")
    return {
        name: dict(value["pairs"]) if isinstance(value, dict) else value for name, value in parameters.items()
    }


def _labels_in(entry: Any) -> NDArray[Any]:
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


def _kernel_in(entry: Any) -> tuple[Kernel, Precision]:
    kernel, precision = (
        Kernel(entry["name"], entry["gamma"], entry["degree"], entry["coef0"]),
        entry["precision"],
    )
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


def _rows_in(name: str, reader: container.Reader, mmap: bool) -> Any:
    """Rows of features, dense or CSR as the header says."""
    header = reader.header
    if not header["sparse"]:
        rows = reader.array(name, mapped=mmap)
        if rows.dtype not in (np.float32, np.float64) or not np.isfinite(rows).all():
            raise ValueError("a support vector has values that are not finite numbers")
        return rows
    data, indices, indptr = (
        reader.array(f"{name}.{part}", mapped=mmap) for part in ("data", "indices", "indptr")
    )
    if data.dtype not in (np.float32, np.float64) or not np.isfinite(data).all():
        raise ValueError("a support vector has values that are not finite numbers")
    if indices.dtype.kind != "i" or indptr.dtype.kind != "i" or indptr.ndim != 1 or len(indptr) < 1:
        raise ValueError("the support vectors have no proper indices")
    rows = sparse.csr_matrix(
        (data, indices, indptr), shape=(len(indptr) - 1, header["n_features"]), copy=False
    )
    rows.check_format(full_check=True)
    if not rows.has_canonical_format:
        raise ValueError("the indices of a support vector do not ascend")
    return rows
