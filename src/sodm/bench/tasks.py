"""What a run does, in the process that is its own. Each task gives a dictionary of plain values."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sodm.bench.convention import module
from sodm.bench.measures import history, training_seconds
from sodm.bench.run import Run
from sodm.bench.sets import FILES
from sodm.bench.splits import Data, Split, distinct_groups
from sodm.bench.tuning import ROWS, Tuned, tune
from sodm.cli.limits import peak_memory_mb
from sodm.files import atomic_write

Found = dict[str, Any]
SOLVERS = {
    "ODM": "odm",
    "SODM": "sodm",
    "Cascade": "cascade",
    "DiP": "dip",
    "DC": "dc",
    "SVRG": "svrg",
    "CSVRG": "csvrg",
    "SVC": "svc",
    "oneDAL": "onedal",
    "plain-DCD": "plain_dcd",
    "two scales": "two_scales",
}


def statistics(run: Run, known: Found, cache: Path) -> Found:
    """Table 1: read the set, keep it for the other runs, and count."""
    dataset = module("datasets", FILES[run.dataset]).Dataset(**dict(run.data_options))
    began = time.perf_counter()
    data = dataset.read()
    seconds = time.perf_counter() - began
    _keep(data, _kept(run, cache))
    return {
        "seconds": seconds,
        "n_rows": len(data.y),
        "n_features": data.X.shape[1],
        "positive": int(np.sum(data.y > 0)) if len(np.unique(data.y)) == 2 else None,
        "n_classes": len(np.unique(data.y)),
        "distinct": int(distinct_groups(data.X).max()) + 1,
        "dataset_kind": dataset.kind,
        "printed_as": dataset.printed_as,
        "note": dataset.note,
    }


def tune_parameters(run: Run, known: Found, cache: Path) -> Found:
    """Cross-validation on the training rows."""
    data, rows = _split(run, cache), _tuning_rows(run)
    began = time.perf_counter()
    with limited(run.limit):
        found = tune(run.solver, run.kernel, data.X, data.y, run.seed, rows)
    return {"seconds": time.perf_counter() - began, **found}


def _tuning_rows(run: Run) -> int:
    return min(2 * run.rows // 3, ROWS) if run.rows else ROWS


def fit(run: Run, known: Found, cache: Path) -> Found:
    """Fit a solver: seconds, peak memory beyond the loaded data, accuracy, objective, gap, the way there."""
    objective = _objective(run)
    objective.set_data(_read(run, cache))
    data: Split = objective.data
    grow = run.experiment == "grown"
    objective.tuned = Tuned(data.X, data.y, run.kernel, run.seed, {run.kind: known}, _tuning_rows(run), grow)
    solver = module("solvers", SOLVERS[run.solver]).Solver(**dict(run.options))
    solver.set_objective(**objective.get_objective())
    before, cpu, began = peak_memory_mb(), time.process_time(), time.perf_counter()
    with limited(run.limit):
        solver.run()
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    memory, machine = peak_memory_mb() - before, solver.get_result()["machine"]
    found = objective.evaluate_result(machine)
    found.pop("value")
    return {
        "seconds": training_seconds(machine, wall),
        "cpu_seconds": cpu,
        "memory_mb": memory,
        "input_mb": data.X.nbytes / 2**20,
        "train_rows": len(data.y),
        "test_rows": len(data.y_test),
        "parameters": objective.tuned(run.kind),
        **found,
        **({"n_steps": machine.n_steps_} if hasattr(machine, "n_steps_") else {}),
        "history": history(machine, parts=run.experiment == "cores", curve=run.seed == 0),
    }


def partition(run: Run, known: Found, cache: Path) -> Found:
    """How near the exact solution the solutions of parts are."""
    from sodm.bench.partitions import compare

    data = _split(run, cache)
    with limited(run.limit):
        return {"parameters": known, **compare(run.solver, data, known, run.seed)}


def pieces(run: Run, known: Found, cache: Path) -> Found:
    """What linear SODM on more cores would be made of."""
    from sodm.bench.simulate import linear_pieces

    data = _split(run, cache)
    with limited(run.limit):
        return {"parameters": known, **linear_pieces(data, known, run.seed)}


def merged_starts(run: Run, known: Found, cache: Path) -> Found:
    """The scale correction by itself."""
    from sodm.bench.starts import starts

    data = _split(run, cache)
    with limited(run.limit):
        return {"parameters": known, **starts(data, known, dict(run.options)["lam"], run.seed)}


TASKS: dict[str, Callable[[Run, Found, Path], Found]] = {
    "statistics": statistics,
    "tune": tune_parameters,
    "fit": fit,
    "partition": partition,
    "pieces": pieces,
    "starts": merged_starts,
}


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End this process if the block takes longer: by a signal nobody handles, so no library can delay it."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


# ------------------------------------------------------------------------------------------------ the rows


def _objective(run: Run) -> Any:
    from sodm.bench.paper.objective import Objective

    return Objective(kernel=run.kernel, split=run.split, seed=run.seed, rows=run.rows)


def _split(run: Run, cache: Path) -> Split:
    objective = _objective(run)
    objective.set_data(_read(run, cache))
    data: Split = objective.data
    return data


def _kept(run: Run, cache: Path) -> Path:
    options = "".join(f"-{value}" for _, value in run.data_options)
    return cache / f"{run.dataset}{options}.npz"


def _keep(data: Data, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {name: value for name, value in vars(data).items() if value is not None}
    with atomic_write(path) as file:
        np.savez(file, **arrays)


def _read(run: Run, cache: Path) -> Data:
    """The rows as the set's first run kept them; read again if somebody has tidied up."""
    path = _kept(run, cache)
    if not os.path.exists(path):
        dataset = module("datasets", FILES[run.dataset]).Dataset(**dict(run.data_options))
        _keep(dataset.read(), path)
    with np.load(path) as arrays:
        values = {name: arrays[name] for name in arrays.files}
    if "official" in values:
        values["official"] = int(values["official"])
    return Data(**values)
