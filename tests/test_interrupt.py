"""Ctrl-C ends a long call within a second, whatever the machine, its solver and the number of threads."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from interrupts import PROMISED, interrupted

# Nothing to learn: every row stays active, and no solver is done soon.
ROWS = "X = rng.random(({rows}, {columns}), dtype=np.float32); "
CLASSES = "y = rng.integers(0, {classes}, {rows}); "
NUMBERS = "y = rng.standard_normal({rows}); "
HARD = "lam=1e9, gamma=0.3, tol=1e-9, max_iter=10**6"


def slow(machine: str, rows: int, classes: int) -> Any:
    return pytest.param(machine, rows, classes, marks=pytest.mark.slow)


# A process for each takes seconds: of every way one is tried by `make test`, the others are slow tests.
CLASSIFIERS = [
    ("ODMClassifier({hard}, cache_size=50)", 60_000, 2),
    slow("ODMClassifier({hard}, cache_size=50, solver='newton', precision='double')", 60_000, 2),
    slow("ODMClassifier({hard}, cache_size=50, loss='hinge')", 60_000, 2),
    slow("ODMClassifier({hard}, cache_size=2, solver='dcd')", 60_000, 2),
    ("ODMClassifier(lam=1e9, gamma=300.0, tol=1e-9, max_iter=10**6)", 60_000, 2),  # a narrow kernel
    slow("ODMClassifier({hard}, solver='dcd', n_jobs=3)", 6000, 3),
    slow("ODMClassifier({hard}, solver='dcd', n_jobs=1)", 6000, 26),
    slow("ODMClassifier({hard}, solver='dcd', n_jobs=2)", 6000, 26),
    ("ODMClassifier({hard}, solver='dcd', n_jobs=8)", 6000, 26),
    slow("ODMClassifier({hard}, n_jobs=8)", 40_000, 26),
    ("ODMClassifier({hard})", 60_000, 3),  # pairs that are solved one by one
    slow("ODMClassifier({hard}, multi_class='ovr')", 60_000, 10),
    ("SODMClassifier({hard}, n_partitions=6, n_jobs=2)", 60_000, 2),
    slow("SODMClassifier({hard}, n_partitions=6, n_jobs=8, local_solver='dcd')", 36_000, 3),
    ("SODMClassifier({hard}, regions=40)", 200_000, 2),
    ("ODMClassifierCV()", 20_000, 26),
    ("LinearODMClassifier(lam=1e9, tol=1e-15, max_iter=10**6, solver='dcd')", 60_000, 5),
    slow("LinearODMClassifier(lam=1e9, tol=1e-15, epochs=10**6, solver='svrg')", 2_000_000, 5),
]
REGRESSORS = [
    ("ODMRegressor({hard})", 60_000, 20),  # one system of all rows
    slow("ODMRegressor({hard}, epsilon=0.01)", 40_000, 20),
    slow("ODMRegressor({hard}, epsilon=0.01, solver='dcd')", 20_000, 20),
    slow("SODMRegressor({hard}, epsilon=0.01)", 200_000, 20),
    slow("ODMRegressorCV()", 60_000, 20),
    ("LinearODMRegressor(lam=1e9, tol=1e-15, max_iter=10**6, epsilon=0.1)", 3_000, 6_000),
]


@pytest.mark.parametrize(("machine", "rows", "classes"), CLASSIFIERS)
def test_ctrl_c_ends_a_fit(machine: str, rows: int, classes: int) -> None:
    setup = (ROWS + CLASSES + f"machine = {machine}").format(
        rows=rows, columns=20, classes=classes, hard=HARD
    )
    interrupted(setup)


@pytest.mark.parametrize(("machine", "rows", "columns"), REGRESSORS)
def test_so_do_regressors(machine: str, rows: int, columns: int) -> None:
    interrupted((ROWS + NUMBERS + f"machine = {machine}").format(rows=rows, columns=columns, hard=HARD))


@pytest.mark.parametrize("machine", ["ODMClassifier(lam=1.0)", "SODMClassifier(lam=100.0, regions=4)"])
def test_so_do_predictions(machine: str) -> None:
    setup = ROWS + CLASSES + f"machine = {machine}.fit(X[:8000], y[:8000]); many = np.vstack([X] * 60)"
    interrupted(setup.format(rows=60_000, columns=60, classes=10), "machine.predict(many)")


IN_A_THREAD = """
import threading
import numpy as np
from sodm import ODMClassifier, ODMRegressor, SODMClassifier

rng = np.random.default_rng(0)
X = rng.random((30_000, 20), dtype=np.float32)
y = rng.integers(0, 3, 30_000)
machine = {machine}


def work():
    print("started", flush=True)
    machine.fit(X, y)
    print("finished")


thread = threading.Thread(target=work)
thread.start()
thread.join()  # where the main thread is when Ctrl-C ends it
"""


@pytest.mark.parametrize(
    "machine",
    [
        "ODMClassifier({hard}, cache_size=50, n_jobs=2)",
        pytest.param("ODMClassifier({hard}, cache_size=50, solver='dcd', n_jobs=3)", marks=pytest.mark.slow),
        pytest.param("SODMClassifier({hard}, n_partitions=6, n_jobs=2)", marks=pytest.mark.slow),
        "SODMClassifier({hard}, regions=10)",
        pytest.param("ODMRegressor({hard}, epsilon=0.01)", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_that_ends_the_program_ends_fits_in_other_threads(machine: str) -> None:
    """Signals reach the main thread only; when it has died of one, nobody waits for the others' fits."""
    code = IN_A_THREAD.format(machine=machine.format(hard=HARD))
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=20)
        ended = time.monotonic()
    finally:
        process.kill()
    assert out == "" and "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT, errors  # ended by the signal, not by abort
    assert ended - began < PROMISED + 1.0  # for the interpreter to end
