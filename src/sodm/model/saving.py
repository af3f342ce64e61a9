"""Save a fitted machine to a `.sodm` file: one file, no pickle."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sodm.model import container
from sodm.model.header import kernel_out, labels_out, parameters_out, plain, targets_out
from sodm.model.machines import (
    NUMBERS_OF_THE_FIT,
    has_kernel,
    in_pairs,
    machines_of,
    prepares,
    regions_of,
    split,
)
from sodm.model.row_arrays import machines_out, regions_out, rows_out
from sodm.model.scalers import take_apart


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    summary: dict[str, Any] | None = None,
    margins: ArrayLike | None = None,
) -> None:
    """Save a fitted machine, alone, behind a scaler, or behind the preparation of a table.

    Parameters
    ----------
    model : fitted machine, or Pipeline of a scaler or a ColumnTransformer and a machine
        The machine is one of `MACHINES`. The scaler is scikit-learn's MinMaxScaler, StandardScaler or
        MaxAbsScaler; a ColumnTransformer may have these, SimpleImputer and OneHotEncoder in it, and pipelines
        of them. A kernel that is a Python function cannot be saved.
    path : path
        Usually ending in ``.sodm``. An old file is replaced only when the new one is on the disk.
    summary : dict, optional
        What to remember of the training: text, numbers, lists and dictionaries of them.
    margins : array-like, optional
        Margins y f(x) to remember, for a picture later.

    Notes
    -----
    Of an `ODMClassifierCV` or `ODMRegressorCV` its `best_estimator_` is saved, without the search and its
    probabilities: pickle it to keep these. A `random_state` that is a generator is not kept: the saved
    parameters have None instead. Nor are `history_` and the rows that `partial_fit` of a linear machine
    remembers.

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
        "parameters": parameters_out(machine.get_params(deep=False)),
        "classes": labels_out(machine.classes_) if hasattr(machine, "classes_") else None,
        "targets": targets_out(machine),
        "n_features": int(machine.n_features_in_),
        "feature_names": _names_of(model, machine),
        "kernel": kernel_out(machine._fitted_kernel, machine._fitted_precision)
        if has_kernel(machine)
        else None,
        "sparse": bool(has_kernel(machine) and sparse.issparse(machine.support_vectors_)),
        "fit": {k: plain(getattr(machine, k)) for k in NUMBERS_OF_THE_FIT if hasattr(machine, k)},
        "scaler": None,
        "summary": plain(summary or {}),
    }
    arrays: dict[str, NDArray[Any]] = {"intercept": np.asarray(machine.intercept_, dtype=np.float64)}
    if hasattr(machine, "coef_"):
        arrays["coef"] = np.asarray(machine.coef_)
    if has_kernel(machine):
        arrays["support"] = np.asarray(machine.support_, dtype=np.int64)
        arrays["dual_coef"] = np.asarray(machine.dual_coef_, dtype=np.float64)
        arrays |= rows_out("sv", machine.support_vectors_)
        if in_pairs(machine):
            arrays["n_support"] = np.asarray(machine.n_support_, dtype=np.int64)
    regions = regions_of(machine)
    if regions is not None:
        arrays |= regions_out(regions, machine._region_of_support)
    machines = machines_of(machine)
    if machines is not None:
        arrays |= machines_out(machines)
    if prepares(scaler):
        from sodm.model.preparation import preparation_out

        header["preparation"], prepared = preparation_out(scaler)
        arrays |= prepared
    elif scaler is not None:
        header["scaler"], scaling = take_apart(scaler)
        arrays |= scaling
    if margins is not None:
        arrays["margins"] = np.asarray(margins, dtype=np.float64).ravel()
    container.write(path, header, arrays)


def _library_version() -> str:
    from sodm import __version__

    return __version__


def _names_of(model: Any, machine: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    names = getattr(machine, "feature_names_in_", None) if names is None else names
    return None if names is None else [str(name) for name in names]
