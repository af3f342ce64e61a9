"""LIBSVM model files: written so that svm-predict scores our machines, and read.

LIBSVM decides between two classes by ``sum_s coef_s k(s, x) - rho``, positive for the first label. Between
more it lets every pair vote, and the pair (i, j) sums over the support vectors of these two classes: so do
machines of pairs, coefficient by coefficient. (Where votes are equal LIBSVM takes the first label, and
`predict` the one with the larger margins.) In machines of one class against the rest the largest f_i wins. So
each class gets its own copies of the support vectors it uses, with coefficients that make the vote of (i, j)
exactly f_i - f_j: the largest f_i then wins all its votes. Regressors are written
and read as support vector regression ("epsilon_svr"), whose value is the sum.
"""

from __future__ import annotations

import math
import os
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_regressor

from sodm.files import atomic_write
from sodm.model.errors import ModelFileError
from sodm.model.machines import classes_of_support, expansion, in_pairs, split
from sodm.model.scalers import affine
from sodm.problem.kernels import Kernel
from sodm.problem.pairs import linear_coefficients

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
    if in_pairs(machine):
        kernel, vectors, dual_coef = machine._fitted_kernel, machine.support_vectors_, machine.dual_coef_
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
    if in_pairs(machine):
        order, which, coefficients = list(range(len(labels))), np.arange(len(machine.support_)), dual_coef
        counts, rho = machine.n_support_.tolist(), (-intercept).tolist()
    else:
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
    """Read a LIBSVM model file of classes (C-SVC or nu-SVC) or of regression (epsilon-SVR or nu-SVR).

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
        If the file is no such model.
    """
    from sodm.estimators.odm import ODMClassifier
    from sodm.estimators.odm_regressor import ODMRegressor

    header, first = _read_header(path)
    regression, kernel, labels, rho, total = _check_header(path, header)
    n_classes = len(labels)
    coefficients, rows = _read_vectors(path, first, total, n_features, n_classes - 1)
    counts = None
    if n_classes == 2:
        # LIBSVM's first label is positive, ours is the larger.
        sign = 1.0 if labels[0] > labels[1] else -1.0
        coefficients, intercept = sign * coefficients, np.array([-sign * rho[0]])
    else:
        counts = _counts(path, header.get("nr_sv", ""), n_classes, total)
        order, coefficients, intercept = _by_class(labels, counts, coefficients, np.array(rho))
        rows, counts = rows[order], counts[np.argsort(labels)]
    parameters: dict[str, Any] = {
        "kernel": kernel.name,
        "gamma": kernel.gamma,
        "degree": kernel.degree,
        "coef0": kernel.coef0,
        "fit_intercept": any(value != 0 for value in rho),
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
    machine.dual_coef_, machine.intercept_ = coefficients, intercept
    if counts is not None:
        machine.n_support_ = counts
    if kernel.name == "linear" and counts is not None:
        machine.coef_ = linear_coefficients(coefficients, classes_of_support(machine), rows)
    elif kernel.name == "linear":
        machine.coef_ = np.asarray(rows.T @ machine.dual_coef_.T).T
    machine._restore(kernel, "double")
    return machine


def _check_header(
    path: str | os.PathLike[str], header: dict[str, str]
) -> tuple[bool, Kernel, list[int], list[float], int]:
    """What a header says: whether it is regression, the kernel, labels, rho, how many support vectors."""
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
    n_classes = len(labels)
    if (
        header.get("nr_class") != str(n_classes)
        or n_classes < 2
        or len(set(labels)) != n_classes
        or len(rho) != n_classes * (n_classes - 1) // 2
    ):
        raise ModelFileError(path, "the classes of this LIBSVM model do not fit each other")
    return regression, kernel, labels, rho, total


def _counts(path: str | os.PathLike[str], text: str, n_classes: int, total: int) -> NDArray[np.int32]:
    """How many support vectors each label has, which follow each other in that order."""
    try:
        counts = np.array([int(value) for value in text.split()], dtype=np.int64)
    except ValueError:
        counts = np.zeros(0, dtype=np.int64)
    if len(counts) != n_classes or np.any(counts < 0) or np.any(counts > total) or counts.sum() != total:
        raise ModelFileError(path, "nr_sv is not the number of support vectors of each class")
    return counts.astype(np.int32)


def _by_class(
    labels: list[int], counts: NDArray[np.int32], coefficients: NDArray[np.float64], rho: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """LIBSVM's pairs, in the order of its labels, as ours, in that of the sorted labels.

    The order of the support vectors, their coefficients in that order, and the intercepts.
    """
    n, place = len(labels), np.argsort(np.argsort(labels))  # which of our classes each label is
    theirs = np.repeat(np.arange(n), counts)
    ours = place[theirs]
    moved, intercept = np.zeros_like(coefficients), np.zeros(len(rho))
    number = {pair: k for k, pair in enumerate(combinations(range(n), 2))}
    for (i, j), k in number.items():
        c, d = int(place[i]), int(place[j])
        sign = 1.0 if c < d else -1.0  # positive is the first label there, the smaller one here
        intercept[number[min(c, d), max(c, d)]] = -sign * rho[k]
        for own, other, row in ((c, d, coefficients[j - 1]), (d, c, coefficients[i])):
            at = ours == own
            moved[other - 1 if other > own else other, at] = sign * row[at]
    order = np.argsort(ours, kind="stable")
    return order, moved[:, order], intercept


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
    path: str | os.PathLike[str], first: int, total: int, n_features: int | None, n_coefficients: int
) -> tuple[NDArray[np.float64], Any]:
    """The support vectors are LIBSVM text with the coefficient as label, read by the compiled parser.

    Where there are several coefficients, only the last one is its label. They are returned with one row each.
    """
    from sodm import _core

    parser = _core.LibsvmParser(False, -1 if n_features is None else n_features)
    with open(path, "rb") as file:
        lines_before = file.read(first).count(b"\n")
        before: list[list[bytes]] = []
        while block := file.read(2**23):
            if n_coefficients > 1:
                block = _without_first(block + file.readline(), n_coefficients - 1, before)
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
        values = np.array([float(name) for name in names])[numbers][None, :]
        if n_coefficients > 1:
            values = np.vstack([np.array(before, dtype=np.float64).reshape(total, -1).T, values])
    except ValueError as error_:
        raise ModelFileError(path, f"a coefficient is no number ({error_})") from error_
    if not np.isfinite(values).all():
        raise ModelFileError(path, "a coefficient is not finite")
    return values, sparse.csr_matrix((data, indices, indptr), shape=shape)


def _without_first(block: bytes, count: int, taken: list[list[bytes]]) -> bytes:
    """Whole lines without their first words, which are added to `taken`."""
    lines = []
    for line in block.splitlines():
        words = line.split(None, count)
        if words:
            taken.append(words[:count])
        lines.append(words[count] if len(words) > count else b"")
    return b"\n".join(lines) + b"\n"
