"""Exact fits of ours against LIBSVM (scikit-learn's SVC) and oneDAL (scikit-learn-intelex's SVC)."""

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import data
import numpy as np
import thread_rows
from table import Row
from timing import LIMIT, best_of, cache_megabytes, forget_peak, isolated, isolated_peer, peak_memory

QUERIES = 20_000
SPARE_MEMORY = 500.0  # MB beyond input and cache_size
ACCURACY_LOSS = -0.1  # points


@dataclass(frozen=True)
class Contest:
    """One data set: the parameters of both sides (each tuned), and how much faster ours has to be."""

    name: str
    ours: dict[str, Any]
    theirs: dict[str, float]
    bar_svc: float | None  # None: SVC is not run
    bar_onedal: float
    rows: int | None = None  # of the training part; all of them
    bar_threads: float | None = None  # how much faster with all threads than with one; None: not asked

    @property
    def set(self) -> str:
        """The data set; several contests may be on the same one."""
        return self.name.partition(":")[0]


HARD_BORDER = {"C": 32, "gamma": 32}
TWO_THREADS = 1.8


def hinge(name: str, parameters: dict[str, float]) -> Contest:
    """The support vector machine on both sides, with the same C and gamma (ours without a bias)."""
    return Contest(f"{name}:hinge", {**parameters, "loss": "hinge"}, parameters, None, 1.0)


CONTESTS = {
    contest.name: contest
    for contest in (
        Contest(
            "a9a",
            {"gamma": 1 / 8, "lam": 2.0**10, "theta": 0.3},
            {"C": 8, "gamma": 1 / 32},
            20,
            2,
            bar_threads=TWO_THREADS,
        ),
        Contest("cod-rna", {"gamma": 2, "lam": 2.0**14, "theta": 0.6}, {"C": 8, "gamma": 2}, 10, 2),
        Contest("ijcnn1", {"gamma": 2, "lam": 2.0**18, "theta": 0.6}, {"C": 512, "gamma": 1 / 2}, 5, 1.2),
        Contest("skin-nonskin", {"gamma": 32, "lam": 2.0**14, "theta": 0.6}, {"C": 512, "gamma": 2}, 10, 10),
        Contest("covtype:14", {"gamma": 32, "lam": 2.0**14}, HARD_BORDER, None, 1.5, 20_000),
        Contest("covtype:16", {"gamma": 32, "lam": 2.0**16}, HARD_BORDER, None, 1.0, 20_000, TWO_THREADS),
        Contest("covtype:20", {"gamma": 32, "lam": 2.0**20}, HARD_BORDER, None, 0.4, 20_000),
        Contest(
            "covtype:bias",
            {"gamma": 32, "lam": 2.0**14, "fit_intercept": True},
            HARD_BORDER,
            None,
            1.5,
            20_000,
        ),
        Contest("covtype:60000", {"gamma": 32, "lam": 2.0**14}, HARD_BORDER, None, 1.5, 60_000),
        hinge("a9a", {"C": 8, "gamma": 1 / 32}),
        hinge("cod-rna", {"C": 8, "gamma": 2}),
        hinge("ijcnn1", {"C": 512, "gamma": 1 / 2}),
    )
}


def rows(contest: Contest, wanted: set[str], threads: int, repeat: int) -> Iterator[Row]:
    """The lines of one data set: time, accuracy and memory of the fit, and prediction on the a9a model."""
    decide = "decision" in wanted and contest.name == "a9a"
    sides = {}
    for side, parameters in (("ours", contest.ours), ("SVC", contest.theirs), ("oneDAL", contest.theirs)):
        if side == "oneDAL" and importlib.util.find_spec("sklearnex") is None:
            continue
        if side == "SVC" and contest.bar_svc is None:
            continue
        sides[side] = (isolated if side == "ours" else isolated_peer)(
            measure,
            threads,
            side=side,
            name=contest.set,
            rows=contest.rows,
            parameters=parameters,
            repeat=repeat,
            decide=decide,
        )
    ours, svc, onedal = sides["ours"], sides.get("SVC"), sides.get("oneDAL")
    fit = f"exact fit, {contest.name} ({ours['n']:,} rows)"
    if contest.bar_svc is not None:
        yield _time_row(fit, "SVC, 1 thread", ours, svc, contest.bar_svc)
    if "oneDAL" in sides:
        yield _time_row(fit, f"oneDAL, {threads} threads", ours, onedal, contest.bar_onedal)
    else:
        yield Row(
            fit, "oneDAL", f"{ours['seconds']:.2f} s", "–", note="scikit-learn-intelex is not installed"
        )

    if contest.bar_threads is not None and threads > 1:
        alone = isolated(
            measure,
            1,
            side="ours",
            name=contest.set,
            rows=contest.rows,
            parameters=contest.ours,
            repeat=repeat,
            decide=False,
        )
        yield thread_rows.row(fit, ours["seconds"], alone["seconds"], threads, contest.bar_threads)
    if svc is None and onedal is None:
        return
    better = max((side for side in (svc, onedal) if side), key=lambda side: side["accuracy"])
    yield Row(
        f"test accuracy, {contest.name}",
        "the better peer",
        f"{ours['accuracy']:.4f}",
        f"{better['accuracy']:.4f}",
        100 * (ours["accuracy"] - better["accuracy"]),
        ACCURACY_LOSS,
        unit=" points",
        digits=2,
        note=f"gap {ours['gap']:.1e}; {ours['support']:,} support vectors, theirs {better['support']:,}",
    )
    yield Row(
        f"peak memory of the fit, {contest.name}",
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
    if decide:
        for against, other, bar in (
            ("SVC, 1 thread", svc, 20.0),
            (f"oneDAL, {threads} threads", onedal, None),
        ):
            if other:
                yield _decision_row(against, ours, other, bar)


def _time_row(
    what: str, against: str, ours: dict[str, Any], other: dict[str, Any] | None, bar: float | None
) -> Row:
    mine = f"{ours['seconds']:.2f} s"
    if other is None:
        more, note = LIMIT / ours["seconds"], "theirs was given up; the ratio is at least this"
        return Row(what, against, mine, f"> {LIMIT:.0f} s", more, bar, note=note)
    return Row(
        what,
        against,
        mine,
        f"{other['seconds']:.2f} s",
        other["seconds"] / ours["seconds"],
        bar,
        note="one run of theirs" if other["runs"] == 1 < ours["runs"] else "",
    )


def _decision_row(against: str, ours: dict[str, Any], other: dict[str, Any], bar: float | None) -> Row:
    mine, theirs = (1e6 * side["decision"] / side["support"] for side in (ours, other))
    return Row(
        f"decision_function, {QUERIES:,} queries on the a9a model, per support vector",
        against,
        f"{mine:.2f} µs",
        f"{theirs:.2f} µs",
        theirs / mine,
        bar,
        note=f"whole call {ours['decision']:.3f} s against {other['decision']:.3f} s",
    )


def _classifier(side: str, parameters: dict[str, Any], n: int) -> Any:
    if side == "ours":
        from sodm import ODMClassifier

        if "C" in parameters:  # lam weighs the mean of the losses, C their sum
            parameters = {**parameters, "lam": parameters["C"] * n}
            del parameters["C"]
        return ODMClassifier(**parameters, upsilon=0.5, tol=1e-3, n_jobs=-1)
    if side == "oneDAL":
        from sklearnex.svm import SVC as OneDalSVC

        return OneDalSVC(**parameters)
    from sklearn.svm import SVC

    return SVC(**parameters)


def measure(
    side: str, name: str, rows: int | None, parameters: dict[str, float], repeat: int, decide: bool
) -> dict[str, Any]:
    """Fit one side in this process: time, peak memory beyond the loaded data, accuracy on the other rows."""
    X, y, X_test, y_test = data.split(name)
    X, y, X_test, y_test = X[:rows].copy(), y[:rows], X_test[:50_000].copy(), y_test[:50_000]
    machine = _classifier(side, parameters, len(y))
    queries = data.a9a_queries(QUERIES) if decide else None
    cache = cache_megabytes(machine) if side == "ours" else 0.0
    before = forget_peak()
    seconds, runs = best_of(lambda: machine.fit(X, y), repeat, slow_once=side != "ours")
    memory = peak_memory() - before
    result = {
        "n": len(y),
        "input": X.nbytes / 1e6,
        "seconds": seconds,
        "runs": runs,
        "memory": memory,
        "accuracy": float(np.mean(machine.predict(X_test) == y_test)),
        "support": len(machine.support_),
    }
    if side == "ours":
        result |= {"gap": float(np.max(machine.dual_gap_)), "cache": cache}
    if queries is not None:
        result["decision"], _ = best_of(
            lambda: machine.decision_function(queries), repeat, slow_once=side != "ours"
        )
    return result
