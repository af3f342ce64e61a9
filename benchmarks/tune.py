"""ODMClassifierCV, whole, against what people do today; `make bench-tune`.

large    a9a, cod-rna, ijcnn1, all training rows of a random 80/20: against one fit of SVC at its best
         parameters
small    500 to 5,000 rows: against GridSearchCV(SVC), 5 x 5 grid, 5 folds, two processes; accuracy paired by
         set
proba    log loss, calibration error and time against CalibratedClassifierCV(SVC) at the parameters that
         GridSearchCV found
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from typing import Any

import data
import keel
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from table import Log, Row, print_header, print_row

from sodm import ODMClassifierCV

BEST_SVC = {  # found by five-fold cross-validation on 4,000 rows, or stated by others
    "a9a": {"C": 8.0, "gamma": 0.005},
    "cod-rna": {"C": 64.0, "gamma": 0.14},
    "ijcnn1": {"C": 64.0, "gamma": 8.4},
}
PROBA = ("australian", "german", "banana", "digits", "magic")


def timed(run: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    result = run()
    return time.perf_counter() - began, result


def large(names: list[str]) -> Iterator[Row]:
    for name in names:
        X, y, X_test, y_test = data.split(name)
        ours, model = timed(lambda X=X, y=y: ODMClassifierCV().fit(X, y))
        theirs, svc = timed(lambda X=X, y=y, n=name: SVC(**BEST_SVC[n], cache_size=1000).fit(X, y))
        right = [100.0 * (machine.predict(X_test) == y_test) for machine in (model, svc)]
        a, b = right[0].mean(), right[1].mean()
        error = np.std(right[0] - right[1]) / len(y_test) ** 0.5
        note = ", ".join(f"{k} {v:.3g}" for k, v in model.best_params_.items())
        what = f"{name}, {len(y):,} rows"
        yield Row(what, "one fit of SVC", f"{ours:.1f} s", f"{theirs:.1f} s", theirs / ours, 1.0, note=note)
        yield Row(
            f"{what}, accuracy",
            "the same",
            f"{a:.2f} %",
            f"{b:.2f} %",
            float(a - b),
            0.0,
            " points",
            2,
            note=f"± {error:.2f}, paired by test row",
        )


def small_sets() -> dict[str, tuple[Any, Any]]:
    """Sets to settle on, 500 to 5,000 rows, in [0, 1]."""
    found = {}
    names = [(n, "balanced") for n in keel.names("balanced")] + [(n, "imbalanced") for n in IMBALANCED]
    for name, kind in names:
        found[name] = keel.read(name, kind)
    found["digits"] = load_digits(return_X_y=True)
    for name in ("svmguide1", "phishing", "susy-subset"):
        found[name] = data.read(name)
    chosen = {}
    for name, (X, y) in found.items():
        if len(y) >= 500 and len(np.unique(y)) <= 10:
            order = np.random.default_rng(0).permutation(len(y))[:6000]  # 5,000 to learn from at most
            chosen[name] = MinMaxScaler().fit_transform(X[order]), y[order]
    return chosen


IMBALANCED = ("abalone9-18", "car-good", "flare-F", "kr-vs-k-zero_vs_eight")


def grid_search(X: Any, y: Any) -> GridSearchCV:
    scale = 1 / (X.shape[1] * X.var())
    grid = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [scale * 4.0**k for k in range(-2, 3)]}
    return GridSearchCV(SVC(), grid, cv=5, n_jobs=2).fit(X, y)


def warm_up() -> None:
    """Start processes outside the clock, with all they import: seconds, which the first set would pay for."""
    X, y = load_digits(return_X_y=True)
    grid_search(X[:300], y[:300])


def small(names: list[str], seeds: int) -> Iterator[Row]:
    ratios, gains = [], []
    warm_up()
    for name, (X, y) in small_sets().items():
        if names and name not in names:
            continue
        own = []
        for seed in range(seeds):
            A, B, a, b = train_test_split(X, y, test_size=1 / 6, random_state=seed, stratify=y)
            ours, model = timed(lambda A=A, a=a: ODMClassifierCV().fit(A, a))
            theirs, grid = timed(lambda A=A, a=a: grid_search(A, a))
            ratios.append(theirs / ours)
            own.append(100 * (model.score(B, b) - grid.score(B, b)))
            figures = f"{ours:.2f} s", f"{theirs:.2f} s"
            note = f"accuracy {own[-1]:+.2f}"
            yield Row(f"{name}, {len(a):,} rows", "GridSearchCV(SVC)", *figures, theirs / ours, note=note)
        gains.append(float(np.mean(own)))
    if ratios:
        mean, error = float(np.mean(gains)), np.std(gains) / max(1, len(gains) - 1) ** 0.5
        yield Row("mean of the ratios", "the same", "", "", float(np.mean(ratios)), 10.0)
        yield Row(
            "accuracy over the panel", "the same", "", "", mean, 0.0, " points", 2, note=f"± {error:.2f}"
        )


def calibration_error(model: Any, X: Any, y: Any, bins: int = 10) -> float:
    """How far the decided class's probability is from its share of right ones, over bins of equal size."""
    p = model.predict_proba(X)
    sure, right = p.max(axis=1), model.classes_[p.argmax(axis=1)] == y
    parts = np.array_split(np.argsort(sure, kind="stable"), bins)
    return float(np.sum([len(own) * abs(sure[own].mean() - right[own].mean()) for own in parts]) / len(y))


def proba(names: list[str]) -> Iterator[Row]:
    """A third of the rows, 1,000 at most, to look at; means over three splits."""
    sets = small_sets()
    warm_up()
    for name in names or PROBA:
        X, y = sets[name][0][:3000], sets[name][1][:3000]
        found = []
        for seed in range(3):
            A, B, a, b = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
            ours, model = timed(lambda A=A, a=a: ODMClassifierCV().fit(A, a))
            theirs, best = timed(lambda A=A, a=a: grid_search(A, a).best_params_)
            more, other = timed(lambda A=A, a=a, p=best: CalibratedClassifierCV(SVC(**p), cv=5).fit(A, a))
            losses = [log_loss(b, m.predict_proba(B), labels=m.classes_) for m in (model, other)]
            errors = [calibration_error(m, B, b) for m in (model, other)]
            found.append([*losses, *errors, ours, theirs + more])
        mine, its, error, its_error, ours, theirs = np.mean(found, axis=0).tolist()
        against = "CalibratedClassifierCV(SVC)"
        what = f"{name}, {len(a):,} rows"
        loss, calibration = (f"{mine:.4f}", f"{its:.4f}"), (f"{error:.4f}", f"{its_error:.4f}")
        yield Row(f"{what}, log loss", against, *loss, mine - its, 0.0, "", 4, True)
        yield Row(f"{what}, calibration error", against, *calibration, error - its_error, 0.0, "", 4, True)
        yield Row(
            f"{what}, time",
            f"{against} and its search",
            f"{ours:.2f} s",
            f"{theirs:.2f} s",
            theirs / ours,
            5.0,
        )


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parts", default="small,proba,large", help="comma-separated")
    parser.add_argument("--sets", default="", help="comma-separated; all if empty")
    parser.add_argument("--seeds", type=int, default=1, help="splits of each small set")
    options = parser.parse_args()
    names = [name for name in options.sets.split(",") if name]
    log = Log("tune", len(os.sched_getaffinity(0)))
    print_header()
    for part in options.parts.split(","):
        rows = {
            "large": lambda: large([n for n in BEST_SVC if not names or n in names]),
            "small": lambda: small(names, options.seeds),
            "proba": lambda: proba(names),
        }[part]()
        for row in rows:
            print_row(row)
            log.add(row)


if __name__ == "__main__":
    main()
