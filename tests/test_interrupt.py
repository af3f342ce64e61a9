"""Ctrl-C ends a long fit: a real signal to a real process."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

FIT = """
import sys
import numpy as np
from sodm import LinearODMClassifier, ODMClassifier, SODMClassifier

rng = np.random.default_rng(0)
X = rng.random(({rows}, 20), dtype=np.float32)
y = rng.integers(0, {classes}, {rows})  # nothing to learn: every row stays active
machine = {machine}
print("started", flush=True)
try:
    machine.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", hasattr(machine, "classes_"))
else:
    print("finished")
"""
HARD = "lam=1e9, gamma=0.3, tol=1e-9, max_iter=10**6"
LONG = [
    ("ODMClassifier({hard}, cache_size=50)", 60_000, 2),
    ("ODMClassifier({hard}, cache_size=50, solver='newton', precision='double')", 60_000, 2),
    ("ODMClassifier({hard}, cache_size=50, loss='hinge')", 60_000, 2),
    ("ODMClassifier({hard}, cache_size=2, solver='dcd')", 60_000, 2),
    ("ODMClassifier({hard}, solver='dcd', n_jobs=3)", 6000, 3),
    ("ODMClassifier({hard}, solver='dcd', n_jobs=1)", 6000, 26),
    ("ODMClassifier({hard}, solver='dcd', n_jobs=2)", 6000, 26),
    ("ODMClassifier({hard}, solver='dcd', n_jobs=8)", 6000, 26),
    ("ODMClassifier({hard}, n_jobs=8)", 6000, 26),
    ("SODMClassifier({hard}, n_partitions=6, n_jobs=2)", 60_000, 2),
    ("SODMClassifier({hard}, n_partitions=6, n_jobs=8, local_solver='dcd')", 36_000, 3),
    ("LinearODMClassifier(lam=1e9, tol=1e-15, max_iter=10**6, solver='dcd')", 60_000, 5),
    ("LinearODMClassifier(lam=1e9, tol=1e-15, epochs=10**6, solver='svrg')", 2_000_000, 5),
]


@pytest.mark.parametrize(("machine", "rows", "classes"), LONG, ids=[f"{m}-{c}" for m, _, c in LONG])
def test_ctrl_c_ends_a_fit(machine: str, rows: int, classes: int) -> None:
    code = FIT.format(machine=machine.format(hard=HARD), rows=rows, classes=classes)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):  # well into the fit, which would take minutes
            process.wait(timeout=1)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert out == "interrupted False\n", errors


IN_A_THREAD = """
import threading
import numpy as np
from sodm import ODMClassifier, SODMClassifier

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
        "ODMClassifier({hard}, cache_size=50, solver='dcd', n_jobs=3)",
        "SODMClassifier({hard}, n_partitions=6, n_jobs=2)",
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
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert out == "" and "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT, errors  # ended by the signal, not by abort
