"""The defaults against those of others on many small sets: wins, ties and losses by group."""

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
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
AGAIN = range(100, 110)  # seeds of other folds, on which sets with a large loss are looked at again
BUNDLED = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
OURS, OTHERS = "ODMClassifier()", ("SVC()", "LinearSVC()", "LogisticRegression()")


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
        OURS: ODMClassifier(class_weight=weight),
        "SVC()": SVC(class_weight=weight),
        "LinearSVC()": LinearSVC(class_weight=weight),
        "LogisticRegression()": LogisticRegression(class_weight=weight, max_iter=500),
    }


def scores(X: Any, y: Any, rare: bool, seeds: Iterable[int]) -> dict[str, np.ndarray]:
    """Score of each machine in points on each of the same folds."""
    measure = balanced_accuracy_score if rare else accuracy_score
    found = defaultdict(list)
    for seed in seeds:
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
            scaler = MinMaxScaler().fit(X[train])
            A, B = scaler.transform(X[train]), scaler.transform(X[test])
            for name, machine in machines("balanced" if rare else None).items():
                found[name].append(100 * measure(y[test], machine.fit(A, y[train]).predict(B)))
    return {name: np.array(values) for name, values in found.items()}


def with_error(gains: np.ndarray) -> str:
    """Their mean and its standard error. Folds of several divisions have rows in common: the variance of
    their mean is not 1 / J of theirs but 1 / J + (rows to test) / (rows to learn from) (Nadeau, Bengio 2003).
    """
    return f"{gains.mean():+.2f} ± {gains.std(ddof=1) * np.sqrt(1 / len(gains) + 1 / (FOLDS - 1)):.2f}"


def tally(gains: np.ndarray) -> str:
    """Wins, ties and losses, their mean and the worst."""
    wins, losses = int((gains > TIE).sum()), int((gains < -TIE).sum())
    return f"{wins} {len(gains) - wins - losses} {losses}, {gains.mean():+.2f}, {gains.min():+.2f}"


def print_groups(letters: str = keel.SETTLING) -> None:
    """The tables of docs/defaults.md: groups, and sets with losses above 2 points, seen there and on other
    folds; then the same of the others among themselves."""
    warnings.simplefilter("ignore")
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    large: list[str] = []
    for name, rare, X, y in sets(letters):
        order = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, y = X[order], np.unique(y[order], return_inverse=True)[1]
        if np.bincount(y).min() < FOLDS:
            continue
        points = scores(X, y, rare, range(1 if len(y) > 1000 else 2))
        worse = [o for o in OTHERS if (points[OURS] - points[o]).mean() < -LARGE]
        again = scores(X, y, rare, AGAIN) if worse else {}
        for other in worse:
            cells = [name, f"{len(y):,}", str(np.bincount(y).min()), f"`{other}`"]
            cells += [with_error(one[OURS] - one[other]) for one in (points, again)]
            large.append("| " + " | ".join([*cells, with_error(again["SVC()"] - again[other])]) + " |")
        size = "under 1,000 rows" if len(y) < 1000 else "1,000 rows and more"
        classes = "two classes" if y.max() == 1 else "more classes"
        for group in ["imbalanced, weighted"] if rare else [size, classes]:
            found[group].append({machine: float(one.mean()) for machine, one in points.items()})
    compared = [(OURS, other) for other in OTHERS] + [(a, b) for a in OTHERS for b in OTHERS if a != b]
    print("| group | sets | " + " | ".join(f"`{a}` - `{b}`" for a, b in compared) + " |")
    print("|" + "---|" * (2 + len(compared)))
    for group, means in found.items():
        cells = [tally(np.array([one[a] - one[b] for one in means])) for a, b in compared]
        print(f"| {group} | {len(means)} | " + " | ".join(cells) + " |")
    print("\n| set | rows | of the rarest class | against | difference | on other folds | of `SVC()` |")
    print("|---" * 7 + "|\n" + "\n".join(large))
