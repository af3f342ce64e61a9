"""Read a file in any of the formats, chosen by its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from scipy import sparse

from sodm.data.arrow import read_arrow
from sodm.data.dataset import Dataset
from sodm.data.delimited import read_csv
from sodm.data.errors import DataError
from sodm.data.libsvm import read_libsvm
from sodm.data.limits import MAX_EXPANSION
from sodm.data.numpy_files import read_npy, read_npz

Format = Literal["auto", "libsvm", "csv", "arrow", "npz", "npy"]
FORMATS = ("auto", "libsvm", "csv", "arrow", "npz", "npy")

_COMPRESSED = {".gz", ".bz2", ".xz", ".zst", ".zstd", ".lzma"}
_WORKBOOKS = {".xlsx", ".xlsm", ".xls", ".ods"}
_BY_SUFFIX: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "arrow",
    ".pq": "arrow",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".npz": "npz",
    ".npy": "npy",
}


def format_of(path: str | os.PathLike[str]) -> Format:
    """The format a file's name tells; LIBSVM text where it tells none.

    Examples
    --------
    >>> format_of("a9a.t"), format_of("iris.csv.gz"), format_of("X.npz")
    ('libsvm', 'csv', 'npz')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _WORKBOOKS:
        raise DataError(path, "this is a workbook of a spreadsheet program: save its sheet as CSV first")
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _BY_SUFFIX.get(suffixes[-1], "libsvm") if suffixes else "libsvm"


def read(
    path: str | os.PathLike[str],
    *,
    format: Format = "auto",
    label: str | int | None = "auto",
    header: bool | Literal["auto"] = "auto",
    separator: str | None = None,
    zero_based: bool = False,
    n_features: int | None = None,
    cache: bool = False,
    n_threads: int | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Dataset:
    """Read a data set: LIBSVM text, CSV, TSV, Parquet, Arrow, .npz or .npy.

    Parameters
    ----------
    path : path
        Text may be compressed with gzip, bzip2, xz or zstd.
    format : {"auto", "libsvm", "csv", "arrow", "npz", "npy"}, default="auto"
        "auto" goes by the name; what has no known ending is LIBSVM text.
    label, header, separator
        Of tables, see `read_csv`; LIBSVM text and .npz have their labels in place.
    zero_based : bool, default=False
        Of LIBSVM text, see `read_libsvm`.
    n_features : int, optional
        How many columns X must have. LIBSVM text, which leaves zeros out, is given that many.
    cache : bool, default=False
        Keep the rows of parsed text beside the file, and take them from there while the file stays as it is.
    n_threads : int, optional
        None: all cores. The result does not depend on it.
    max_expansion : float, default=200
        How many times its size a file may unpack to; 64 MiB are always allowed. A file that holds more is
        refused: a few kilobytes can be made to fill all memory.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "points.tsv")
    >>> _ = path.write_text("0.5\\t1\\ta\\n2.5\\t3\\tb\\n")
    >>> X, y = read(path, label=-1)
    >>> X.tolist(), y.tolist()
    ([[0.5, 1.0], [2.5, 3.0]], ['a', 'b'])
    """
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}, got {format!r}.")
    kind = format_of(path) if format == "auto" else format
    if kind == "libsvm":
        return read_libsvm(
            path,
            n_features=n_features,
            zero_based=zero_based,
            cache=cache,
            n_threads=n_threads,
            max_expansion=max_expansion,
        )
    if kind == "csv":
        dataset = read_csv(
            path,
            label=label,
            header=header,
            separator=separator,
            cache=cache,
            n_threads=n_threads,
            max_expansion=max_expansion,
        )
    elif kind == "arrow":
        dataset = read_arrow(path, label=label, max_expansion=max_expansion)
    elif kind == "npz":
        dataset = read_npz(path, max_expansion=max_expansion)
    else:
        dataset = read_npy(path, label=label)
    found = dataset.X.shape[1]
    if n_features is not None and found != n_features:
        if sparse.issparse(dataset.X) and found < n_features:
            dataset.X.resize(dataset.X.shape[0], n_features)
        else:
            raise DataError(path, f"there are {found} features where there should be {n_features}")
    return dataset
