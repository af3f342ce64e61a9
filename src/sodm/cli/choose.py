"""The parameters that `sodm tune` and `sodm train --tune` choose: the library's search, told on the standard
error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

from numpy.typing import NDArray
from rich.console import Console

from sodm import ODMClassifierCV, ODMRegressorCV
from sodm.cli.metric import USUAL, check_fits, shown

Search = ODMClassifierCV | ODMRegressorCV
# What of a machine's parameters a search is told; the others it chooses, or has no use for.
KEPT = {
    "classification": ("kernel", "degree", "coef0", "upsilon", "loss", "class_weight"),
    "regression": ("kernel", "degree", "coef0", "upsilon", "epsilon", "fit_intercept"),
}


@dataclass(frozen=True)
class Searching:
    """How to search.

    Attributes
    ----------
    metric : str or None
        Name of a scorer; None is accuracy, or R^2.
    seed : int
    memory_mb : float
    n_threads : int or None
    seconds : float
        The most that the search may take.
    quiet : bool
    """

    metric: str | None
    seed: int
    memory_mb: float
    n_threads: int | None
    seconds: float
    quiet: bool


def choose(task: str, X: Any, y: NDArray[Any], parameters: dict[str, Any], how: Searching) -> Search:
    """A search that is done, without a machine.

    Parameters
    ----------
    task : {"classification", "regression"}
    X, y : array or CSR matrix, and labels or numbers
        Scaled rows.
    parameters : dict
        Those of the machine; None or absent where its default will do.
    how : Searching
    """
    if how.metric is not None:
        check_fits(how.metric, task, y)
    given = {name: parameters[name] for name in KEPT[task] if parameters.get(name) is not None}
    given |= {"refit": False, "time_limit": how.seconds, "cache_size": how.memory_mb, "scoring": how.metric}
    given |= {"n_jobs": how.n_threads, "random_state": how.seed, "verbose": int(not how.quiet)}
    search: Search
    if task == "regression":
        search = ODMRegressorCV(**given)
    elif given.get("kernel") == "linear":
        search = ODMClassifierCV(**given, thetas=[0.6, 0.9], intercepts=[True])
    else:
        search = ODMClassifierCV(**given)
    with redirect_stdout(sys.stderr), _clock(how):
        search.fit(X, y)
    if not search.search_path_:
        raise ValueError(f"nothing was tried within --time-limit {how.seconds:g}: raise it.")
    return search


def was_cut(search: Search) -> bool:
    """Whether the time was up before all stages were done."""
    return search.stop_reason_ == "time limit"


def why(search: Search) -> str:
    """One line on what was chosen and why, and whether there was time for all."""
    best, last = search.best_params_, search.search_path_[-1]
    gamma = "" if search.kernel == "linear" else f"gamma {best['gamma']:.4g}, "
    seconds = sum(stage["seconds"] for stage in search.search_path_)
    zone = ""
    if isinstance(search, ODMClassifierCV):
        zone = f", theta {best['theta']:g}, {'an intercept' if best['fit_intercept'] else 'no intercept'}"
    score = shown(metric_of(search), last["score"], last["error"])
    line = (
        f"{gamma}lam {best['lam']:.4g}{zone}: {score} on rows held out of {last['rows']:,}, chosen from "
        f"{len(search.cv_results_['params'])} trials in {seconds:.1f} s"
    )
    if was_cut(search):
        line += (
            f"; cut at {search.time_limit:g} s, before all rows it would have looked at: raise --time-limit"
        )
    return line


def metric_of(search: Search) -> str:
    """What it looked at."""
    return search.scoring or USUAL["regression" if isinstance(search, ODMRegressorCV) else "classification"]


@contextmanager
def _clock(how: Searching) -> Iterator[None]:
    """Show how much time there is left, to a person who is watching."""
    if how.quiet or not sys.stderr.isatty():
        yield
        return
    over, done = time.monotonic() + how.seconds, Event()
    with Console(stderr=True).status("searching") as status:

        def tick() -> None:
            while not done.wait(1.0):
                left = max(0, round(over - time.monotonic()))
                status.update(f"searching: at most {left // 60}:{left % 60:02} left")

        Thread(target=tick, daemon=True).start()
        try:
            yield
        finally:
            done.set()
