"""NumPy's .npy and .npz, without pickles."""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.data.dataset import Dataset
from sodm.data.errors import DataError
from sodm.data.limits import MAX_EXPANSION, Limit
from sodm.data.npy_arrays import load_npy, load_npz
from sodm.data.tables import check_finite, label_column

_DAMAGE = (
    *(ValueError, TypeError, EOFError, KeyError, OverflowError, NotImplementedError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
_SPARSE = ("data", "indices", "indptr", "shape")


def read_npz(path: str | os.PathLike[str], *, max_expansion: float = MAX_EXPANSION) -> Dataset:
    """Read a .npz: a dense `X`, or a sparse matrix as `scipy.sparse.save_npz` stores it, and `y`.

    `y` and `feature_names` may be absent. Nothing in the file is run as code.

    Parameters
    ----------
    path : path
    max_expansion : float, default=200
        See `read`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the file is damaged, its arrays do not fit each other, or it expands too far.
    """
    limit = Limit.of(path, max_expansion)
    try:
        arrays, names_held = load_npz(path, limit, ("X", "y", "feature_names", "format", *_SPARSE))
        if "X" in arrays:
            X = _checked_matrix(path, "X", arrays["X"])
        elif set(_SPARSE) <= arrays.keys():
            X = _sparse_rows(path, arrays, limit)
        else:
            held = ", ".join(names_held[:12]) or "nothing"
            raise DataError(path, f"expected arrays named X and y (or a sparse matrix and y), found {held}")
    except _DAMAGE as error:
        if isinstance(error, DataError):
            raise
        raise DataError(path, f"this is no whole .npz file without pickles ({error})") from error
    y = arrays.get("y")
    if y is not None and y.shape != (X.shape[0],):
        raise DataError(path, f"y must have one label per row of X, shape ({X.shape[0]},), not {y.shape}")
    names = arrays.get("feature_names")
    if names is not None and names.shape != (X.shape[1],):
        raise DataError(path, f"feature_names must have one name per column of X, not shape {names.shape}")
    return Dataset(X, y, None if names is None else tuple(str(name) for name in names))


def read_npy(path: str | os.PathLike[str], *, label: str | int | None = "auto") -> Dataset:
    """Read a .npy: one matrix, with a column of labels.

    Nothing in the file is run as code.

    Parameters
    ----------
    path : path
    label : str, int or None, default="auto"
        The number of the label column, None if there is none. A structured array has named columns, as in
        `read_csv`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the file is damaged, or not a matrix of numbers.
    """
    try:
        with open(path, "rb") as file:
            packed = file.read(4) == b"PK\x03\x04"
        if packed:
            raise DataError(path, "this is a .npz file: give it that name")
        table = load_npy(path)
    except _DAMAGE as error:
        if isinstance(error, DataError):
            raise
        raise DataError(path, f"this is no whole .npy file without pickles ({error})") from error
    if table.dtype.names:
        columns = list(table.dtype.names)
        at = label_column(path, label, columns, len(columns))
        features = tuple(name for k, name in enumerate(columns) if k != at)
        X = np.column_stack([_numeric(path, f"column {name!r}", table[name]) for name in features])
        return Dataset(
            _checked_matrix(path, "the array", X), table[columns[at]] if at >= 0 else None, features
        )
    matrix = _checked_matrix(path, "the array", table)
    at = label_column(path, label, None, matrix.shape[1])
    if at < 0:
        return Dataset(matrix, None)
    y = table[:, at]
    whole = np.issubdtype(y.dtype, np.floating) and np.array_equal(y, np.round(y)) and np.abs(y).max() < 2**53
    return Dataset(np.delete(matrix, at, axis=1), y.astype(np.int64) if whole else y)


def _checked_matrix(path: str | os.PathLike[str], name: str, X: NDArray[Any]) -> NDArray[np.float64]:
    if X.ndim != 2 or X.shape[0] == 0:
        raise DataError(path, f"{name} must have two dimensions and at least one row, not shape {X.shape}")
    X = _numeric(path, name, X)
    check_finite(path, X, None)
    return X


def _numeric(path: str | os.PathLike[str], name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        raise DataError(path, f"{name} must hold numbers, not {values.dtype}")
    return np.ascontiguousarray(values, dtype=np.float64)


def _sparse_rows(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], limit: Limit) -> Any:
    """The CSR matrix of `scipy.sparse.save_npz`, checked before anything is built from it."""
    stored: Any = arrays["format"].item() if "format" in arrays else "csr"
    kind = stored.decode(errors="replace") if isinstance(stored, bytes) else str(stored)
    if kind not in ("csr", "csc"):
        raise DataError(path, f"the sparse matrix is stored as {kind!r}: store it as CSR (X.tocsr())")
    data = _numeric(path, "data", arrays["data"])
    shape = tuple(int(n) for n in arrays["shape"].ravel())
    if (
        kind == "csc" and len(shape) == 2
    ):  # of rows it names only those with values; CSR has an entry for each
        limit.check(8 * shape[0], "its rows come")
    make = sparse.csr_matrix if kind == "csr" else sparse.csc_matrix
    X = make((data, arrays["indices"], arrays["indptr"]), shape=shape)
    X.check_format(full_check=True)
    if X.shape[0] == 0 or not np.isfinite(data).all():
        raise DataError(path, "the sparse matrix must have rows, and finite numbers only")
    X = X.tocsr()
    X.sum_duplicates()
    return X
