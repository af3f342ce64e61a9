"""Runs what is missing, each run in a process of its own, and says how long is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sodm.bench.environment import cores, machine, versions
from sodm.bench.measures import short
from sodm.bench.results import DONE, FAILED, NOT_FINISHED, Record, Results
from sodm.bench.run import Run

SETUP_SECONDS = 600.0  # reading, tuning and predicting besides the fit; whoever takes longer hangs


def run_missing(
    runs: Sequence[Run], results: Results, cache: Path, *, size: str, say: Callable[[str], Any] = print
) -> list[Run]:
    """Run all that `results` has not; a run that fails is written down and the others go on.

    Parameters
    ----------
    runs : list of Run
        Each after what it needs.
    results : Results
    cache : Path
        Folder for data sets as they were read.
    size : str
        Written into each record.
    say : callable
        Told of each run, and of the time left.

    Returns
    -------
    list of Run
        Those not run, because what they need failed, or because the same with another seed did not finish.
    """
    missing = [run for run in runs if not results.has(run.key, run.limit)]
    if len(missing) < len(runs):
        say(f"{len(runs) - len(missing)} of {len(runs)} runs are there already.")
    where = {"size": size, "machine": machine(), "versions": versions()}
    clock, left_out = Clock(missing), []
    for number, run in enumerate(missing, start=1):
        needed = run.needs()
        known = results.records.get(needed.key) if needed else {}
        if known is None or known.get("status", DONE) != DONE or _hopeless(run, results):
            left_out.append(run)
            clock.skip(run)
            continue
        began = time.time()
        found = execute(run, known.get("parameters", {}), cache)
        record = {
            "key": run.key,
            **asdict(run),
            "threads": run.threads or cores(),
            **where,
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
            "load": short(os.getloadavg()[0], 3),
            **_rounded(found),
        }
        results.add(record)
        clock.done(run, time.time() - began)
        say(f"[{number}/{len(missing)}, {clock.left()}] {run.key}: {tell(record)}")
    return left_out


def _hopeless(run: Run, results: Results) -> bool:
    """Whether the same with the first seed did not finish in as much time."""
    first = results.records.get(replace(run, seed=0).key, {})
    return run.seed > 0 and first.get("status") == NOT_FINISHED and first["limit"] >= run.limit


def execute(run: Run, known: dict[str, Any], cache: Path) -> Record:
    """Do one run in a fresh process: what it found, with `status`."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    threads = str(run.threads or cores())
    order = json.dumps({"run": asdict(run), "known": known, "cache": str(cache)})
    process = subprocess.Popen(
        [sys.executable, "-m", "sodm.bench.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | dict.fromkeys(names, threads),
    )
    try:
        out, err = process.communicate(order, timeout=run.limit + SETUP_SECONDS)
    except subprocess.TimeoutExpired:
        return {"status": FAILED, "error": f"did not end in {run.limit + SETUP_SECONDS:g} s."}
    finally:  # also when interrupted: nothing is left running
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode == -signal.SIGALRM:
        return {"status": NOT_FINISHED}
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        return {"status": FAILED, "error": f"the process was ended by {name}; was there enough memory?"}
    try:
        found: Record = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        return {"status": FAILED, "error": " ".join(err.split())[-500:] or "the process said nothing."}
    return {"status": FAILED if "error" in found else DONE, **found}


def tell(record: Record) -> str:
    """A record in a few words."""
    if record["status"] == FAILED:
        return f"FAILED: {record['error']}"
    if record["status"] == NOT_FINISHED:
        return f"not finished in {record['limit']:g} s"
    words = []
    if "accuracy" in record:
        words.append(f"accuracy {record['accuracy']:.4f}")
    if "cv_accuracy" in record:
        words.append(f"accuracy {record['cv_accuracy']:.4f} with {record['parameters']}")
    if "seconds" in record:
        words.append(f"{record['seconds']:.2f} s")
    return ", ".join(words) or "done"


class Clock:
    """Time left: what runs are thought to cost, put right by what the finished ones have cost."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.thought = sum(map(thought_cost, runs))
        self.past_thought, self.past = 0.0, 0.0

    def done(self, run: Run, seconds: float) -> None:
        """A run has taken so many seconds."""
        self.thought -= thought_cost(run)
        self.past_thought += thought_cost(run)
        self.past += seconds

    def skip(self, run: Run) -> None:
        """A run will not be made."""
        self.thought -= thought_cost(run)

    def left(self) -> str:
        """In words."""
        # The guess weighs as much as a minute of runs, so that the first few do not mislead.
        ratio = (self.past + 60) / (self.past_thought + 60)
        minutes = max(self.thought, 0.0) * ratio / 60
        return "less than a minute left" if minutes < 1 else f"about {minutes:.0f} min left"


# Seconds, roughly, on two cores: the largest set of the paper's here, and what a run costs whatever it does.
_FIXED = 2.5
_FIT = {"SVC": 60.0, "oneDAL": 30.0, "Cascade": 30.0, "DiP": 20.0, "DC": 40.0, "ODM": 10.0, "SODM": 6.0}
_SHARE = {"ijcnn1": 1.0, "susy-stand-in": 8.0, "skin-nonskin": 0.7, "cod-rna": 0.3, "susy-subset": 0.6}
_SHARE |= {"a7a": 0.5, "gisette-stand-in": 0.5, "covtype": 8.0, "fashion-mnist": 3.0}


def thought_cost(run: Run) -> float:
    """Seconds that a run may take: a guess, to weigh runs by."""
    if run.task != "fit":
        return _FIXED + {"tune": 8.0, "partition": 3.0}.get(run.task, 1.0) * (0.3 if run.rows else 1.0)
    if run.rows is not None:
        return _FIXED
    guess = _FIT.get(run.solver, 5.0) * _SHARE.get(run.dataset, 0.1)
    return _FIXED + min(run.limit, guess * (3 if run.kind == "hinge" else 1))


def _rounded(value: Any) -> Any:
    """Few digits, all the way down; what is not finite is not JSON, and left out."""
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return short(value, 6)
