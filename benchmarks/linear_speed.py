"""Newton against LinearSVC and LogisticRegression, and against the memory of the machine."""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import data
import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from table import Row
from timing import best_of, isolated

from sodm import LinearODMClassifier, _core

SVM_LIMIT = 1e-12  # upsilon so small that a margin above 1 costs nothing


# ---------------------------------------------------------------------------------------------------- data


def susy(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A stand-in of SUSY's shape: rows of susy-subset drawn with replacement, a little noise added."""
    X, y = data.read("susy-subset")
    X = data.scaled(X, X.min(0), X.max(0))
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(y), n)
    rows = X[drawn]
    rows += 0.01 * rng.standard_normal(rows.shape, dtype=np.float32)
    return rows, (y[drawn] > 0).astype(np.int64)


def text(n: int = 200_000, d: int = 50_000, per_row: int = 75) -> tuple[sparse.csr_matrix, np.ndarray]:
    """A stand-in for text: words with Zipf's frequencies, tf-idf, rows of length one."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, d + 1) ** 0.9
    words = np.searchsorted(np.cumsum(frequency / frequency.sum()), rng.random((n, per_row)))
    words = np.minimum(words, d - 1).astype(np.int32).ravel()
    X = sparse.csr_matrix(
        (np.ones(n * per_row), words, np.arange(0, n * per_row + 1, per_row, dtype=np.int32)), shape=(n, d)
    )
    X.sum_duplicates()
    seen = np.bincount(X.indices, minlength=d) + 1
    X.data = np.log1p(X.data) * np.log(n / seen)[X.indices]
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    f = X @ rng.standard_normal(d)
    return X, np.where(f + 0.5 * f.std() * rng.standard_normal(n) > 0, 1, -1)


def load(name: str, n: int) -> tuple[Any, np.ndarray]:
    """The rows to train on."""
    if name == "susy":
        return susy(n)
    if name == "text":
        return text()
    X, y, _, _ = data.split(name.removesuffix("-csr"))
    return (sparse.csr_matrix(X) if name.endswith("-csr") else X), y


def svm_objective(X: Any, y: np.ndarray, machine: Any) -> float:
    """LinearSVC's objective with C = 1, in double, a part of the rows at a time."""
    w, b = machine.coef_[0].astype(np.float64), float(machine.intercept_[0])
    sign, total = np.where(y == machine.classes_[1], 1.0, -1.0), 0.5 * (w @ w + b * b)
    for i in range(0, X.shape[0], 2**17):
        m = sign[i : i + 2**17] * (X[i : i + 2**17] @ w + b)
        total += float(np.sum(np.maximum(1 - m, 0.0) ** 2))
    return total


# ----------------------------------------------------------------------------------- what the processes do


def run_ours(name: str, n: int, repeat: int, tol: float) -> dict[str, Any]:
    X, y = load(name, n)
    machine = LinearODMClassifier(lam=2.0 * len(y), theta=0.0, upsilon=SVM_LIMIT, tol=tol)
    seconds, _ = best_of(lambda: machine.fit(X, y), repeat)
    return {
        "seconds": seconds,
        "objective": svm_objective(X, y, machine),
        "steps": machine.n_iter_,
        "passes": machine.history_[-1]["passes"],
        "gradient": machine.gradient_norm_,
    }


def run_default(name: str, n: int, repeat: int) -> dict[str, Any]:
    """Our own problem, the defaults; and how fast this machine reads the same rows."""
    X, y = load(name, n)
    machine = LinearODMClassifier()
    seconds, _ = best_of(lambda: machine.fit(X, y), repeat)
    # Two ways of reading every number once, each with all threads: the faster is the memory's speed.
    rows = _core.LinearRows.dense(X, None, None, 0.0, _core.resolve_threads(-1))
    reading, _ = best_of(rows.finite, 10)
    line = X.ravel()
    dotting, _ = best_of(lambda: np.dot(line, line), 10)
    passes = machine.history_[-1]["passes"]
    return {"seconds": seconds, "read": min(reading, dotting), "bytes": X.nbytes, "passes": passes}


def run_svc(name: str, n: int, repeat: int, dual: Any, tol: float) -> dict[str, Any]:
    X, y = load(name, n)
    machine = LinearSVC(C=1.0, dual=dual, tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, _ = best_of(lambda: machine.fit(X, y), repeat, slow_once=True)
    return {"seconds": seconds, "objective": svm_objective(X, y, machine)}


def run_logistic(name: str, n: int, repeat: int) -> dict[str, Any]:
    X, y = load(name, n)
    machine = LogisticRegression(solver="newton-cholesky", tol=1e-6)
    start = time.perf_counter()
    machine.fit(X, y)
    seconds = time.perf_counter() - start
    if repeat > 1:
        seconds = min(seconds, best_of(lambda: machine.fit(X, y), repeat - 1)[0])
    return {"seconds": seconds}


# ---------------------------------------------------------------------------------------------------- rows


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.1f} ms"


def compared(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """How the two solutions compare on the same formula."""
    worse = theirs["objective"] / ours["objective"] - 1
    return f"{ours['steps']} steps; their objective is {worse:+.1e} of ours"


def susy_rows(threads: int, repeat: int, n: int) -> Iterator[Row]:
    what = f"newton, {n:,} x 18 float32 (stand-in of SUSY's shape), gradient 1e-6"
    ours = isolated(run_ours, threads, name="susy", n=n, repeat=repeat, tol=1e-6)
    svc = isolated(run_svc, threads, name="susy", n=n, repeat=repeat, dual=False, tol=1e-4)
    yield Row(
        what,
        "LinearSVC(dual=False), its default tol",
        seconds(ours["seconds"]),
        seconds(svc["seconds"]),
        svc["seconds"] / ours["seconds"],
        10.0,
        note=compared(ours, svc),
    )
    logistic = isolated(run_logistic, threads, name="susy", n=n, repeat=repeat)
    yield Row(
        what,
        "LogisticRegression(newton-cholesky)",
        seconds(ours["seconds"]),
        seconds(logistic["seconds"]),
        logistic["seconds"] / ours["seconds"],
        3.0,
    )
    own = isolated(run_default, threads, name="susy", n=n, repeat=repeat)
    passes = own["passes"] + 1  # and one to look for what is not finite
    yield Row(
        "the same rows, our defaults, whole fit",
        f"{passes:.0f} reads at {own['bytes'] / own['read'] / 1e9:.0f} GB/s",
        seconds(own["seconds"]),
        seconds(passes * own["read"]),
        own["seconds"] / (passes * own["read"]),
        3.0,
        at_most=True,
        note="validation and labels included",
    )


def set_rows(threads: int, repeat: int, n: int) -> Iterator[Row]:
    for name in ("ijcnn1", "skin-nonskin", "cod-rna", "a9a-csr"):
        yield contest(name, threads, repeat, n, 1e-6)


def text_rows(threads: int, repeat: int, n: int) -> Iterator[Row]:
    yield contest("text", threads, repeat, n, 1e-4)


def contest(name: str, threads: int, repeat: int, n: int, tol: float) -> Row:
    ours = isolated(run_ours, threads, name=name, n=n, repeat=repeat, tol=tol)
    svc = isolated(run_svc, threads, name=name, n=n, repeat=repeat, dual="auto", tol=1e-4)
    label = "stand-in for text, 200,000 x 50,000 CSR" if name == "text" else name
    return Row(
        f"newton, {label}, gradient {tol:g}",
        'LinearSVC(dual="auto")',
        seconds(ours["seconds"]),
        seconds(svc["seconds"]),
        svc["seconds"] / ours["seconds"],
        1.0,
        note=compared(ours, svc),
    )
