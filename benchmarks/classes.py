"""Many classes: exact fits of ours against LIBSVM and oneDAL, all one against one, and predictions."""

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import data
import linear_wide
import numpy as np
import thread_rows
from scipy import sparse
from table import Row
from timing import LIMIT, best_of, cache_megabytes, forget_peak, isolated, isolated_peer, peak_memory

SPARE_MEMORY = 500.0  # MB beyond input and cache_size


@dataclass(frozen=True)
class ClassContest:
    """One data set, the parameters of both sides, and how much faster ours has to be; None is not run."""

    name: str
    rows: int
    ours: dict[str, Any]
    theirs: dict[str, Any]
    bar_svc: float | None
    bar_onedal: float | None
    bar_decision: float | None = None
    bar_threads: float | None = None  # how much faster with all threads than with one; None: not asked


CLASS_CONTESTS = {
    "fashion-10k": ClassContest(
        "fashion-mnist", 10_000, {"lam": 2.0**14}, {"C": 10, "gamma": "scale"}, 5.0, 1.5, bar_threads=1.8
    ),
    "fashion-60k": ClassContest(
        "fashion-mnist", 60_000, {"lam": 5 * 2.0**14}, {"C": 10, "gamma": "scale"}, None, 2.0, 3.0
    ),
    "20news": ClassContest(  # sparse rows of text; both sides by the last 1,000 of the training rows
        "20news", 4_000, {"lam": 2.0**17, "gamma": 0.25}, {"C": 10, "gamma": 0.25}, 3.0, None
    ),
    "letter": ClassContest(
        "letter", 15_000, {"lam": 2.0**15, "gamma": 8.0}, {"C": 10, "gamma": 5}, 3.0, None
    ),
}


def split(name: str, rows: int) -> tuple[Any, Any, Any, Any]:
    """Training rows, labels, test rows, labels."""
    if name == "fashion-mnist":
        X, y, X_test, y_test = data.fashion_mnist()
        return X[:rows], y[:rows], X_test, y_test
    if name == "20news":
        X, y, X_test, y_test = linear_wide.news()
        drawn = np.random.default_rng(0).permutation(len(y))[:rows]  # they come class by class
        return X[drawn], y[drawn], X_test, y_test
    X, y = data.read(name)
    X = data.scaled(X, X.min(0), X.max(0))
    return X[:rows], y[:rows], X[rows:], y[rows:]


def rows(contest: ClassContest, threads: int, repeat: int) -> Iterator[Row]:
    """The lines of one data set."""
    sides: dict[str, Any] = {}
    for side, bar in (("ours", 1.0), ("SVC", contest.bar_svc), ("oneDAL", contest.bar_onedal)):
        if bar is None or (side == "oneDAL" and importlib.util.find_spec("sklearnex") is None):
            continue
        sides[side] = (isolated if side == "ours" else isolated_peer)(
            measure,
            threads,
            side=side,
            name=contest.name,
            n=contest.rows,
            parameters=contest.ours if side == "ours" else contest.theirs,
            repeat=repeat if contest.rows < 50_000 else 1,
        )
    ours = sides.pop("ours")
    what = f"{contest.name} ({contest.rows:,} rows, {ours['classes']} classes)"
    for side, other in sides.items():
        bar = contest.bar_svc if side == "SVC" else contest.bar_onedal
        if other is None:
            yield Row(f"fit, {what}", side, f"{ours['seconds']:.2f} s", f"> {LIMIT:.0f} s")
            continue
        seconds = f"{ours['seconds']:.2f} s", f"{other['seconds']:.2f} s"
        yield Row(f"fit, {what}", side, *seconds, other["seconds"] / ours["seconds"], bar)
        yield Row(
            f"test accuracy, {what}",
            side,
            f"{ours['accuracy']:.4f}",
            f"{other['accuracy']:.4f}",
            100 * (ours["accuracy"] - other["accuracy"]),
            0.0,
            unit=" points",
            digits=2,
            note=f"gap {ours['gap']:.1e}; {ours['support']:,} support vectors, theirs {other['support']:,}",
        )
        seconds = f"{ours['decision']:.2f} s", f"{other['decision']:.2f} s"
        decision_bar = contest.bar_decision if side == "oneDAL" else None
        yield Row(
            f"predict {ours['queries']:,} rows, {what}",
            side,
            *seconds,
            other["decision"] / ours["decision"],
            decision_bar,
        )
    if contest.bar_threads is not None and threads > 1:
        arguments = {"name": contest.name, "n": contest.rows, "parameters": contest.ours, "repeat": repeat}
        alone = isolated(measure, 1, side="ours", **arguments)["seconds"]
        yield thread_rows.row(f"fit, {what}", ours["seconds"], alone, threads, contest.bar_threads)
    yield Row(
        f"peak memory of the fit, {what}",
        f"cache_size {ours['cache']:,.0f} MB + {SPARE_MEMORY:.0f} MB",
        f"{ours['memory']:,.0f} MB",
        "–",
        ours["memory"],
        ours["cache"] + SPARE_MEMORY,
        unit=" MB",
        digits=0,
        at_most=True,
        note=f"beyond the loaded input ({ours['input']:.0f} MB)",
    )


def measure(side: str, name: str, n: int, parameters: dict[str, Any], repeat: int) -> dict[str, Any]:
    """Fit one side in this process: time, peak memory beyond the loaded data, accuracy, time to predict."""
    machine: Any
    if side == "ours":
        from sodm import ODMClassifier

        machine = ODMClassifier(**parameters, n_jobs=-1)
    elif side == "oneDAL":
        from sklearnex.svm import SVC as OneDalSVC

        machine = OneDalSVC(**parameters)
    else:
        from sklearn.svm import SVC

        machine = SVC(**parameters)
    X, y, X_test, y_test = split(name, n)
    cache = cache_megabytes(machine) if side == "ours" else 0.0
    before = forget_peak()
    seconds, _ = best_of(lambda: machine.fit(X, y), repeat, slow_once=side != "ours")
    memory = peak_memory() - before
    decision, _ = best_of(lambda: machine.predict(X_test), repeat, slow_once=True)
    result = {
        "classes": len(machine.classes_),
        "input": _megabytes(X),
        "seconds": seconds,
        "memory": memory,
        "accuracy": float(np.mean(machine.predict(X_test) == y_test)),
        "support": len(machine.support_),
        "decision": decision,
        "queries": len(y_test),
    }
    if side == "ours":
        result |= {"gap": float(np.max(machine.dual_gap_)), "cache": cache}
    return result


def _megabytes(X: Any) -> float:
    return float((X.data if sparse.issparse(X) else X).nbytes / 1e6)
