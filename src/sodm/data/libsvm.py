"""LIBSVM text, read by the compiled parser (core/text/libsvm_parser.cpp) and written."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sodm import _core
from sodm.data.cache import cached
from sodm.data.dataset import Dataset, labels_from_text
from sodm.data.limits import MAX_EXPANSION, Limit
from sodm.data.parsing import parse
from sodm.data.streams import blocks
from sodm.data.threads import threads_for
from sodm.files import atomic_write


def read_libsvm(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    cache: bool = False,
    n_threads: int | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Dataset:
    """Read LIBSVM text: one row per line, ``label index:value index:value ...``.

    Parameters
    ----------
    path : path
    n_features : int, optional
        Number of columns; an index beyond is an error. None: the largest index tells.
    zero_based : bool, default=False
        Whether indices count from 0 rather than from 1.
    cache, n_threads, max_expansion
        See `read`.

    Returns
    -------
    Dataset
        X is a CSR matrix; its indices are int32 if they fit.

    Raises
    ------
    DataError
        Naming file, line and column. Nothing is returned from a file that is damaged or cut short, or that
        expands too far.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two-rows")
    >>> _ = path.write_text("spam 1:0.5 3:2\\nham 2:1\\n")
    >>> X, y = read_libsvm(path)
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], ['spam', 'ham'])
    """
    options = {"format": "libsvm", "n_features": n_features, "zero_based": zero_based}
    limit = Limit.of(path, max_expansion)
    return cached(
        path, options, lambda: _read(limit, n_features, zero_based, threads_for(n_threads)), enabled=cache
    )


def _read(limit: Limit, n_features: int | None, zero_based: bool, n_threads: int) -> Dataset:
    parser = _core.LibsvmParser(zero_based, -1 if n_features is None else n_features)
    parse(parser, blocks(limit.path, limit), limit.path, n_threads)
    names, shape = parser.label_names, (parser.rows, parser.features)
    widest = np.iinfo(np.int32).max
    wide = parser.values > widest or shape[1] > widest
    data, indices, indptr, numbers = parser.take(wide, n_threads)
    X = sparse.csr_matrix((data, indices, indptr), shape=shape, copy=False)
    X.has_canonical_format = True  # the parser has seen every index ascend
    return Dataset(X, labels_from_text(names, numbers, limit))


def write_libsvm(path: str | os.PathLike[str], X: Any, y: ArrayLike, *, zero_based: bool = False) -> None:
    """Write LIBSVM text that reads back to the same numbers, to the last bit.

    Parameters
    ----------
    path : path
        Replaced only when all is written.
    X : array-like or sparse matrix, shape (n_samples, n_features)
    y : array-like, shape (n_samples,)
        Numbers or names; names must not have blanks, colons or control characters, nor begin with ``#``.
    zero_based : bool, default=False
        Count indices from 0 rather than from 1.
    """
    rows = sparse.csr_matrix(X)
    rows.sum_duplicates()
    labels = [_label_text(label) for label in np.asarray(y).tolist()]
    if len(labels) != rows.shape[0]:
        raise ValueError(f"y must have one label per row of X: {len(labels)} for {rows.shape[0]} rows.")
    if not np.isfinite(rows.data).all():
        raise ValueError("X has NaN or infinite values, which LIBSVM text cannot hold.")
    with atomic_write(path) as file:
        for i, label in enumerate(labels):
            at = slice(rows.indptr[i], rows.indptr[i + 1])
            indices = (rows.indices[at].astype(np.int64) + (not zero_based)).tolist()
            values = rows.data[at].astype(np.float64).tolist()
            pairs = [f"{j}:{v!r}" for j, v in zip(indices, values, strict=True) if v != 0]
            file.write((" ".join([label, *pairs]) + "\n").encode())


def _label_text(label: Any) -> str:
    text = repr(label) if isinstance(label, float) else str(label)
    if not text or text[0] in "#\ufeff" or any(c in ": \x7f" or ord(c) < 32 for c in text):
        raise ValueError(
            f"y has the label {label!r}, which LIBSVM text cannot hold: labels must not be empty, begin with "
            "'#', or have blanks, colons or control characters."
        )
    return text
