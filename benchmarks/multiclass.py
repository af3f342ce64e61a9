"""More than two classes: one against one and one against the rest, accuracy and time, beside SVC.

    python benchmarks/multiclass.py                       # all sets, a few minutes
    python benchmarks/multiclass.py --only iris,letter

Sets bundled with scikit-learn, some made by it, and rows of letter, covtype and Fashion-MNIST from
$SODM_DATA. Of each, 70 % are trained on, in as many splits as its size allows; lam is tried over the same
values in both ways, and what is shown is the default (2000) and the best of them, each with the seconds of a
fit. This is the study behind multi_class="auto".
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

import data
import numpy as np

LAMS = (2000.0, 2.0**8, 2.0**11, 2.0**14, 2.0**17)
SLOW = 20.0  # seconds: larger lam are left out where a fit took longer
Set = tuple[Any, Any, float, int]


def sets() -> dict[str, Any]:
    """How to get rows in [0, 1], labels, the factor on gamma="scale", and the number of splits."""
    from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
    from sklearn.preprocessing import minmax_scale

    def bundled(load: Any, splits: int) -> Set:
        X, y = load(return_X_y=True)
        return minmax_scale(X), y, 1.0, splits

    def made(weights: Any) -> Set:
        X, y = make_classification(1500, 10, n_informative=8, n_classes=5, weights=weights, random_state=1)
        return minmax_scale(X), y, 1.0, 3

    def some(name: str, n: int, factor: float) -> Set:
        X, y = data.fashion_mnist()[:2] if name == "fashion-mnist" else data.read(name)
        rows = np.random.default_rng(0).permutation(len(y))[:n]
        return minmax_scale(X[rows]), y[rows], factor, 1

    return {
        "iris": lambda: bundled(load_iris, 10),
        "wine": lambda: bundled(load_wine, 10),
        "digits": lambda: bundled(load_digits, 5),
        "made of equal classes": lambda: made(None),
        "made of classes of 3 to 60 %": lambda: made([0.6, 0.2, 0.1, 0.07, 0.03]),
        "letter": lambda: some("letter", 6000, 10.0),
        "covtype": lambda: some("covtype", 6000, 10.0),
        "fashion-mnist": lambda: some("fashion-mnist", 4000, 1.0),
    }


def measure(X: Any, y: Any, factor: float, splits: int) -> Iterator[tuple[str, float, float, float]]:
    """Of each way and each lam: mean accuracy and mean seconds."""
    from sklearn.model_selection import train_test_split

    from sodm import ODMClassifier

    gamma = factor / (X.shape[1] * X.var())
    parts = [train_test_split(X, y, test_size=0.3, stratify=y, random_state=k) for k in range(splits)]
    for way in ("ovo", "ovr"):
        for lam in LAMS:
            scores, seconds = [], []
            for X_train, X_test, y_train, y_test in parts:
                machine = ODMClassifier(lam=lam, gamma=gamma, multi_class=way)
                began = time.perf_counter()
                machine.fit(X_train, y_train)
                seconds.append(time.perf_counter() - began)
                scores.append(machine.score(X_test, y_test))
            yield way, lam, float(np.mean(scores)), float(np.mean(seconds))
            if seconds[-1] > SLOW:
                break


def main() -> None:
    found = sets()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(found), help=f"of: {', '.join(found)}")
    wanted = parser.parse_args().only.split(",")
    print("| set | way | lam 2000 | best lam | its accuracy | seconds at 2000 | at the best lam |")
    print("|---" * 7 + "|")
    for name in wanted:
        X, y, factor, splits = found[name]()
        rows = list(measure(X, y, factor, splits))
        for way in ("ovo", "ovr"):
            own = [row for row in rows if row[0] == way]
            default, best = own[0], max(own, key=lambda row: row[2])
            what = f"{name} ({len(y):,} x {X.shape[1]}, {len(np.unique(y))} classes)"
            found_best = f"{best[1]:g} | {best[2]:.4f} | {default[3]:.3f} | {best[3]:.3f}"
            print(f"| {what} | {way} | {default[2]:.4f} | {found_best} |", flush=True)


if __name__ == "__main__":
    main()
