"""Data sets by name: the eight of the paper and a few more.

Checksums of the published files are not recorded, which is said whenever one is fetched. What is known of
each set is its number of rows and features and, where it could be counted, of its labels. That is checked
whenever a set is loaded; and a file once fetched is checked against the hash it had then.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from sodm.data.dataset import Dataset
from sodm.data.download import Line, download
from sodm.data.errors import DataError
from sodm.data.libsvm import read_libsvm
from sodm.files import atomic_write

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
_ENDINGS = ("", ".xz", ".bz2", ".gz", ".zst")


@dataclass(frozen=True)
class NamedSet:
    """A data set of two classes: where its files are, and what must be in them.

    Attributes
    ----------
    name : str
    rows, features : int
    positive : int or None
        Number of rows of the positive class; None: not known.
    urls : tuple of str
        LIBSVM text, to be put one after the other; empty if it is not published as such.
    sha256 : tuple of str or None
        Of the published files, where known.
    note : str
        What to say wherever the set is used.
    """

    name: str
    rows: int
    features: int
    positive: int | None
    urls: tuple[str, ...]
    sha256: tuple[str, ...] | None = None
    note: str = ""


def _published(
    name: str, rows: int, features: int, positive: int | None, *files: str, note: str = ""
) -> NamedSet:
    return NamedSet(name, rows, features, positive, tuple(_LIBSVM + file for file in files), note=note)


SETS = {
    entry.name: entry
    for entry in (
        _published("gisette", 7_000, 5_000, None, "gisette_scale.bz2", "gisette_scale.t.bz2"),
        _published(
            "svmguide1", 7_089, 4, 4_000, "svmguide1", "svmguide1.t", note="3,089 training rows first"
        ),
        _published(
            "phishing", 11_055, 68, 6_157, "phishing", note="half the rows are repeats: a random split leaks"
        ),
        _published("a7a", 32_561, 123, 7_841, "a7a", "a7a.t", note="16,100 training rows first"),
        _published("cod-rna", 59_535, 8, 19_845, "cod-rna"),
        _published(
            "ijcnn1",
            141_691,
            22,
            13_565,
            "ijcnn1.bz2",
            "ijcnn1.t.bz2",
            note="49,990 training rows first; a time series: neighbouring rows resemble each other",
        ),
        _published(
            "skin-nonskin",
            245_057,
            3,
            50_859,
            "skin_nonskin",
            note="four fifths of the rows are repeats: a random split leaks",
        ),
        _published("susy", 5_000_000, 18, None, "SUSY.xz"),
        _published("a9a", 32_561, 123, 7_841, "a9a"),
        _published("a9a.t", 16_281, 123, 3_846, "a9a.t"),
        _published("w8a", 49_749, 300, None, "w8a"),
        _published("mushrooms", 8_124, 112, None, "mushrooms"),
        NamedSet(
            "susy-subset", 39_930, 18, 18_336, (), note="0.8 % of SUSY's rows; its times are not SUSY's"
        ),
    )
}


def names() -> list[str]:
    """The names that `load` knows.

    Returns
    -------
    list of str
    """
    return list(SETS)


def load(name: str, *, download: bool = True) -> Dataset:
    """A data set by name: from $SODM_DATA, from the cache folder, or from the web.

    Parameters
    ----------
    name : str
        One of `names`.
    download : bool, default=True
        Whether to fetch a set that is not here. What was fetched is kept in the cache folder: $SODM_CACHE,
        else ``sodm`` in the user's cache folder.

    Returns
    -------
    Dataset
        X is a CSR matrix with the values as published; y is +1 and -1. Sets published in several parts have
        them one after the other, training rows first.

    Raises
    ------
    DataError
        If a file does not have the rows it should have.
    OSError
        If the set is not here and cannot be fetched, with what to do.

    Examples
    --------
    >>> from sodm.data import load, names
    >>> "ijcnn1" in names()
    True
    >>> X, y = load("svmguide1")  # doctest: +SKIP
    """
    if name not in SETS:
        raise ValueError(f"no data set is named {name!r}; there are {', '.join(SETS)}.")
    return load_set(SETS[name], fetch=download)


def cache_folder() -> Path:
    """Where fetched files are kept."""
    if chosen := os.environ.get("SODM_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sodm"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sodm"


def load_set(wanted: NamedSet, *, fetch: bool = True) -> Dataset:
    """The set from the first place that has it."""
    if folder := os.environ.get("SODM_DATA"):
        found = _files_in(Path(folder), wanted)
        if found:
            return _read(wanted, found, cache=False)
    folder_of_set = cache_folder() / wanted.name
    targets = [folder_of_set / _file_name(url) for url in wanted.urls]
    if not targets:
        raise FileNotFoundError(
            f"{wanted.name} is not published as a file: set SODM_DATA to a folder with {wanted.name}.libsvm."
        )
    for k, (url, target) in enumerate(zip(wanted.urls, targets, strict=True)):
        if target.exists():
            _check_still_the_same(target)
        elif fetch:
            _fetch(url, target, wanted.sha256[k] if wanted.sha256 else None)
        else:
            raise FileNotFoundError(
                f"{wanted.name} is not here: load it with download=True, or set SODM_DATA to a "
                f"folder with its "
                f"files ({', '.join(target.name for target in targets)} or {wanted.name}.libsvm)."
            )
    try:
        return _read(wanted, targets, cache=True)
    except DataError:
        for target in targets:  # so that the next call fetches them again
            target.unlink(missing_ok=True)
        raise


def _files_in(folder: Path, wanted: NamedSet) -> list[Path] | None:
    """The set in one file, name.libsvm, or as it was published, compressed or not; None if absent."""
    for stem in (f"{wanted.name}.libsvm", wanted.name):
        for ending in _ENDINGS:
            if len(wanted.urls) > 1 and stem == wanted.name:
                continue  # the first published part may have the name of the set
            if (path := folder / (stem + ending)).is_file():
                return [path]
    parts = [folder / _file_name(url) for url in wanted.urls]
    return parts if parts and all(path.is_file() for path in parts) else None


def _file_name(url: str) -> str:
    return url.rpartition("/")[2]


def _fetch(url: str, target: Path, sha256: str | None) -> None:
    line = Line(target.name)
    try:
        digest = download(url, target, sha256=sha256, progress=line)
    finally:
        line.end()
    with atomic_write(_record_of(target)) as file:
        record = {"url": url, "size": target.stat().st_size, "sha256": digest}
        file.write(json.dumps(record, indent=1).encode())
    if sha256 is None:
        warnings.warn(
            f"{target.name} was fetched from {url}, and no checksum of the published file is known: its rows "
            f"are counted, and later loads compare it with the SHA-256 it has now, {digest}.",
            UserWarning,
            stacklevel=4,
        )


def _record_of(target: Path) -> Path:
    return target.with_name(target.name + ".json")


def _check_still_the_same(target: Path) -> None:
    """A file kept since an earlier download must hash to what it did then."""
    try:
        expected = json.loads(_record_of(target).read_text())["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # put there by hand: its rows are checked, as always
    with open(target, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != expected:
            raise DataError(target, "the file has changed since it was fetched: delete it to fetch it again")


def _read(wanted: NamedSet, paths: list[Path], *, cache: bool) -> Dataset:
    parts = [read_libsvm(path, n_features=wanted.features, cache=cache) for path in paths]
    X = sparse.vstack([part.X for part in parts], format="csr") if len(parts) > 1 else parts[0].X
    labels = np.concatenate([np.asarray(part.y) for part in parts])
    where = ", ".join(map(str, paths))
    kinds = np.unique(labels)
    if X.shape[0] != wanted.rows:
        raise DataError(where, f"{wanted.name} has {wanted.rows:,} rows, this has {X.shape[0]:,}")
    if len(kinds) != 2 or 1 not in kinds.tolist():
        raise DataError(where, f"{wanted.name} has two labels, 1 and another; this has {kinds[:5].tolist()}")
    y = np.where(labels == 1, 1, -1)
    positive = int(np.sum(y == 1))
    if wanted.positive is not None and positive != wanted.positive:
        raise DataError(
            where, f"{wanted.name} has {wanted.positive:,} rows with label 1, this has {positive:,}"
        )
    return Dataset(X, y)
