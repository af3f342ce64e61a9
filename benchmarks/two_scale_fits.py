"""The fits behind two_scales.py: the sets as they are split, and one side on one set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import data
import numpy as np
from timing import best_of, forget_peak, peak_memory

THETA, UPSILON = 0.6, 0.5


@dataclass(frozen=True)
class Case:
    """A set, with parameters found on at most 10,000 rows of it, and what must be reached.

    Attributes
    ----------
    gamma, ridge : float
    accuracy : float or None
    seconds : float or None
        At most.
    faster : float or None
        Times faster than the exact machine.
    exact : bool
        Whether the exact machine is tried: its rows squared may be too many.
    """

    gamma: float
    ridge: float
    accuracy: float | None = None
    seconds: float | None = None
    faster: float | None = None
    exact: bool = True


# Finer borders than a random sample shows: found on neighbourhoods of 10,000 rows together, by `python
# two_scale_tuning.py covtype --near` (two classes; a random sample of as many asks for gamma 8, ridge .3).
COVTYPE = {"gamma": 64.0, "ridge": 0.1, "exact": False}
SETS = {
    "cod-rna": Case(1.0, 0.03, accuracy=0.9555, faster=3.0),
    "a9a": Case(0.03, 1.0, faster=3.0),
    "a9a-official": Case(0.03, 1.0, faster=3.0),
    "susy-subset": Case(0.125, 0.03, faster=3.0),
    "skin-nonskin": Case(4.0, 0.1, faster=3.0),
    "ijcnn1": Case(2.0, 0.0173, accuracy=0.9932, faster=8.0),
    "ijcnn1-official": Case(2.0, 0.2),
    "fashion-mnist": Case(0.021, 0.03, accuracy=0.897, faster=3.0),
    "covtype": Case(**COVTYPE, accuracy=0.960, seconds=30.0),
    "covtype-blocks": Case(**COVTYPE, accuracy=0.878, seconds=30.0),
    "covtype-7": Case(**COVTYPE, accuracy=0.955, seconds=60.0),
    "shells": Case(0.125, 0.64, accuracy=0.97),  # made; gamma and ridge are those of the defaults
}
BLOCK = 2000  # rows that follow each other and stay together where a split must not leak
RIDGES = (0.0173, 0.06, 0.2, 0.6)  # that cross-validation has to choose from


def load(name: str, split: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the rows to be decided; at most 20,000 of those. `split` numbers the random ones."""
    if name == "fashion-mnist":
        return data.fashion_mnist()
    if name == "shells":
        return _shells()
    kind = name.split("-")[-1]
    if name == "a9a-official":  # its own test part
        X, y = data.read("a9a")
        X_test, y_test = data.read("a9a.t", features=X.shape[1])
        low, high = X.min(0), X.max(0)
        return data.scaled(X, low, high), y, data.scaled(X_test, low, high), y_test
    X, y = data.read("covtype" if name.startswith("covtype") else name.removesuffix("-official"))
    X = data.scaled(X, X.min(0), X.max(0))
    if name.startswith("covtype") and kind != "7":
        y = np.where(y == 2, 1, -1)
    if kind == "official":  # the first 49,990 rows are the training part
        return X[:49_990], y[:49_990], X[49_990:], y[49_990:]
    rng = np.random.default_rng(split)
    if kind == "blocks":  # no neighbour leaks
        block = np.arange(len(y)) // BLOCK
        test = np.isin(block, rng.permutation(block[-1] + 1)[: int(0.2 * (block[-1] + 1))])
        train, test = rng.permutation(np.flatnonzero(~test)), rng.permutation(np.flatnonzero(test))
    else:
        train, test = np.split(rng.permutation(len(y)), [int(0.8 * len(y))])
    return X[train], y[train], X[test][:20_000], y[test][:20_000]


def _shells() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Four classes around each other in eight dimensions: smooth, and hard to tell from the rest."""
    from sklearn.datasets import make_gaussian_quantiles

    X, y = make_gaussian_quantiles(n_samples=60_000, n_features=8, n_classes=4, random_state=0)
    train, test = np.split(np.random.default_rng(0).permutation(len(y)), [48_000])
    return X[train], y[train], X[test], y[test]


def settings(name: str, n: int, ridge: float | None = None) -> dict[str, Any]:
    """The parameters for n rows of a set: the ridge carries over."""
    case = SETS[name]
    lam = (1 - THETA) ** 2 * n / (ridge or case.ridge)
    return {"gamma": case.gamma, "lam": lam, "theta": THETA, "upsilon": UPSILON, "random_state": 0}


def ridge_by_blocks(name: str) -> dict[str, float]:
    """The ridge by cross-validation on blocks of the training part, as the exact machine says.

    Five blocks from all over it, 10,000 rows, each decided by a machine of the others.
    """
    import sodm

    X, y, _, _ = load(name)
    first = np.linspace(0, len(y) - BLOCK, 5).astype(int)
    blocks = [np.arange(at, at + BLOCK) for at in first]
    scores = {}
    for ridge in RIDGES:
        right = 0
        for held in range(len(blocks)):
            rows = np.concatenate([block for k, block in enumerate(blocks) if k != held])
            machine = sodm.ODMClassifier(**settings(name, len(rows), ridge)).fit(X[rows], y[rows])
            right += int(np.sum(machine.predict(X[blocks[held]]) == y[blocks[held]]))
        scores[ridge] = right / (len(blocks) * BLOCK)
    best = max(scores, key=lambda ridge: (scores[ridge], ridge))
    return {"ridge": best, "accuracy": scores[best]}


def fit(
    name: str,
    side: str,
    rows: int | None = None,
    limit: float | None = None,
    ridge: float | None = None,
    gamma: float | None = None,
    repeat: int = 3,
) -> dict[str, Any]:
    """One side on one set, or on its first rows; the shortest of some fits unless they are long."""
    import warnings

    import sodm

    warnings.simplefilter("ignore")
    X, y, X_test, y_test = load(name)
    X, y = X[:rows], y[:rows]
    own = settings(name, len(y), ridge)
    if gamma is not None:
        own["gamma"] = gamma
    makes: dict[str, Callable[[], Any]] = {
        "two scales": lambda: sodm.SODMClassifier(**own),
        "Algorithm 1": lambda: sodm.SODMClassifier(regions=None, time_limit=limit, **own),
        "exact": lambda: sodm.ODMClassifier(**own),
        "oneDAL": lambda: _onedal(own["gamma"]),
    }
    machine = makes[side]()
    before = forget_peak()
    seconds, _ = best_of(lambda: machine.fit(X, y), repeat, slow_once=True)
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


def split_by_split(name: str, splits: int) -> dict[str, list[float]]:
    """Accuracy of two scales and of the exact machine on the same rows, for several random splits."""
    import warnings

    import sodm

    warnings.simplefilter("ignore")
    found: dict[str, list[float]] = {"two scales": [], "exact": []}
    for split in range(splits):
        X, y, X_test, y_test = load(name, split)
        own = settings(name, len(y))
        for side, machine in (("two scales", sodm.SODMClassifier), ("exact", sodm.ODMClassifier)):
            found[side].append(float(machine(**own).fit(X, y).score(X_test, y_test)))
    return found


def _onedal(gamma: float) -> Any:
    from sklearnex.svm import SVC

    return SVC(C=32.0 if gamma == 32.0 else 10.0, gamma=gamma, cache_size=2000)
