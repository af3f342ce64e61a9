"""The data sets of the benchmarks: LIBSVM text in $SODM_DATA, scaled to [0, 1], split 80/20."""

import gzip
import io
import lzma
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

HERE = Path(__file__).resolve().parent
SETS = (
    "svmguide1",
    "phishing",
    "a9a",
    "a9a.t",
    "cod-rna",
    "ijcnn1",
    "skin-nonskin",
    "susy-subset",
    "covtype",
)


def directory() -> Path:
    """Where the sets are: $SODM_DATA, or the shared folder beside the repository."""
    path = Path(os.environ.get("SODM_DATA") or HERE.parent.parent / "shared" / "data")
    if not path.is_dir():
        raise SystemExit(f"{path} is not there: set SODM_DATA to the folder with the *.libsvm.xz files.")
    return path


def read(name: str, features: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The set as published: dense float32 and labels -1/+1. Parsed once, then kept beside the results."""
    kept = HERE / "results" / "cache" / f"{name}.npz"
    if not kept.exists():
        text = lzma.decompress((directory() / f"{name}.libsvm.xz").read_bytes())
        X, y = load_svmlight_file(io.BytesIO(text), n_features=features)
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.savez(kept, X=X.toarray().astype(np.float32), y=y)
    with np.load(kept) as arrays:
        return arrays["X"], arrays["y"]


def fashion_mnist() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X_train, y_train, X_test, y_test as published, pixels in [0, 1]."""
    found: list[np.ndarray] = []
    for part in ("train", "t10k"):
        for kind, head in (("images-idx3", 16), ("labels-idx1", 8)):
            packed = (directory() / "fashion-mnist" / f"{part}-{kind}-ubyte.gz").read_bytes()
            found.append(np.frombuffer(gzip.decompress(packed), np.uint8, offset=head))
    X, y, X_test, y_test = found
    rows, tests = ((own.reshape(-1, 784) / np.float32(255)).astype(np.float32) for own in (X, X_test))
    return rows, y.astype(np.int64), tests, y_test.astype(np.int64)


def scaled(X: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return ((X - low) / np.where(high > low, high - low, 1)).astype(np.float32)


def split(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X_train, y_train, X_test, y_test: all rows scaled to [0, 1] together, then a random 80/20."""
    X, y = read(name)
    if name == "covtype":  # the usual task of two classes: 2 against the rest
        y = np.where(y == 2, 1, -1)
    X = scaled(X, X.min(0), X.max(0))
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [int(0.8 * len(y))])
    return X[train], y[train], X[test], y[test]


def a9a_queries(n: int) -> np.ndarray:
    """n rows of a9a that no model of its 80 % has seen: its other 20 %, then the official test part."""
    _, _, X_test, _ = split("a9a")
    X, _ = read("a9a")
    official, _ = read("a9a.t", features=X.shape[1])
    return np.vstack([X_test, scaled(official, X.min(0), X.max(0))])[:n]
