"""Speed by commit: five fits beside scikit-learn's own machines, one line of ratios a run.

    python benchmarks/history.py            # measures, compares with the last line, adds a line
    python benchmarks/history.py --show     # the lines so far

Seconds say little from one computer or day to the next, so both sides are measured in turns in one process
and their ratio is kept: theirs / ours, the median of three. A fit that lost more than a fifth against the
last line is named, and the exit code is 1. The data are generated, so that every commit has the same.
SVC would take minutes on the rows of "many": boosting is beside it. ("parts" of the first line had a linear
model beside it, which is why that is below 1.)
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC, LinearSVC

from sodm import LinearODMClassifier, ODMClassifier, SODMClassifier

FILE = Path(__file__).with_name("history.jsonl")
ROUNDS, LOSS = 3, 0.8


def rows(n: int, d: int, classes: int = 2) -> tuple[Any, Any]:
    """Rows in [0, 1] whose classes overlap a little."""
    informative = min(d, 12)
    X, y = make_classification(
        n, d, n_informative=informative, n_redundant=0, n_classes=classes, flip_y=0.03, random_state=0
    )
    return minmax_scale(X), y


# name: rows, ours, theirs
FITS: dict[str, tuple[tuple[int, int, int], Callable[[], Any], Callable[[], Any]]] = {
    "small": ((500, 10, 2), lambda: ODMClassifier(), lambda: SVC()),
    "exact": ((8_000, 20, 2), lambda: ODMClassifier(gamma=2.0, lam=2.0**12), lambda: SVC(gamma=2.0, C=10)),
    "classes": ((4_000, 60, 6), lambda: ODMClassifier(lam=2.0**10), lambda: SVC(C=10)),
    "many": ((40_000, 10, 2), lambda: SODMClassifier(gamma=2.0), lambda: HistGradientBoostingClassifier()),
    "linear": ((200_000, 30, 2), lambda: LinearODMClassifier(), lambda: LinearSVC()),
}


def seconds(machine: Any, X: Any, y: Any) -> float:
    """Of one fit."""
    began = time.perf_counter()
    machine.fit(X, y)
    return time.perf_counter() - began


def measure() -> dict[str, float]:
    """Theirs / ours for each fit."""
    ratios = {}
    for name, (shape, ours, theirs) in FITS.items():
        X, y = rows(*shape)
        seconds(ours(), X[:200], y[:200])  # threads and pages are there before the clock runs
        found = []
        for _ in range(ROUNDS):
            mine = seconds(ours(), X, y)
            found.append(seconds(theirs(), X, y) / mine)
        ratios[name] = round(statistics.median(found), 3)
    return ratios


def history() -> list[dict[str, Any]]:
    """The lines so far."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def show(lines: list[dict[str, Any]]) -> None:
    """As a table."""
    print(f"{'commit':10} {'date':10} " + " ".join(f"{name:>9}" for name in FITS))
    for line in lines:
        values = " ".join(f"{line['ratios'].get(name, float('nan')):9.2f}" for name in FITS)
        print(f"{line['commit']:10} {line['date']:10} {values}")


def main() -> int:
    """Measure, compare, keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="only show what there is")
    before = history()
    if parser.parse_args().show:
        show(before)
        return 0
    warnings.simplefilter("ignore")  # the linear peers stop at their iteration limits
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=FILE.parent
    ).stdout.strip()
    line = {"commit": commit, "date": datetime.now(UTC).date().isoformat(), "ratios": measure()}
    with FILE.open("a") as file:
        file.write(json.dumps(line) + "\n")
    show([*before[-1:], line])
    old = before[-1]["ratios"] if before else {}
    slower = [name for name, ratio in line["ratios"].items() if ratio < LOSS * old.get(name, 0)]
    if slower:
        print(f"slower than the last line: {', '.join(slower)}", file=sys.stderr)
    return bool(slower)


if __name__ == "__main__":
    raise SystemExit(main())
