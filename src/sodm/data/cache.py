"""Parsed rows kept beside a text file, for as long as the file stays the same.

The cache is an uncompressed .npz without pickles. It is used only if size, time and content hash of the text
file, and the options it was read with, are those it was made from; otherwise it is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from sodm.data.dataset import Dataset
from sodm.data.limits import Limit
from sodm.data.npy_arrays import load_npz
from sodm.files import atomic_write

SUFFIX = ".sodm-cache.npz"
VERSION = 1
_ARRAYS = ("X", "data", "indices", "indptr", "shape", "y", "feature_names")


def cached(
    path: str | os.PathLike[str],
    options: dict[str, Any],
    read: Callable[[], Dataset],
    *,
    enabled: bool,
) -> Dataset:
    """The data set from the cache beside `path` if that is valid, else what `read` gives, kept there."""
    if not enabled:
        return read()
    kept = os.fspath(path) + SUFFIX
    key = _key(path, options)
    dataset = _load(kept, key)
    if dataset is None:
        dataset = read()
        if _key(path, options) == key:  # the file did not change while it was read
            with suppress(OSError):  # a folder that cannot be written to has no cache
                _store(kept, key, dataset)
    return dataset


def _key(path: str | os.PathLike[str], options: dict[str, Any]) -> str:
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return json.dumps(
        {
            "version": VERSION,
            "size": status.st_size,
            "time": status.st_mtime_ns,
            "sha256": digest,
            "options": options,
        },
        sort_keys=True,
    )


def _load(kept: str, key: str) -> Dataset | None:
    """The data set, or None if there is none, or not this one, or it is damaged."""
    try:
        held = os.stat(kept).st_size
        limit = Limit(kept, held, held)  # nothing in it is packed, so nothing expands
        if str(load_npz(kept, limit, ["key"])[0]["key"]) != key:
            return None
        arrays, _ = load_npz(kept, limit, _ARRAYS)
        y = arrays.get("y")
        names = tuple(arrays["feature_names"].tolist()) if "feature_names" in arrays else None
        if "X" in arrays:
            return Dataset(arrays["X"], y, names)
        X = sparse.csr_matrix(
            (arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"])
        )
        X.check_format(full_check=True)
        X.has_canonical_format = True
        return Dataset(X, y, names)
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return None


def _store(kept: str, key: str, dataset: Dataset) -> None:
    arrays: dict[str, Any] = {"key": np.array(key)}
    if sparse.issparse(dataset.X):
        X = dataset.X
        arrays.update(data=X.data, indices=X.indices, indptr=X.indptr, shape=np.array(X.shape))
    else:
        arrays["X"] = dataset.X
    if dataset.y is not None:
        arrays["y"] = dataset.y
    if dataset.feature_names is not None:
        arrays["feature_names"] = np.array(dataset.feature_names, dtype=np.str_)
    with atomic_write(kept) as file:
        np.savez(file, **arrays)
