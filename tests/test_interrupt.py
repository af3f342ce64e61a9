"""Ctrl-C ends a long fit: a real signal to a real process."""

import signal
import subprocess
import sys

import pytest

FIT = """
import sys
import numpy as np
from sodm import ODMClassifier

rng = np.random.default_rng(0)
X = rng.random((60_000, 20), dtype=np.float32)
y = rng.integers(0, 2, 60_000)  # nothing to learn: every row stays active
machine = ODMClassifier(lam=1e9, gamma=20.0, tol=1e-9, cache_size={cache}, **{options})
print("started", flush=True)
try:
    machine.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", hasattr(machine, "classes_"))
else:
    print("finished")
"""


@pytest.mark.parametrize(
    ("options", "cache"), [("{}", 50), ("{'loss': 'hinge'}", 50), ("{'solver': 'dcd'}", 2)]
)
def test_ctrl_c_ends_a_fit(options, cache):
    process = subprocess.Popen(
        [sys.executable, "-c", FIT.format(options=options, cache=cache)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):  # well into the fit, which would take minutes
            process.wait(timeout=2)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert out == "interrupted False\n", errors
