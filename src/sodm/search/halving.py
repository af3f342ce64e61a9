"""Successive halving: all settings on few rows, those around the best on more, lam carried to all.

The best lam depends on the number of rows. Trials on a share r of the rows take lam r^(1/2) for a setting's
lam; the best of the first stage and that of the last tell the exponent e by which it really grows,

    lam(rows) ~ rows^e,    0 ("lam stays") <= e <= 1 ("C = lam / rows stays"),

and by that the best of the last stage is carried to all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from time import perf_counter
from typing import Any

import numpy as np

from sodm.search.evaluate import evaluate
from sodm.search.field import Field
from sodm.search.grid import Grid
from sodm.search.ladder import Known
from sodm.search.pool import OutOfTime
from sodm.search.settings import Setting, Trial
from sodm.search.stage import EXPONENT, Stage
from sodm.search.surface import surface

CLIMBS = 3  # times that more is tried beside the best of a stage, while that is at the edge
EVEN = 0.1  # of a standard error: settings as near as this to the best are taken to be as good


@dataclass(frozen=True)
class Outcome:
    """What a search found.

    Attributes
    ----------
    best : Setting
        Its lam is for all rows.
    trial : Trial or None
        The trial that it comes from; None if there was time for none.
    trials : list of Trial
    exponent : float
        By which lam was carried to all rows.
    path : list of dict
        One record for each stage.
    cut : bool
        Whether the time was up before all stages were done.
    """

    best: Setting
    trial: Trial | None
    trials: list[Trial]
    exponent: float
    path: list[dict[str, Any]]
    cut: bool = False


def search(
    field: Field, grid: Grid, stages: Sequence[Stage], report: Callable[[str], Any] = lambda line: None
) -> Outcome:
    """Try the grid on the first stage, what is around the best on the others, and choose."""
    trials: list[Trial] = []
    path: list[dict[str, Any]] = []
    centres: list[tuple[Stage, float]] = []
    candidates = grid.coarse()
    best: Trial | None = None
    cut = False
    try:
        for number, stage in enumerate(stages):
            began = perf_counter()
            known: Known = {}
            here = evaluate(field, stage, candidates, number, number > 0 or not grid.free_lam, known)
            trials += here
            for _ in range(CLIMBS if number > 0 or len(stages) == 1 else 0):
                # Beside the best so far: between the points of a coarse grid, or further the way it went.
                best = choose(here, grid.usual_lams)
                more = untried(grid, best, here)
                if not more:
                    break
                new = evaluate(field, stage, more, number, known=known)
                here, trials = here + new, trials + new
            best = choose(here, grid.usual_lams)
            centres.append((stage, centre(here, best)))
            path.append(record(stage, here, best, perf_counter() - began))
            report(line(path[-1], f"{path[-1]['rows']:,} rows"))
            candidates = grid.around(best.setting)
    except OutOfTime:
        cut = True
    if best is None:
        return Outcome(_middle(grid), None, trials, EXPONENT, path, cut)
    exponent = measured_exponent(centres)
    share = stages[best.stage].share
    carried = best.setting.with_lam(best.setting.lam * share ** (EXPONENT - exponent))
    return Outcome(grid.nearest_lam(carried), best, trials, exponent, path, cut)


def untried(grid: Grid, best: Trial, here: Sequence[Trial]) -> list[Setting]:
    """What is beside the best of a stage and has not been tried there."""
    tried = {trial.setting for trial in here}
    return [setting for setting in grid.beside(best.setting) if setting not in tried]


def choose(tried: Sequence[Trial], usual_lams: Mapping[float, float]) -> Trial:
    """The best of those whose score is a number, as the surface through all scores has it.

    A surface says little of settings that are far from the best: those within a standard error of the highest
    score may be chosen. Of settings that can hardly be told apart, the one of the smallest lam, down to the
    usual one of its theta: where a small gamma with a large lam is as good as a larger gamma with a small
    one, the latter is solved sooner.
    """
    trials = [trial for trial in tried if np.isfinite(trial.score)]
    if not trials:
        raise ValueError("no setting has a score: scoring gives nan for each of them on rows held out.")
    judged = surface(trials)
    highest = max(trials, key=lambda trial: trial.score)
    near = [k for k, trial in enumerate(trials) if trial.score >= highest.score - highest.error]
    lams = [trial.setting.lam / usual_lams[trial.setting.theta] for trial in trials]
    best = max(near, key=lambda k: (judged[k], -lams[k]))
    even = [k for k in near if judged[k] >= judged[best] - EVEN * trials[best].error]
    return trials[min(even, key=lambda k: (max(lams[k], 1.0), -judged[k]))]


def centre(trials: Sequence[Trial], best: Trial) -> float:
    """Where along log2(lam gamma) the good settings of the best gamma are: a mean, weighted by scores.

    A larger gamma wants a smaller lam for it: what stages of different gammas have in common is lam gamma.
    """
    at = best.setting
    same = [t for t in trials if t.setting.with_lam(at.lam) == at and np.isfinite(t.score)]
    scores = np.array([t.score for t in same])
    weights = np.exp((scores - scores.max()) / max(best.error, 1e-12))
    return float(weights @ [log2(t.setting.lam * at.gamma) for t in same] / weights.sum())


def measured_exponent(centres: Sequence[tuple[Stage, float]]) -> float:
    """How lam grows with the rows, from the first stage to the last."""
    (first, low), (last, high) = centres[0], centres[-1]
    if last.share <= first.share:
        return EXPONENT
    # Both centres are in terms of all rows: lam there is lam share^(1/2).
    return float(np.clip(EXPONENT + (high - low) / log2(last.share / first.share), 0.0, 1.0))


def _middle(grid: Grid) -> Setting:
    """What to take where nothing could be tried."""
    gamma = grid.gammas[len(grid.gammas) // 2]
    theta, lam = next(iter(grid.usual_lams.items()))
    return Setting(gamma, grid.intercepts[0], theta, lam)


def record(stage: Stage, trials: Sequence[Trial], best: Trial, seconds: float) -> dict[str, Any]:
    """What a stage has found."""
    return {
        "rows": best.rows,
        "folds": len(stage.all_folds),
        "settings": len(trials),
        "gamma": best.setting.gamma,
        "lam": stage.lam_there(best.setting.lam),
        "score": best.score,
        "error": best.error,
        "seconds": seconds,
    }


def line(record: dict[str, Any], rows: str) -> str:
    """The same for a reader; `rows` says what it was tried on."""
    return (
        f"{record['settings']} settings on {rows}: best score {record['score']:.4f} "
        f"(gamma {record['gamma']:.4g}, lam {record['lam']:.4g} there), {record['seconds']:.1f} s"
    )
