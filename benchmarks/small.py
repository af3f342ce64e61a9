"""Small sets, 150 to 650 rows of two to eleven classes, with the defaults: ours against SVC."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from table import Row
from timing import best_of, isolated

RUNS = 40  # such fits take milliseconds: the best of many, in turns, for a machine's speed changes in between


def sets() -> dict[str, tuple[Any, Any]]:
    """Rows in [0, 1] and labels, by name: sets bundled with scikit-learn, or made from them or by it."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
    from sklearn.preprocessing import minmax_scale

    found = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    found["breast cancer"] = load_breast_cancer(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    for n in (300, 630, 650):
        found[f"digits, {n} rows"] = X[order[:n]], y[order[:n]]
    for a, b in ((3, 8), (1, 7), (4, 9)):
        pair = (y == a) | (y == b)
        found[f"digits, {a} and {b}"] = X[pair], y[pair]
    found["digits, 0 to 2"] = X[y < 3], y[y < 3]
    few = order[np.isin(order, np.flatnonzero(y < 5))][:600]
    found["digits, 0 to 4"] = X[few], y[few]
    found["digits, odd or even"] = X[order[:600]], y[order[:600]] % 2
    for k in (4, 11):
        for n in (630, 650):
            made = make_classification(n, 10, n_informative=8, n_classes=k, random_state=k)
            found[f"made, {k} classes, {n} rows"] = made
    return {name: (minmax_scale(X), y) for name, (X, y) in found.items()}


def measure() -> dict[str, Any]:
    """Seconds of a fit on each set, ours and theirs."""
    from sklearn.svm import SVC

    from sodm import ODMClassifier

    seconds = {}
    for name, (X, y) in sets().items():
        times = [
            [best_of(lambda m=machine, X=X, y=y: m.fit(X, y), 1)[0] for machine in (ODMClassifier(), SVC())]
            for _ in range(RUNS)
        ]
        seconds[name] = [min(side) for side in zip(*times, strict=True)]
    return seconds


def rows(threads: int) -> Iterator[Row]:
    seconds = isolated(measure, threads)
    ours, theirs = ({name: both[k] for name, both in seconds.items()} for k in (0, 1))
    for name, (X, y) in sets().items():
        what = f"fit with defaults, {name} ({X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes)"
        figures = (f"{1000 * side[name]:.2f} ms" for side in (ours, theirs))
        yield Row(what, "SVC, 1 thread", *figures, ratio=theirs[name] / ours[name], bar=1.0, digits=2)
    for name in ("digits", "made, 4 classes", "made, 11 classes"):
        few, more = ours[f"{name}, 630 rows"], ours[f"{name}, 650 rows"]
        figures = (f"{1000 * value:.2f} ms" for value in (few, more))
        yield Row(f"no cliff at 640 rows, {name}: 630 rows", "650 rows", *figures, ratio=few / more)
