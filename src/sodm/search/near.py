"""Neighbourhoods: a last stage of rows that lie as near to each other as all rows do.

Borders finer than the distances in a sample do not show there: 6,250 of 80,000 rows of covtype ask for gamma
2, and all of them for 16. A neighbourhood, the rows nearest to one that is drawn, is as dense as all rows
are, and lam need not be carried to them: a row costs there what it costs in the end, which is lam m / n for
m of n rows.

What is found is taken where machines of neighbourhoods decide the rows they hold out clearly better with it
than with what samples had chosen, and clearly better than the machine of the last sample. Else near rows
tell no more than others, or ask for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from sodm.problem.cells import Cells
from sodm.problem.neighbourhoods import REGION_ROWS, neighbourhoods
from sodm.problem.row_types import Rows
from sodm.search.evaluate import evaluate
from sodm.search.field import Field
from sodm.search.grid import Grid
from sodm.search.halving import CLIMBS, Outcome, choose, line, record
from sodm.search.pool import OutOfTime
from sodm.search.stage import Stage, hold_out
from sodm.search.task import Target

COUNT, FEWEST = 16, 4  # neighbourhoods; half as many where each has several machines
HELD_OUT = 3  # one row in so many
DENSER = 3  # times the rows of the last stage, at least: in fewer, rows are hardly nearer to each other
FINER = (1.0, 4.0, 16.0)  # times the gamma of the samples
LAMS = (0.25, 1.0, 4.0)  # times their lam, over that factor: lam gamma is what gammas have in common
CLEAR = 2.0  # standard errors


@dataclass(frozen=True)
class Local:
    """What is learnt in a neighbourhood, where that is another problem.

    Attributes
    ----------
    target : Target
    lam_factor : float
        A lam of the samples is so many times as large for it.
    """

    target: Target
    lam_factor: float = 1.0


@dataclass(frozen=True)
class Nearer:
    """A search that neighbourhoods have decided: what was tried on, the stages, and what came of them."""

    field: Field
    stages: list[Stage]
    outcome: Outcome


def look_near(
    field: Field,
    grid: Grid,
    stages: list[Stage],
    outcome: Outcome,
    local: Local,
    largest: int,
    report: Callable[[str], Any] = lambda text: None,
) -> Nearer | None:
    """Settings around the outcome of a search on neighbourhoods; None if it stays as it is.

    `largest` is how many rows a Gram matrix may have.
    """
    last, n = stages[-1], field.X.shape[0]
    finished = outcome.trial is not None and not outcome.cut
    smooth = isinstance(field.kernel.name, str) and field.kernel.name in ("rbf", "laplacian")
    if not (finished and smooth and grid.free_gamma and grid.free_lam and n >= DENSER * len(last.rows)):
        return None
    several = local.target.n_outputs > 1
    count = min(COUNT // 2 if several else COUNT, n // REGION_ROWS, int((largest / REGION_ROWS) ** 2))
    if count < FEWEST:
        return None
    began = perf_counter()
    stage = near_stage(field.X, last, count, field.seed, field.n_threads)
    near_field = replace(field, target=local.target)
    factor = local.lam_factor
    near_grid = replace(grid, lams=tuple(factor * lam for lam in grid.lams))
    chosen = outcome.best.with_lam(factor * outcome.best.lam)
    number = len(stages)
    candidates = {
        replace(chosen, gamma=g * chosen.gamma, lam=near_grid.nearest_lam(k / g * chosen.lam))
        for g in FINER
        for k in LAMS
    }
    try:
        here = evaluate(near_field, stage, candidates, number)
        best = choose(here, near_grid.usual_lam)
        for _ in range(CLIMBS):
            tried = {trial.setting for trial in here}
            more = [s for s in near_grid.beside(best.setting) if s not in tried]
            if not more:
                break
            here += evaluate(near_field, stage, more, number)
            best = choose(here, near_grid.usual_lam)
        found = record(stage, here, best, perf_counter() - began)
        report(line(found, f"{count} neighbourhoods of {len(stage.rows):,} rows"))
        [own] = [trial for trial in here if trial.setting == chosen]
        if not best.score > own.score + CLEAR * best.error:
            return None
        on_sample = replace(hold_out(last.rows, stage.held, n), share=last.share)
        assert outcome.trial is not None
        [sample] = evaluate(field, on_sample, [outcome.trial.setting])
    except OutOfTime:
        return None
    if not best.score > sample.score + CLEAR * best.error:
        return None
    decided = replace(
        outcome,
        best=best.setting,
        trial=best,
        trials=outcome.trials + here,
        path=[*outcome.path, found],
    )
    return Nearer(near_field, [*stages, stage], decided)


def near_stage(X: Rows, last: Stage, count: int, seed: int, n_threads: int) -> Stage:
    """The rows around some that are drawn, each with some held out of its inside that the last sample has
    not been trained on."""
    rng = np.random.default_rng([seed, 1])
    n = X.shape[0]
    drawn = np.sort(rng.choice(n, count, replace=False))
    table = Cells(X[drawn].astype(np.float64)).nearest(X, n_threads)
    used = np.zeros(n, dtype=bool)
    used[last.rows] = True
    stage: Stage | None = None
    for rows, inside in neighbourhoods(table, REGION_ROWS):
        free = inside[~used[inside]]
        size = min(len(free), len(inside) // HELD_OUT)
        if size == 0:
            continue
        held = np.sort(rng.choice(free, size, replace=False))
        one = hold_out(np.setdiff1d(rows, held), held, n)
        stage = replace(one, other=stage, exponent=1.0, pooled=True)
    assert stage is not None
    return stage
