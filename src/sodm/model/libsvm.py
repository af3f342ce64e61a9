"""LIBSVM model files: written so that svm-predict scores our machines, and read.

LIBSVM decides between two classes by ``sum_s coef_s k(s, x) - rho``, positive for the first label. Between
more it lets every pair vote, and the pair (i, j) sums over the support vectors of these two classes. Ours
are one against the rest, and the largest f_i wins. So each class gets its own copies of the support vectors
it uses, with coefficients that make the vote of (i, j) exactly f_i - f_j: the largest f_i then wins all its
votes. Regressors are written and read as support vector regression ("epsilon_svr"), whose value is the sum.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_regressor

from sodm.files import atomic_write
from sodm.model.errors import ModelFileError
from sodm.model.machines import expansion, split
from sodm.model.scalers import affine
from sodm.problem.kernels import Kernel

KERNEL_NAMES = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid"}
_OURS = {theirs: ours for ours, theirs in KERNEL_NAMES.items()}


def to_libsvm(model: Any, path: str | os.PathLike[str]) -> dict[int, Any]:
    """Write a machine as a LIBSVM model file.

    If there is a scaler, ``path.range`` is written too: ``svm-scale -r path.range data`` scales as it does.

    Parameters
    ----------
    model : fitted machine, or Pipeline of a scaler and a machine
        With the linear, poly, rbf or sigmoid kernel.
    path : path

    Returns
    -------
    dict
        LIBSVM's labels are integers: which label of ours each of them stands for. Integer labels stand for
        themselves, others are numbered from 0 in the order of `classes_`. Empty for a regressor.

    Raises
    ------
    ValueError
        If LIBSVM has no such kernel, the scaler clips, or there are several targets.
    """
    scaler, machine = split(model)
    kernel, vectors, dual_coef, intercept = expansion(machine)
    if kernel.name not in KERNEL_NAMES:
        raise ValueError(
            f"LIBSVM model files have no kernel {kernel.name!r}, only {', '.join(KERNEL_NAMES)}."
        )
    regression = is_regressor(machine)
    if regression and len(dual_coef) > 1:
        raise ValueError(f"LIBSVM model files have one target, this machine has {len(dual_coef)}.")
    labels = [] if regression else _integer_labels(machine.classes_)
    rows = sparse.csr_matrix(vectors, dtype=np.float64)
    ranges = None if scaler is None else _range_text(scaler)
    order, which, coefficients, counts, rho = _pairwise(dual_coef, intercept)
    kind = "epsilon_svr" if regression else "c_svc"
    lines = [f"svm_type {kind}", f"kernel_type {KERNEL_NAMES[str(kernel.name)]}"]
    if kernel.name == "poly":
        lines.append(f"degree {kernel.degree}")
    if kernel.name != "linear":
        lines.append(f"gamma {kernel.gamma!r}")
    if kernel.name in ("poly", "sigmoid"):
        lines.append(f"coef0 {kernel.coef0!r}")
    lines += [
        f"nr_class {len(labels) or 2}",
        f"total_sv {len(which)}",
        "rho " + " ".join(repr(float(value)) for value in rho),
    ]
    if not regression:
        lines += [
            "label " + " ".join(str(labels[k]) for k in order),
            "nr_sv " + " ".join(str(count) for count in counts),
        ]
    lines.append("SV")
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
        for s, row in enumerate(which):
            at = slice(rows.indptr[row], rows.indptr[row + 1])
            values = [repr(float(value)) for value in coefficients[:, s]]
            values += [f"{j + 1}:{float(v)!r}" for j, v in zip(rows.indices[at], rows.data[at], strict=True)]
            file.write((" ".join(values) + " \n").encode())
    if ranges is not None:
        with atomic_write(os.fspath(path) + ".range") as file:
            file.write(ranges.encode())
    return {labels[k]: machine.classes_[k].item() for k in range(len(labels))}


def _integer_labels(classes: NDArray[Any]) -> list[int]:
    if classes.dtype.kind in "iu" and np.all(np.abs(classes.astype(np.float64)) < 2**31):
        return [int(label) for label in classes]
    return list(range(len(classes)))


def _pairwise(
    dual_coef: NDArray[np.float64], intercept: NDArray[np.float64]
) -> tuple[list[int], NDArray[np.intp], NDArray[np.float64], list[int], list[float]]:
    """Order of the classes, row of each support vector, its coefficients, vectors per class, and rho."""
    if len(dual_coef) == 1:  # positive is classes_[1], which so is LIBSVM's first label
        used = np.flatnonzero(dual_coef[0])
        return [1, 0], used, dual_coef[:, used], [len(used), 0], [-float(intercept[0])]
    n = len(dual_coef)
    which, columns, counts = [], [], []
    for k in range(n):
        own = np.flatnonzero(dual_coef[k])
        # Row j - 1 for pairs (k, j > k), row i for pairs (i < k, k): i < k subtracts f_k, j > k adds it.
        signs = np.array([-1.0] * k + [1.0] * (n - 1 - k))
        which.append(own)
        columns.append(np.outer(signs, dual_coef[k, own]))
        counts.append(len(own))
    rho = [float(intercept[j] - intercept[i]) for i in range(n) for j in range(i + 1, n)]
    return list(range(n)), np.concatenate(which), np.concatenate(columns, axis=1), counts, rho


def _range_text(scaler: Any) -> str:
    """What svm-scale restores: it maps [low, high] of every feature to [0, 1]."""
    factor, shift = affine(scaler)
    low, high = -shift / factor, (1 - shift) / factor
    lines = [f"{j + 1} {a!r} {b!r}" for j, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True))]
    return "\n".join(["x", "0 1", *lines]) + "\n"


def from_libsvm(path: str | os.PathLike[str], *, n_features: int | None = None) -> Any:
    """Read a LIBSVM model file of two classes (C-SVC or nu-SVC) or of regression (epsilon-SVR or nu-SVR).

    Parameters
    ----------
    path : path
    n_features : int, optional
        Number of features of the data, which the file does not tell; None: the largest index in it.

    Returns
    -------
    ODMClassifier or ODMRegressor
        The classifier with ``loss="hinge"`` and LIBSVM's labels. What LIBSVM does not store (its cost, the
        training rows) is not known: `lam` is the default, `support_` numbers the support vectors.

    Raises
    ------
    ModelFileError
        If the file is no such model. More than two classes are refused: LIBSVM lets pairs of classes vote,
        which machines of one class against the rest cannot repeat.
    """
    from sodm.estimators.odm import ODMClassifier
    from sodm.estimators.odm_regressor import ODMRegressor

    header, first = _read_header(path)
    kind, kernel_name = header.get("svm_type", ""), header.get("kernel_type", "")
    regression = kind in ("epsilon_svr", "nu_svr")
    if not regression and kind not in ("c_svc", "nu_svc"):
        raise ModelFileError(
            path, f"svm_type is {kind!r}, not that of a classifier or regressor (c_svc, nu_svc or *_svr)"
        )
    if kernel_name not in _OURS:
        raise ModelFileError(path, f"the kernel {kernel_name!r} is not one of {', '.join(_OURS)}")
    try:
        labels = [1, 0] if regression else [int(v) for v in header["label"].split()]
        rho = [float(v) for v in header["rho"].split()]
        total = int(header["total_sv"])
        kernel = Kernel(
            _OURS[kernel_name],
            gamma=float(header.get("gamma", 1.0)),
            degree=int(header.get("degree", 3)),
            coef0=float(header.get("coef0", 0.0)),
        )
    except (KeyError, ValueError) as error:
        raise ModelFileError(path, f"the header of this LIBSVM model is not whole ({error})") from error
    if not all(math.isfinite(v) for v in (*rho, kernel.gamma, kernel.coef0)) or kernel.gamma < 0:
        raise ModelFileError(path, "the header of this LIBSVM model has numbers that make no sense")
    if header.get("nr_class") != "2" or len(set(labels)) != 2 or len(rho) != 1:
        raise ModelFileError(
            path,
            f"this LIBSVM model has {header.get('nr_class')} classes: only two can be read, since "
            f"among more LIBSVM "
            "lets pairs vote",
        )
    coefficients, rows = _read_vectors(path, first, total, n_features)
    sign = 1.0 if labels[0] > labels[1] else -1.0  # LIBSVM's first label is positive, ours is the larger
    parameters: dict[str, Any] = {
        "kernel": _OURS[kernel_name],
        "gamma": kernel.gamma,
        "degree": kernel.degree,
        "coef0": kernel.coef0,
        "fit_intercept": rho[0] != 0,
        "precision": "double",
    }
    machine: Any
    if regression:
        machine = ODMRegressor(**parameters)
        machine._flat = True
    else:
        machine = ODMClassifier(**parameters, loss="hinge")
        machine.classes_ = np.array(sorted(labels))
    machine.n_features_in_ = rows.shape[1]
    machine.support_ = np.arange(total)
    machine.support_vectors_ = rows
    machine.dual_coef_ = sign * coefficients[None, :]
    machine.intercept_ = np.array([-sign * rho[0]])
    if kernel.name == "linear":
        machine.coef_ = np.asarray(rows.T @ machine.dual_coef_.T).T
    machine._restore(kernel, "double")
    return machine


def _read_header(path: str | os.PathLike[str]) -> tuple[dict[str, str], int]:
    """The lines before the support vectors, by their first word, and how many bytes they are."""
    with open(path, "rb") as file:
        text = file.read(2**20)
    head, found, _ = text.partition(b"\nSV\n")
    if not found or not head.startswith(b"svm_type "):
        raise ModelFileError(path, "this is no LIBSVM model file")
    header: dict[str, str] = {}
    for line in head.decode(errors="replace").splitlines():
        name, _, value = line.partition(" ")
        header[name] = value.strip()
    return header, len(head) + len(found)


def _read_vectors(
    path: str | os.PathLike[str], first: int, total: int, n_features: int | None
) -> tuple[NDArray[np.float64], Any]:
    """The support vectors are LIBSVM text with the coefficient as label, read by the compiled parser."""
    from sodm import _core

    parser = _core.LibsvmParser(False, -1 if n_features is None else n_features)
    with open(path, "rb") as file:
        lines_before = file.read(first).count(b"\n")
        while block := file.read(2**23):
            error = parser.feed(np.frombuffer(block, dtype=np.uint8), 1)
            if error is not None:
                break
        else:
            error = parser.finish(1)
    if error is not None:
        line, column, message = error
        raise ModelFileError(path, f"line {line + lines_before}, column {column}: {message}")
    if parser.rows != total:
        raise ModelFileError(path, f"total_sv is {total}, and there are {parser.rows} support vectors")
    shape = (total, max(1, parser.features))
    names = parser.label_names
    data, indices, indptr, numbers = parser.take(False, 1)
    try:
        values = np.array([float(name) for name in names])[numbers]
    except ValueError as error_:
        raise ModelFileError(path, f"a coefficient is no number ({error_})") from error_
    if not np.isfinite(values).all():
        raise ModelFileError(path, "a coefficient is not finite")
    return values, sparse.csr_matrix((data, indices, indptr), shape=shape)
