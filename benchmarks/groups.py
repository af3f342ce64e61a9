"""The defaults against those of others on many small sets: wins, ties and losses by group."""

import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import keel
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC

from sodm import ODMClassifier

MOST_ROWS, FOLDS, TIE = 2000, 4, 0.05  # points
LARGE = 2.0  # points: losses that are told set by set
BUNDLED = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
OTHERS = ("SVC()", "LinearSVC()", "LogisticRegression()")


def sets(letters: str) -> Iterator[tuple[str, bool, Any, Any]]:
    """Name, whether it is imbalanced, rows and labels."""
    listed = [(name, "balanced") for name in keel.names("balanced", letters)]
    listed += [(name, "imbalanced") for name in keel.names("imbalanced", letters)]
    for name, kind in listed:
        yield name, kind == "imbalanced", *keel.read(name, kind)
    for name, load in BUNDLED.items():
        yield name, False, *load(return_X_y=True)


def machines(weight: str | None) -> dict[str, Any]:
    return {
        "ODMClassifier()": ODMClassifier(class_weight=weight),
        "SVC()": SVC(class_weight=weight),
        "LinearSVC()": LinearSVC(class_weight=weight),
        "LogisticRegression()": LogisticRegression(class_weight=weight, max_iter=500),
    }


def scores(X: Any, y: Any, rare: bool) -> dict[str, np.ndarray]:
    """Score of each machine in points on each of the same folds; twice as many where rows are few."""
    measure = balanced_accuracy_score if rare else accuracy_score
    found = defaultdict(list)
    for seed in range(1 if len(y) > 1000 else 2):
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
            scaler = MinMaxScaler().fit(X[train])
            A, B = scaler.transform(X[train]), scaler.transform(X[test])
            for name, machine in machines("balanced" if rare else None).items():
                found[name].append(100 * measure(y[test], machine.fit(A, y[train]).predict(B)))
    return {name: np.array(values) for name, values in found.items()}


def print_groups(letters: str = keel.SETTLING) -> None:
    """The tables of docs/defaults.md: groups, and losses above 2 points with their errors over the folds."""
    warnings.simplefilter("ignore")
    gains: dict[str, list[list[float]]] = defaultdict(list)
    large: list[str] = []
    for name, rare, X, y in sets(letters):
        order = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, y = X[order], np.unique(y[order], return_inverse=True)[1]
        if np.bincount(y).min() < FOLDS:
            continue
        points = scores(X, y, rare)
        paired = [points["ODMClassifier()"] - points[other] for other in OTHERS]
        gain = [float(one.mean()) for one in paired]
        for other, mean, one in zip(OTHERS, gain, paired, strict=True):
            if mean < -LARGE:
                error = one.std(ddof=1) / np.sqrt(len(one))
                svc = float((points["SVC()"] - points[other]).mean())
                cells = [name, f"{len(y):,}", str(np.bincount(y).min()), f"`{other}`"]
                large.append("| " + " | ".join([*cells, f"{mean:+.2f} ± {error:.2f}", f"{svc:+.2f}"]) + " |")
        size = "under 1,000 rows" if len(y) < 1000 else "1,000 rows and more"
        classes = "two classes" if y.max() == 1 else "more classes"
        for group in ["imbalanced, weighted"] if rare else [size, classes]:
            gains[group].append(gain)
    print("| group | sets | " + " | ".join(f"`{other}`" for other in OTHERS) + " |")
    print("|" + "---|" * (2 + len(OTHERS)))
    for group, rows in gains.items():
        cells = []
        for column in np.array(rows).T:
            wins, losses = int((column > TIE).sum()), int((column < -TIE).sum())
            tally = f"{wins} {len(column) - wins - losses} {losses}"
            cells.append(f"{tally}, {column.mean():+.2f}, {column.min():+.2f}")
        print(f"| {group} | {len(rows)} | " + " | ".join(cells) + " |")
    print("\n| set | rows | of the rarest class | against | difference | of `SVC()` |\n" + "|---" * 6 + "|")
    print("\n".join(large))
