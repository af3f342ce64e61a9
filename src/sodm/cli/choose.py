"""The parameters that `sodm tune` and `sodm train --tune` choose: the library's search, told on the standard
error."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

from numpy.typing import NDArray

from sodm import ODMClassifierCV, ODMRegressorCV

Search = ODMClassifierCV | ODMRegressorCV


def choose(
    task: str,
    X: Any,
    y: NDArray[Any],
    parameters: dict[str, Any],
    *,
    seed: int,
    memory_mb: float,
    n_threads: int | None,
    limit: float | None,
    quiet: bool,
) -> Search:
    """A search that is done, without a machine.

    Parameters
    ----------
    task : {"classification", "regression"}
    X, y : array or CSR matrix, and labels or numbers
        Scaled rows.
    parameters : dict
        Those of the machine that are not searched, and None or absent where its default will do: kernel,
        degree, coef0, upsilon, loss, class_weight; of regression kernel, degree, coef0, upsilon, epsilon,
        fit_intercept.
    seed, memory_mb, n_threads
    limit : float or None
        Seconds.
    quiet : bool
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    given |= {"refit": False, "time_limit": limit, "cache_size": memory_mb, "random_state": seed}
    given |= {"n_jobs": n_threads, "verbose": int(not quiet)}
    search: Search
    if task == "regression":
        search = ODMRegressorCV(**given)
    elif given.get("kernel") == "linear":
        search = ODMClassifierCV(**given, thetas=[0.6, 0.9], intercepts=[True])
    else:
        search = ODMClassifierCV(**given)
    with redirect_stdout(sys.stderr):
        search.fit(X, y)
    if not search.search_path_:
        raise ValueError(f"nothing was tried within --time-limit {limit:g}: raise it.")
    return search


def why(search: Search) -> str:
    """One line on what was chosen and why."""
    best, last = search.best_params_, search.search_path_[-1]
    gamma = "" if search.kernel == "linear" else f"gamma {best['gamma']:.4g}, "
    seconds = sum(stage["seconds"] for stage in search.search_path_)
    if isinstance(search, ODMRegressorCV):
        zone, score = "", f"R^2 {last['score']:.4f} ± {last['error']:.4f}"
    else:
        intercept = "an intercept" if best["fit_intercept"] else "no intercept"
        zone, score = (
            f", theta {best['theta']:g}, {intercept}",
            f"{last['score']:.2%} ± {last['error']:.2%} right",
        )
    return (
        f"{gamma}lam {best['lam']:.4g}{zone}: {score} on rows held out of {last['rows']:,}, the best of "
        f"{len(search.cv_results_['params'])} trials in {seconds:.1f} s"
    )
