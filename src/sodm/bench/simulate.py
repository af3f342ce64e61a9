"""Speed-up beyond the cores there are, from pieces measured on one core.

RBF     level by level: the parts, each to the first core that is free, and what lies between (the pilot,
        dividing, merging, looking), some of which is helped by more cores: how much, its seconds on all the
        cores there are tell beside those on one.
linear  an epoch of DSVRG is the gradient over all rows, divided by the number of cores, then its steps one
        after the other, whoever takes them, and one hand-over of w for each core.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from sodm.bench.splits import Split
from sodm.bench.tuning import UPSILON

CORES = (1, 2, 4, 8, 16, 32)
HANDOVER = 2e-4  # seconds: a round trip in a data centre


def tree_seconds(
    levels: Sequence[dict[str, Any]], cores: int, there: tuple[int, Sequence[dict[str, Any]]] | None = None
) -> float:
    """Seconds of a tree on so many cores.

    Parameters
    ----------
    levels : list of dict
        `part_seconds` and `between_seconds` of its levels on one core.
    cores : int
    there : int and list of dict, optional
        A number of cores that there are, and its levels on these. Without, nothing but the parts is taken to
        be helped by more cores.
    """
    total = 0.0
    for k, level in enumerate(levels):
        free = np.zeros(cores)
        for seconds in level["part_seconds"]:
            free[free.argmin()] += seconds
        between = level["between_seconds"]
        alone = _alone(between, there[1][k]["between_seconds"], there[0]) if there else between
        total += float(free.max()) + alone + (between - alone) / cores
    return total


def _alone(one: float, several: float, cores: int) -> float:
    """What of the seconds on one core is not helped by more, by Amdahl's law from those on several."""
    return min(one, max(0.0, (cores * several - one) / (cores - 1)))


def linear_seconds(pieces: dict[str, Any], cores: int) -> float:
    """Seconds of DSVRG on so many cores."""
    handovers = cores * HANDOVER if cores > 1 else 0.0
    epochs = pieces["epochs"] * (pieces["gradient_seconds"] / cores + handovers)
    return float(pieces["setup_seconds"] + epochs + pieces["steps"] * pieces["step_seconds"])


def linear_pieces(data: Split, parameters: dict[str, float], seed: int) -> dict[str, Any]:
    """Run DSVRG on one core, and time its gradient and its steps apart."""
    from sodm import LinearODMClassifier
    from sodm.problem.linear import LinearProblem, MemoryRows
    from sodm.problem.losses import OdmLoss

    settings: dict[str, Any] = {**parameters, "upsilon": UPSILON}
    machine = LinearODMClassifier(solver="dsvrg", tol=1e-4, n_jobs=1, random_state=seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine.fit(data.X, data.y)
    last, n = machine.history_[-1], len(data.y)
    loss = OdmLoss(parameters["lam"], UPSILON, parameters["theta"])
    rows = MemoryRows(data.X, (data.y > 0).astype(np.int32), None, np.array([1], np.int32), loss, 1.0, 1)
    rows.start("none")
    problem, w = LinearProblem(rows, 1, loss), np.zeros((1, rows.width))
    order, zero = np.random.default_rng(0).permutation(n), np.zeros_like(w)
    return {
        "train_rows": n,
        "seconds": last["seconds"],
        "setup_seconds": machine.history_[0]["seconds"],
        "epochs": last["epoch"],
        "steps": (last["passes"] - last["epoch"]) * n,
        "gradient_seconds": _shortest(lambda: problem.evaluate([0], w)),
        "step_seconds": _shortest(lambda: rows.svrg_steps(1.0, 1e-6, order, zero, zero, w)) / n,
    }


def _shortest(function: Any, repeat: int = 3) -> float:
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)
