"""The study behind the default parameters: candidates for ODMClassifier against SVC() as it comes.

    python benchmarks/defaults.py                     # the table of docs/defaults.md
    python benchmarks/defaults.py --seeds 1 --sets svmguide1,phishing

All sets of $SODM_DATA, features scaled to [0, 1], random 80/20 splits, at most 10,000 rows to learn from.
Differences are paired: both machines see the same splits.
"""

import argparse
import itertools
import os
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import data
import keel
import numpy as np
from groups import print_groups
from sklearn.svm import SVC
from table import Log

from sodm import ODMClassifier

SLACK = 0.3  # points a set may lose

# The centre of the study, and one step from it along each parameter.
CENTRE = {"gamma": "scale", "lam": 2000.0, "theta": 0.6, "upsilon": 0.5}
STEPS = {
    "gamma": ("auto", "2 x scale"),
    "lam": (1000.0, 4000.0),
    "theta": (0.3, 0.5, 0.75),
    "upsilon": (0.2, 1.0),
}


@dataclass(frozen=True)
class Fit:
    accuracy: float
    support: int
    seconds: float


def fit(machine: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> Fit:
    start = time.perf_counter()
    machine.fit(X, y)
    seconds = time.perf_counter() - start
    return Fit(100 * machine.score(X_test, y_test), len(machine.support_), seconds)


def machine_of(candidate: dict[str, Any], X: Any) -> ODMClassifier:
    if candidate["gamma"] == "2 x scale":
        candidate = candidate | {"gamma": 2 / (X.shape[1] * X.var(dtype=np.float64))}
    return ODMClassifier(**candidate)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(data.SETS), help="comma-separated")
    parser.add_argument("--seeds", type=int, default=5, help="splits of each set")
    parser.add_argument("--rows", type=int, default=10_000, help="most rows to learn from")
    parser.add_argument("--groups", action="store_true", help="wins, ties and losses on KEEL's sets instead")
    parser.add_argument("--letters", default=keel.SETTLING, help="first letters of KEEL's sets")
    options = parser.parse_args()
    if options.groups:
        print_groups(options.letters)
        return
    sets = options.sets.split(",")
    candidates = [CENTRE, *(CENTRE | {name: value} for name, values in STEPS.items() for value in values)]

    svc: dict[str, list[Fit]] = defaultdict(list)
    ours: dict[tuple[int, str], list[Fit]] = defaultdict(list)
    for name, seed in itertools.product(sets, range(options.seeds)):
        X, y, X_test, y_test = data.split(name, seed)
        X, y = X[: options.rows], y[: options.rows]
        svc[name].append(fit(SVC(), X, y, X_test, y_test))
        for k, candidate in enumerate(candidates):
            ours[k, name].append(fit(machine_of(candidate, X), X, y, X_test, y_test))
        print(f"{name}, split {seed + 1} of {options.seeds} done", file=sys.stderr)

    log = Log("defaults", len(os.sched_getaffinity(0)))
    gains = {
        k: [mean_of("accuracy", ours[k, s]) - mean_of("accuracy", svc[s]) for s in sets]
        for k in range(len(candidates))
    }
    print_candidates(candidates, gains, sets)
    print(f"\n{candidates[0]}:\n")
    print_sets({s: ours[0, s] for s in sets}, svc)
    for k, candidate in enumerate(candidates):
        log.write({**candidate, "gains": dict(zip(sets, gains[k], strict=True))})


def mean_of(what: str, fits: list[Fit]) -> float:
    return float(np.mean([getattr(one, what) for one in fits]))


def print_candidates(
    candidates: list[dict[str, Any]], gains: dict[int, list[float]], sets: list[str]
) -> None:
    """Points gained over SVC() on each set, and whether no set loses more than the slack."""
    print("| " + " | ".join([*CENTRE, *sets, "mean", f"none below -{SLACK}"]) + " |")
    print("|" + "---|" * (len(CENTRE) + len(sets) + 2))
    for k in gains:
        figures = [f"{gain:+.2f}" for gain in [*gains[k], np.mean(gains[k])]]
        verdict = "yes" if min(gains[k]) >= -SLACK else ""
        print("| " + " | ".join([*map(str, candidates[k].values()), *figures, verdict]) + " |")


def print_sets(ours: dict[str, list[Fit]], svc: dict[str, list[Fit]]) -> None:
    """Accuracy of both on each set, its difference with the standard error over the splits, size and time."""
    print("| set | `SVC()` | `ODMClassifier()` | difference | support vectors | seconds |")
    print("|---|---|---|---|---|---|")
    for name, fits in ours.items():
        gains = [a.accuracy - b.accuracy for a, b in zip(fits, svc[name], strict=True)]
        error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
        print(
            f"| {name} | {mean_of('accuracy', svc[name]):.2f} % | {mean_of('accuracy', fits):.2f} % "
            f"| {np.mean(gains):+.2f} ± {error:.2f} "
            f"| {mean_of('support', svc[name]):,.0f} → {mean_of('support', fits):,.0f} "
            f"| {mean_of('seconds', svc[name]):.2f} → {mean_of('seconds', fits):.2f} |"
        )


if __name__ == "__main__":
    main()
