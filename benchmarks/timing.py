"""How things are measured: best of several runs, peak memory, each side in a process of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SLOW = 20.0  # seconds: what takes longer than this is run once where `slow_once` says so
LIMIT = 300.0  # seconds after which a peer is given up


def best_of(run: Callable[[], object], repeat: int, slow_once: bool = False) -> tuple[float, int]:
    """The shortest of `repeat` runs in seconds, and how many were made."""
    times: list[float] = []
    while len(times) < repeat and not (slow_once and times and times[0] > SLOW):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times), len(times)


def cache_megabytes(machine: Any) -> float:
    """What a machine of ours may keep of kernel values."""
    from sodm.estimators.memory import MEGABYTE, cache_bytes

    return cache_bytes(machine.cache_size) / MEGABYTE


def peak_memory() -> float:
    """The most memory this process has used since `forget_peak`, or ever, in MB (Linux counts in kB)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def forget_peak() -> float:
    """The memory in use, in MB, from which on the peak is counted: reading a set may have taken more."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def isolated(function: Callable[..., dict[str, Any]], cores: int, /, **arguments: Any) -> dict[str, Any]:
    """The result of function(**arguments), run in a fresh process held to this many `cores`.

    A fresh process, so that one side's allocations and patches do not reach the other; held by affinity, so
    that every library sees the same number of cores, whatever its own knob is called.
    """
    result = _run(function, cores, arguments, None)
    assert result is not None
    return result


def isolated_peer(
    function: Callable[..., dict[str, Any]], cores: int, /, **arguments: Any
) -> dict[str, Any] | None:
    """As `isolated`, None if it does not end within LIMIT seconds."""
    return _run(function, cores, arguments, LIMIT)


def _run(
    function: Callable[..., dict[str, Any]], cores: int, arguments: dict[str, Any], limit: float | None
) -> dict[str, Any] | None:
    code = (
        "import json, os, sys; "
        f"os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{cores}]); "
        f"from {function.__module__} import {function.__name__} as run; "
        "print(json.dumps(run(**json.loads(sys.argv[1]))))"
    )
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, json.dumps(arguments)],
            cwd=Path(__file__).parent,
            env=os.environ | dict.fromkeys(names, str(cores)),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return None
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
