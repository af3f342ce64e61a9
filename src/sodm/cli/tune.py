"""`sodm tune`: search good parameters, print the best and the command to train with them."""

from __future__ import annotations

import shlex
import sys
import time
from typing import Any

import numpy as np
from rich.table import Table

from sodm.cli.inputs import Source
from sodm.cli.limits import peak_memory_mb
from sodm.cli.output import console, note, show
from sodm.cli.prepare import features, fit_before
from sodm.cli.search import Trial, search
from sodm.problem.kernels import Kernel

ROWS_SHOWN = 10


def tune(
    source: Source,
    kernel_name: str,
    degree: int,
    coef0: float,
    scale: str,
    seed: int,
    memory_mb: float,
    limit: float | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read, scale, search, and print."""
    rows = source.rows()
    note(rows.notes, quiet)
    y = np.asarray(rows.y)
    if len(np.unique(y)) < 2:
        raise ValueError(f"{source.path} has one class only: tuning needs two or more.")
    X = features(fit_before(scale, rows.X), rows.X)
    start = time.perf_counter()
    kernel = Kernel(
        kernel_name,
        degree=degree,
        coef0=coef0,
        offset=float(kernel_name == "linear"),  # an intercept, as `sodm train` has it
    )
    trials = search(
        X,
        y,
        kernel,
        seed=seed,
        memory_mb=memory_mb,
        n_threads=source.n_threads,
        stop=lambda: limit is not None and time.perf_counter() - start > limit,
        report=(lambda line: None) if as_json or quiet else (lambda line: print(line, file=sys.stderr)),
    )
    if not trials:
        raise ValueError(
            f"nothing was tried within --time-limit {limit:g}: raise it." if limit else "nothing was tried."
        )
    command = _command(source, kernel, scale, seed, trials[0])
    if as_json:
        facts = {
            "seconds": round(time.perf_counter() - start, 3),
            "peak_memory_mb": round(peak_memory_mb(), 1),
            "best": _entry(trials[0]),
            "trials": [_entry(trial) for trial in trials],
            "command": command,
        }
        show(facts, title="", as_json=True)
        return
    if not quiet:
        _print_table(trials)
    print(command)


def _entry(trial: Trial) -> dict[str, Any]:
    scores = {"rows": trial.rows, "accuracy": trial.accuracy, "support_vectors": trial.support_vectors}
    return {**vars(trial.setting), **scores}


def _print_table(trials: list[Trial]) -> None:
    table = Table(
        title=f"best {min(ROWS_SHOWN, len(trials))} of {len(trials)} settings", title_justify="left", box=None
    )
    for name in ("gamma", "lam", "theta", "upsilon", "rows", "validation accuracy", "support vectors"):
        table.add_column(name, justify="right")
    for trial in trials[:ROWS_SHOWN]:
        s = trial.setting
        numbers = (f"{s.gamma:.4g}", f"{s.lam:g}", f"{s.theta:g}", f"{s.upsilon:g}")
        table.add_row(*numbers, f"{trial.rows:,}", f"{trial.accuracy:.2%}", f"{trial.support_vectors:,}")
    console().print(table)


def _command(source: Source, kernel: Kernel, scale: str, seed: int, trial: Trial) -> str:
    """The command that trains with the best setting on all the data."""
    s = trial.setting
    words = ["sodm", "train", source.path, "--kernel", str(kernel.name), "--lam", f"{s.lam:g}"]
    words += ["--theta", f"{s.theta:g}", "--upsilon", f"{s.upsilon:g}", "--scale", scale, "--seed", str(seed)]
    if kernel.name != "linear":
        words += ["--gamma", f"{s.gamma:.6g}"]
    if kernel.name == "poly":
        words += ["--degree", str(kernel.degree)]
    if kernel.name in ("poly", "sigmoid"):
        words += ["--coef0", f"{kernel.coef0:g}"]
    if source.format != "auto":
        words += ["--format", source.format]
    if source.label != "auto":
        words += ["--label", source.label]
    if source.header is not None:
        words += ["--header" if source.header else "--no-header"]
    if source.separator is not None:
        words += ["--separator", source.separator]
    if source.zero_based:
        words += ["--zero-based"]
    for option in ("decimal", "encoding"):
        if getattr(source, option) is not None:
            words += [f"--{option}", getattr(source, option)]
    for option in ("missing", "ignore", "category"):
        for value in getattr(source, option):
            words += [f"--{option}", value]
    return shlex.join([*words, "--out", "model.sodm"])
