"""What the fuzzers call: each target takes bytes, and may raise only the error it is meant to."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sodm
from sodm.data import DataError, read_csv, read_libsvm
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
    machine = sodm.ODMClassifier(theta=0.5).fit(X, y)
    path = FOLDER / "seed"
    if target == "model_loader":
        sodm.save(machine, path)
    else:
        sodm.model.to_libsvm(machine, path)
    return [path.read_bytes()]


def _file(data: bytes) -> Path:
    path = FOLDER / "input"
    path.write_bytes(data)
    return path


def _quietly(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a last line without newline
        return call()
