"""The fits behind two_scales.py: the sets as they are split, and one side on one set."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import data
import numpy as np
from timing import best_of, peak_memory

THETA, UPSILON = 0.6, 0.5
# gamma, ridge, accuracy to reach, seconds or times faster than exact to reach
SETS: dict[str, tuple[float, float, float | None, float | None]] = {
    "cod-rna": (2.0, 0.3, 0.9555, 3.0),
    "a9a": (0.03, 1.0, None, 3.0),
    "susy-subset": (0.125, 0.03, None, 3.0),
    "skin-nonskin": (4.0, 0.1, None, 3.0),
    "ijcnn1": (2.0, 0.0173, 0.9932, 8.0),
    "ijcnn1-official": (2.0, 0.2, 0.9789, None),
    "fashion-mnist": (0.015, 0.1, 0.897, 3.0),
    "covtype": (32.0, 0.1, 0.960, None),
    "covtype-blocks": (32.0, 0.1, 0.878, None),
    "covtype-7": (32.0, 0.1, 0.955, None),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the rows to be decided; at most 20,000 of those."""
    if name == "fashion-mnist":
        return _fashion()
    kind = name.split("-")[-1]
    X, y = data.read("covtype" if name.startswith("covtype") else name.removesuffix("-official"))
    X = data.scaled(X, X.min(0), X.max(0))
    if name.startswith("covtype") and kind != "7":
        y = np.where(y == 2, 1, -1)
    if kind == "official":  # the first 49,990 rows are the training part
        return X[:49_990], y[:49_990], X[49_990:], y[49_990:]
    rng = np.random.default_rng(0)
    if kind == "blocks":  # 2,000 rows that follow each other stay together: no neighbour leaks
        block = np.arange(len(y)) // 2000
        test = np.isin(block, rng.permutation(block[-1] + 1)[: int(0.2 * (block[-1] + 1))])
        train, test = rng.permutation(np.flatnonzero(~test)), rng.permutation(np.flatnonzero(test))
    else:
        train, test = np.split(rng.permutation(len(y)), [int(0.8 * len(y))])
    return X[train], y[train], X[test][:20_000], y[test][:20_000]


def _fashion() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    def read(name: str, skip: int) -> np.ndarray:
        path = data.directory() / "fashion-mnist" / f"{name}-ubyte.gz"
        return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=skip)

    def rows(name: str) -> np.ndarray:
        return read(f"{name}-images-idx3", 16).reshape(-1, 784).astype(np.float32) / 255

    def labels(name: str) -> np.ndarray:
        return read(f"{name}-labels-idx1", 8).astype(int)

    return rows("train"), labels("train"), rows("t10k"), labels("t10k")


def settings(name: str, n: int) -> dict[str, Any]:
    """The parameters for n rows of a set: the ridge carries over."""
    gamma, ridge, *_ = SETS[name]
    lam = (1 - THETA) ** 2 * n / ridge
    return {"gamma": gamma, "lam": lam, "theta": THETA, "upsilon": UPSILON, "random_state": 0}


def fit(name: str, side: str, rows: int | None = None, limit: float | None = None) -> dict[str, Any]:
    """One side on one set, or on its first rows."""
    import warnings

    import sodm

    warnings.simplefilter("ignore")
    X, y, X_test, y_test = load(name)
    X, y = X[:rows], y[:rows]
    own = settings(name, len(y))
    makes: dict[str, Callable[[], Any]] = {
        "two scales": lambda: sodm.SODMClassifier(**own),
        "Algorithm 1": lambda: sodm.SODMClassifier(regions=None, time_limit=limit, **own),
        "exact": lambda: sodm.ODMClassifier(**own),
        "oneDAL": lambda: _onedal(own["gamma"]),
    }
    machine = makes[side]()
    before = peak_memory()
    seconds, _ = best_of(lambda: machine.fit(X, y), 3, slow_once=True)
    memory = peak_memory() - before
    machine.predict(X_test[:100])
    decide, _ = best_of(lambda: machine.predict(X_test), 3)
    return {
        "rows": len(y),
        "seconds": seconds,
        "accuracy": float(np.mean(machine.predict(X_test) == y_test)),
        "decide": decide,
        "queries": len(y_test),
        "memory": memory,
        "stop": getattr(machine, "stop_reason_", ""),
        "regions": getattr(machine, "history_", [{}])[-1].get("n_partitions"),
    }


def _onedal(gamma: float) -> Any:
    from sklearnex.svm import SVC

    return SVC(C=32.0 if gamma == 32.0 else 10.0, gamma=gamma, cache_size=2000)
