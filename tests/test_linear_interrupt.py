"""Ctrl-C ends a long fit of the linear machine, whatever the solver: a real signal to a real process."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

FIT = """
import numpy as np
from sodm import LinearODMClassifier

n, d, n_classes = {shape}
rng = np.random.default_rng(0)
X = rng.standard_normal((n, d), dtype=np.float32)
y = np.arange(n) % n_classes  # nothing to learn: no solver is done soon
machine = LinearODMClassifier(**{parameters})
print("started", flush=True)
try:
    machine.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", hasattr(machine, "classes_"))
else:
    print("finished")
"""

WIDE, MANY = (3_000, 6_000, 600), (3_000, 6_000, 2_000)  # a sweep for so many classes takes half a minute


@pytest.mark.parametrize(
    ("parameters", "shape"),
    [
        ({"n_jobs": 1}, (20_000, 900, 70)),  # the Gram matrices of all classes fill the memory of one task
        ({"n_jobs": 3}, (20_000, 900, 70)),
        ({"n_jobs": 1, "lam": 1e9}, WIDE),  # products with the rows
        ({"n_jobs": 3, "lam": 1e9}, WIDE),
        ({"solver": "dcd", "lam": 1e9}, MANY),
        ({"loss": "hinge", "lam": 1e9}, MANY),
        ({"solver": "svrg"}, MANY),
        ({"solver": "dsvrg", "n_partitions": 2, "n_landmarks": 5}, WIDE),
        ({"solver": "csvrg", "radius": 60.0}, (6_000, 4_000, 2)),  # every row is a centre
    ],
    ids=["gram-1", "gram-3", "products-1", "products-3", "dcd", "hinge", "svrg", "dsvrg", "csvrg"],
)
def test_ctrl_c_ends_a_linear_fit(parameters: dict[str, object], shape: tuple[int, ...]) -> None:
    code = FIT.format(shape=shape, parameters={"tol": 1e-15, **parameters})
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):  # well into the fit, which would take minutes
            process.wait(timeout=3)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=10)
    finally:
        process.kill()
    assert out == "interrupted False\n", errors
