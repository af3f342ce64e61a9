"""What the fuzzers call: each target takes bytes, and may raise only the error it is meant to."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from scipy import sparse

import sodm
from sodm.data import DataError, read_csv, read_libsvm, read_npy, read_npz
from sodm.data.read_columns import read_columns
from sodm.model import ModelFileError, from_libsvm

_HELD = tempfile.TemporaryDirectory(prefix="sodm-fuzz-")  # removed when the process ends
FOLDER = Path(_HELD.name)


def libsvm_reader(data: bytes) -> None:
    """Rows or a DataError; and the same whatever the number of threads."""
    path = _file(data)
    try:
        one, labels = _quietly(lambda: read_libsvm(path, n_threads=1))
    except DataError:
        return
    two, again = _quietly(lambda: read_libsvm(path, n_threads=2))
    one.check_format(full_check=True)
    assert one.shape == two.shape and (one != two).nnz == 0 and np.array_equal(labels, again)
    assert one.shape[0] == len(labels) > 0 and np.isfinite(one.data).all()


def csv_reader(data: bytes) -> None:
    """Rows or a DataError."""
    path = _file(data)
    try:
        X, y = _quietly(lambda: read_csv(path, label=0))
    except DataError:
        return
    assert X.shape[0] == len(y) > 0 and np.isfinite(X).all()


def table_reader(data: bytes) -> None:
    """Columns of any kind, or a DataError."""
    path = _file(data)
    try:
        table = _quietly(lambda: read_columns(path, format="csv", label=-1))
    except DataError:
        return
    assert table.y is not None and all(len(column.values) == len(table.y) > 0 for column in table.columns)


def packed_reader(data: bytes) -> None:
    """Rows or a DataError, of text that is compressed in one way or the other."""
    path = _file(data)
    try:
        X, y = _quietly(lambda: read_libsvm(path))
    except DataError:
        return
    assert X.shape[0] == len(y) > 0 and np.isfinite(X.data).all()


def numpy_reader(data: bytes) -> None:
    """Rows or a DataError, of a .npz and of a .npy."""
    path = _file(data)
    for read in (read_npz, lambda path: read_npy(path, label=None)):
        try:
            X, _ = read(path)
        except DataError:
            continue
        assert X.shape[0] > 0 and np.isfinite(X.data if sparse.issparse(X) else X).all()


def model_loader(data: bytes) -> None:
    """A machine that decides, or a ModelFileError."""
    path = _file(data)
    try:
        model = sodm.load(path, mmap=False)
    except ModelFileError:
        return
    values = model.decision_function(np.zeros((2, model.n_features_in_)))
    assert len(values) == 2 and len(model.predict(np.zeros((1, model.n_features_in_)))) == 1


def libsvm_model_loader(data: bytes) -> None:
    """A machine that decides, or a ModelFileError."""
    path = _file(data)
    try:
        model = from_libsvm(path)
    except ModelFileError:
        return
    if model.n_features_in_ < 10_000:
        assert len(model.decision_function(np.zeros((2, model.n_features_in_)))) == 2


TARGETS: dict[str, Callable[[bytes], None]] = {
    "libsvm_reader": libsvm_reader,
    "csv_reader": csv_reader,
    "table_reader": table_reader,
    "packed_reader": packed_reader,
    "numpy_reader": numpy_reader,
    "model_loader": model_loader,
    "libsvm_model_loader": libsvm_model_loader,
}


def seeds(target: str) -> list[bytes]:
    """Good inputs to begin from."""
    rng = np.random.default_rng(0)
    X, y = np.round(rng.normal(size=(20, 4)), 3), np.arange(20) % 2
    if target == "libsvm_reader":
        return [b"+1 1:0.5 3:-2e-3\n-1 2:1 # c\n\n", b"spam 1:1\r\nham 7:2\n", b"1\n2 5:1e300"]
    if target == "csv_reader":
        return [b"y,a,b\n1,2,3\n0,4.5,-1e3\n", b'"x ""q""",1\ny,2\n', b"1;2;3\n4;5;6"]
    if target == "table_reader":
        return [
            b"sep=;\nkg;colour;y\n1.5;red;a\n;blue;b\n",
            b'kg,"a ""b""",ok,y\n1,x,true,u\n2,,false,v\n',
            b"a,y\n$1,x\n5 %,y\n1.234,y\n",
        ]
    if target == "packed_reader":
        return _packed_seeds()
    if target == "numpy_reader":
        return _numpy_seeds(X, y)
    machine = sodm.ODMClassifier(theta=0.5).fit(X, y)
    path = FOLDER / "seed"
    if target == "model_loader":
        sodm.save(machine, path)
    else:
        sodm.model.to_libsvm(machine, path)
    return [path.read_bytes()]


def _packed_seeds() -> list[bytes]:
    """Good text, and text that expands a thousand times, packed in every way."""
    texts = [b"+1 1:0.5 3:-2e-3\n-1 2:1\n" * 9, b"1 1:1\n" + b" " * 2**20, b"\n" * 2**20]
    packers = [gzip.compress, bz2.compress, lzma.compress, zstandard.compress]
    return [pack(text) for pack in packers for text in texts]


def _numpy_seeds(X: Any, y: Any) -> list[bytes]:
    """Good arrays, zeros that expand a thousand times, and one that says it has terabytes."""
    rows, zeros = sparse.csr_matrix(X), np.zeros((2**14, 8))
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    writes: list[Callable[[Any], None]] = [
        lambda file: np.savez(file, X=X, y=y),
        lambda file: np.savez_compressed(file, X=zeros, y=np.zeros(2**14)),
        lambda file: np.savez(file, **parts, format=b"csr", y=y),
        lambda file: np.save(file, X),
    ]
    found = []
    for write in writes:
        with io.BytesIO() as file:
            write(file)
            found.append(file.getvalue())
    return [*found, found[-1].replace(b"(20, 4), }       ", b"(9999999999, 99)}", 1)]


def _file(data: bytes) -> Path:
    path = FOLDER / "input"
    path.write_bytes(data)
    return path


def _quietly(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a last line without newline
        return call()
