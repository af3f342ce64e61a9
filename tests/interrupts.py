"""Ctrl-C as users press it: a real signal to a real process that is well into a long call."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

# What a process does: `setup` once, then `call`, which takes minutes. It says when it was interrupted, by a
# clock that all processes share.
CODE = """
import time, warnings
import numpy as np
from sodm import *

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
{setup}
print("started", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), hasattr(machine, "n_features_in_"))
else:
    print("finished")
"""
PROMISED = 1.0  # seconds
TRIES = 3  # a machine with other work may be late by chance; a call that does not listen is late each time


def interrupted(setup: str, call: str = "machine.fit(X, y)", wait: float = 1.0) -> None:
    """Runs the code, and holds it to the promise; the estimator is as it was before."""
    late = []
    for _ in range(TRIES):
        late.append(_seconds_until_it_ends(setup, call, wait))
        if late[-1] < PROMISED:
            return
    raise AssertionError(f"{call} went on for {late} s after Ctrl-C")


def _seconds_until_it_ends(setup: str, call: str, wait: float) -> float:
    code = CODE.format(setup=setup, call=call)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "started\n", process.stderr.read()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=wait)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    word, *said = out.split()
    assert word == "interrupted", (out, errors)
    assert said[1] == str("predict" in call), "a fit that is interrupted leaves the estimator as it was"
    return float(said[0]) - began
