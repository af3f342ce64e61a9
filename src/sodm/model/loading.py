"""Load a machine from a `.sodm` file, or what the file says of it: no code of the file is run."""

from __future__ import annotations

import os
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.pipeline import make_pipeline

from sodm.model import container
from sodm.model.errors import ModelFileError
from sodm.model.header import kernel_in, labels_in, parameters_in, targets_in
from sodm.model.machines import MACHINES, NUMBERS_OF_THE_FIT
from sodm.model.row_arrays import check_numbers, machines_in, regions_in, rows_in
from sodm.model.scalers import put_together


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
    the machine, or Pipeline of a scaler or ColumnTransformer and the machine
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


def _build(reader: container.Reader, mmap: bool) -> Any:
    """The model of a file: a new machine, then what was learned, then the scaler before it."""
    machine = _new_machine(reader.header)
    n_machines = _add_outputs(machine, reader.header)
    machine.intercept_ = reader.array("intercept")
    if machine.intercept_.shape != (n_machines,):
        raise ValueError("the intercepts are not one number per machine or target")
    check_numbers(machine.intercept_)
    linear = not hasattr(machine, "kernel")
    if linear or machine.kernel == "linear":
        machine.coef_ = reader.array("coef")
        shape = (n_machines, machine.n_features_in_)
        if machine.coef_.shape != shape or not np.isfinite(machine.coef_).all():
            raise ValueError("the linear coefficients are not finite numbers, one per output and feature")
    if not linear:
        pairs = _has_pairs(reader.header)
        _add_kernel(machine, reader, len(machine.classes_) - 1 if pairs else n_machines, mmap)
        if pairs:
            counts, n_classes = reader.array("n_support"), len(machine.classes_)
            machine.n_support_ = _counts_in(counts, n_classes, len(machine.support_))
    return _behind_scaler(machine, reader)


def _new_machine(header: dict[str, Any]) -> Any:
    """A machine with the parameters, labels and numbers of the header."""
    name = header.get("machine")
    if name not in MACHINES:
        raise ValueError(f"it names the machine {str(name)[:60]!r}, which this sodm does not have")
    parameters = parameters_in(header["parameters"])
    kind = getattr(import_module(MACHINES[name]), name)
    if header["version"] < 2 and "multi_class" in signature(kind).parameters:
        parameters["multi_class"] = "ovr"  # there was nothing else
    machine = kind(**parameters)
    machine._check_parameters()
    n_features = header["n_features"]
    if not isinstance(n_features, int) or isinstance(n_features, bool) or n_features < 1:
        raise ValueError("n_features is not a number of features")
    machine.n_features_in_ = n_features
    for attribute in NUMBERS_OF_THE_FIT:
        if attribute in header["fit"]:
            value = header["fit"][attribute]
            setattr(machine, attribute, np.asarray(value) if isinstance(value, list) else value)
    return machine


def _add_outputs(machine: Any, header: dict[str, Any]) -> int:
    """Labels, or what is known of the targets; returns how many functions the machine has."""
    if is_regressor(machine):
        count, machine._flat = targets_in(header["targets"])
        return count
    machine.classes_ = labels_in(header["classes"])
    n_classes = len(machine.classes_)
    if not _has_pairs(header):
        return 1 if n_classes == 2 else n_classes
    if n_classes < 3 or getattr(machine, "multi_class", "ovr") == "ovr":
        raise ValueError("it has pairs of classes where there should be none")
    return n_classes * (n_classes - 1) // 2


def _has_pairs(header: dict[str, Any]) -> bool:
    return "n_support" in header["arrays"]


def _counts_in(counts: NDArray[Any], n_classes: int, n_support: int) -> NDArray[np.int32]:
    """How many support vectors each class has."""
    if counts.dtype != np.int64 or counts.shape != (n_classes,) or np.any(counts < 0):
        raise ValueError("the numbers of support vectors are not one per class")
    if counts.sum() != n_support or np.any(counts > n_support):
        raise ValueError("the classes do not have as many support vectors as there are")
    return counts.astype(np.int32)


def _add_kernel(machine: Any, reader: container.Reader, n_rows: int, mmap: bool) -> None:
    """Kernel, support vectors and their coefficients; the clusters of early prediction."""
    n_features = machine.n_features_in_
    kernel, precision = kernel_in(reader.header["kernel"])
    if kernel.name != machine.kernel:
        raise ValueError("the kernel is not that of the parameters")
    precomputed = kernel.name == "precomputed"
    support, dual_coef = reader.array("support"), reader.array("dual_coef")
    vectors = np.empty((0, 0)) if precomputed else rows_in("sv", reader, mmap)
    if dual_coef.shape != (n_rows, len(support)):
        raise ValueError("the numbers of outputs, support vectors and coefficients do not fit each other")
    if vectors.shape != ((0, 0) if precomputed else (len(support), n_features)):
        raise ValueError("the support vectors do not have the shape they should have")
    check_numbers(dual_coef)
    most = n_features if precomputed else np.iinfo(np.int64).max
    if support.dtype != np.int64 or np.any(support < 0) or np.any(support >= most):
        raise ValueError("a support vector is numbered beyond the training rows")
    machine.support_, machine.dual_coef_, machine.support_vectors_ = support, dual_coef, vectors
    machine._restore(kernel, precision)
    if getattr(machine, "early", False):
        machine._regions, machine._region_of_support = regions_in(
            reader, n_features, len(support), precomputed=precomputed, mmap=mmap
        )
    if "machines.bounds" in reader.header["arrays"]:
        machine._machines = machines_in(reader, n_features, len(support), n_rows, _constant(machine))


def _constant(machine: Any) -> float:
    """What was added to the kernel for an intercept; a regressor's is a number of its own."""
    return 0.0 if is_regressor(machine) else float(machine.fit_intercept)


def _behind_scaler(machine: Any, reader: container.Reader) -> Any:
    """The machine, or a pipeline of the stored scaler or preparation and it; with names of features."""
    header, n_features = reader.header, machine.n_features_in_
    preparation = header.get("preparation")
    names, n_names = header.get("feature_names"), n_features
    if preparation is not None:
        n_names = preparation["n_columns"]
    if names is not None and not (
        isinstance(names, list) and len(names) == n_names and all(isinstance(n, str) for n in names)
    ):
        raise ValueError("feature_names does not have one name per feature")
    held = set(header["arrays"])
    if preparation is not None:
        from sodm.model.preparation import preparation_in

        before = preparation_in(preparation, reader.array, held, names)
        if len(before.get_feature_names_out()) != n_features:
            raise ValueError("the preparation does not make the features of the machine")
        return make_pipeline(before, machine)
    scaler = None
    if header.get("scaler") is not None:
        scaler = put_together(header["scaler"], reader.array, held, n_features)
    if names is not None:
        first = machine if scaler is None else scaler
        first.feature_names_in_ = np.array(names, dtype=object)
    return machine if scaler is None else make_pipeline(scaler, machine)
