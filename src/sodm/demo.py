"""`make demo`, or `python -m sodm.demo`: the exact machine beside SVC, on data scikit-learn comes with."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from sodm import ODMClassifier
from sodm.plots.margins import margins_of

DATA_SETS = (("breast cancer", load_breast_cancer), ("handwritten digits", load_digits))
COLUMNS = ("", "accuracy", "support vectors", "duality gap", "margin mean", "margin variance", "seconds")


def main() -> None:
    """Fit both machines with their default parameters and print what came out."""
    for title, load in DATA_SETS:
        X, y = load(return_X_y=True)
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        scaler = MinMaxScaler(clip=True).fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
        print(
            f"\n{title}: {len(X_train):,} rows to learn from, {len(X_test):,} to test on, "
            f"{X.shape[1]} features in [0, 1], {len(np.unique(y))} classes\n"
        )
        machines = (ODMClassifier(), SVC())
        _print_table([_measure(machine, X_train, y_train, X_test, y_test) for machine in machines])
    print(
        "\nMargins y f(x) are those of the test rows; with several classes, of each class against the rest.\n"
        "ODM pulls them all towards 1. To see their distribution:\n"
        "    sodm.MarginDistributionDisplay.from_estimator(machine, X, y)\n"
    )


def _measure(machine: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> list[str]:
    start = time.perf_counter()
    machine.fit(X, y)
    seconds = time.perf_counter() - start
    gap = mean = variance = "–"
    if isinstance(machine, ODMClassifier):
        gap = f"{max(np.max(machine.dual_gap_), 0):.1g}"
    if isinstance(machine, ODMClassifier) or len(machine.classes_) == 2:  # SVC votes between pairs of classes
        margins, _ = margins_of(y_test, machine.decision_function(X_test), machine.classes_)
        mean, variance = f"{margins.mean():.2f}", f"{margins.var():.3f}"
    accuracy = f"{machine.score(X_test, y_test):.2%}"
    return [
        type(machine).__name__,
        accuracy,
        f"{len(machine.support_):,}",
        gap,
        mean,
        variance,
        f"{seconds:.3f}",
    ]


def _print_table(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    for row in (COLUMNS, *rows):
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        print("  " + "   ".join(cells))


if __name__ == "__main__":
    main()
