"""HistGradientBoostingClassifier beside our machines, on the same rows; both sides in turns, in one process.

    SODM_DATA=folder python benchmarks/boosting.py [NAME ...]
    SODM_DATA=folder python benchmarks/boosting.py --full [NAME ...]  # boosting alone, rows of bench-core

Rows are split at random, 80 to 20, and scaled to [0, 1]. Both sides choose among six settings, fitted to
6,000 training rows at most and scored on 2,000 others: ours gamma and lam, boosting the learning rate and the
leaves of its 300 trees. Seconds are those of the last fit, to all training rows, without the choice.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from data import fashion_mnist, split
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from sodm import ODMClassifier, SODMClassifier, data
from sodm.problem.kernels import resolve_gamma

SETS = ("svmguide1", "phishing", "cod-rna", "a9a", "ijcnn1")
MOST_ROWS = 40_000
EXACT_UP_TO = 20_000


def chosen(makers: list[Callable[[], Any]], X: Any, y: Any) -> tuple[Any, float]:
    """The best of several on some of the rows, fitted to all; and how long that fit took."""
    fit, held = slice(0, min(6000, 3 * len(y) // 4)), slice(-min(2000, len(y) // 4), None)
    best = max(makers, key=lambda make: make().fit(X[fit], y[fit]).score(X[held], y[held]))
    start = time.perf_counter()
    machine = best().fit(X, y)
    return machine, time.perf_counter() - start


def boosted() -> list[Callable[[], Any]]:
    """The settings that boosting chooses among."""
    return [
        partial(
            HistGradientBoostingClassifier,
            learning_rate=rate,
            max_leaf_nodes=leaves,
            max_iter=300,
            early_stopping=False,
            random_state=0,
        )
        for rate in (0.03, 0.1, 0.3)
        for leaves in (15, 63)
    ]


def full(names: list[str]) -> None:
    """All rows, split as in `make bench-core`."""
    for name in names:
        X, y, X_test, y_test = fashion_mnist() if name == "fashion-mnist" else split(name)
        fitted, seconds = chosen(boosted(), X, y)
        print(
            f"{name:14} {len(y):7} rows  {fitted.score(X_test, y_test):.4f}  {seconds:.2f} s  "
            f"(rate {fitted.learning_rate}, {fitted.max_leaf_nodes} leaves)",
            flush=True,
        )


def main() -> None:
    if sys.argv[1:2] == ["--full"]:
        full(sys.argv[2:] or ["a9a", "cod-rna", "ijcnn1", "skin-nonskin", "covtype"])
        return
    for name in sys.argv[1:] or SETS:
        X, y = data.load(name)
        X = np.asarray(X.todense()) if sparse.issparse(X) else X
        rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, X_test, y, y_test = train_test_split(X[rows], y[rows], test_size=0.2, random_state=0)
        scaler = MinMaxScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        scale = resolve_gamma("scale", X)
        machine = ODMClassifier if len(y) <= EXACT_UP_TO else SODMClassifier
        ours = [
            partial(machine, gamma=factor * scale, lam=lam) for factor in (1, 4, 16) for lam in (1e3, 1e5)
        ]
        for label, makers in ((machine.__name__, ours), ("HistGradientBoosting", boosted())):
            fitted, seconds = chosen(makers, X, y)
            score = fitted.score(X_test, y_test)
            print(f"{name:12} {len(y):6} rows  {label:22} {score:.4f}  {seconds:.2f} s", flush=True)


if __name__ == "__main__":
    main()
