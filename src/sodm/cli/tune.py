"""`sodm tune`: search good parameters, print the best and the command to train with them."""

from __future__ import annotations

import shlex
import time
from typing import Any

import numpy as np
from rich.table import Table

from sodm.cli.check import check_labels, check_rows
from sodm.cli.choose import Search, Searching, choose, metric_of, was_cut, why
from sodm.cli.inputs import Source
from sodm.cli.limits import peak_memory_mb
from sodm.cli.machine import make_machine
from sodm.cli.output import console, note, show, text_of
from sodm.cli.prepare import features, fit_before
from sodm.cli.task import numbers, said, task_of

ROWS_SHOWN = 10


def tune(
    source: Source,
    asked: str,
    parameters: dict[str, Any],
    scale: str,
    how: Searching,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read, scale, search, and print."""
    rows = source.rows()
    note(rows.notes, quiet)
    check_labels(source.path, rows, asked)
    note(check_rows(source.path, rows), quiet)
    y = np.asarray(rows.y)
    task, because = task_of(y, asked)
    note(said(task, because, asked), quiet)
    make_machine(parameters, task=task)  # refuses what is not for the task
    if task == "regression":
        y = numbers(source.path, y)
    X = features(fit_before(scale, rows.X), rows.X)
    start = time.perf_counter()
    search = choose(task, X, y, parameters, how)
    entries = _entries(search)
    command = _command(source, task, search, scale, how)
    if as_json:
        facts = {
            "task": task,
            "task_because": because,
            "seconds": round(time.perf_counter() - start, 3),
            "peak_memory_mb": round(peak_memory_mb(), 1),
            "best": entries[0],
            "trials": entries,
            "exponent": round(search.exponent_, 3),
            "metric": metric_of(search),
            "cut": was_cut(search),
            "why": why(search),
            "command": command,
        }
        show(facts, title="", as_json=True)
        return
    if not quiet:
        _print_table(entries)
        print(why(search))
    print(command)


def _entries(search: Search) -> list[dict[str, Any]]:
    """What was chosen, then all trials, the best first. lam is for all rows."""
    results, last = search.cv_results_, search.search_path_[-1]
    order = np.argsort(results["rank_test_score"], kind="stable")
    score = metric_of(search)
    tried = [
        results["params"][k]
        | {"rows": int(results["n_resources"][k]), score: float(results["mean_test_score"][k])}
        for k in order
    ]
    return [search.best_params_ | {"rows": last["rows"], score: last["score"]}, *tried]


def _print_table(entries: list[dict[str, Any]]) -> None:
    shown = entries[: ROWS_SHOWN + 1]
    table = Table(
        title=f"chosen, and the best {len(shown) - 1} of {len(entries) - 1} trials",
        title_justify="left",
        box=None,
    )
    *_, score = shown[0]
    names = {
        "fit_intercept": "intercept",
        score: f"validation {'R^2' if score == 'r2' else score.replace('_', ' ')}",
    }
    for name in shown[0]:
        table.add_column(names.get(name, name), justify="right")
    for entry in shown:
        table.add_row(*(text_of(name, value) for name, value in entry.items()))
    console().print(table)


def _command(source: Source, task: str, search: Search, scale: str, how: Searching) -> str:
    """The command that trains with the best setting on all the data."""
    best, kernel = search.best_params_, search.kernel
    words = [
        "sodm",
        "train",
        source.path,
        "--task",
        task,
        "--kernel",
        str(kernel),
        "--lam",
        f"{best['lam']:.6g}",
    ]
    if task == "classification":
        words += ["--theta", f"{best['theta']:g}"]
        words += ["--intercept" if best["fit_intercept"] else "--no-intercept"]
    words += ["--scale", scale, "--seed", str(how.seed)]
    if kernel != "linear":
        words += ["--gamma", f"{best['gamma']:.6g}"]
    if kernel == "poly":
        words += ["--degree", str(search.degree)]
    if kernel in ("poly", "sigmoid"):
        words += ["--coef0", f"{search.coef0:g}"]
    words += _other_than_default(search)
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


def _other_than_default(search: Search) -> list[str]:
    """Options of the machine that were given, and not searched."""
    default, words = type(search)(), []
    for name in ("upsilon", "epsilon", "loss"):
        if getattr(search, name, None) != getattr(default, name, None):
            words += [f"--{name}", f"{getattr(search, name)}"]
    return words + ["--balanced"] * (getattr(search, "class_weight", None) is not None)
