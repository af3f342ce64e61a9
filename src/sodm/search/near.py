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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from sodm.problem.cells import Cells, squares
from sodm.problem.neighbourhoods import REGION_ROWS, neighbourhoods
from sodm.problem.row_types import Rows
from sodm.search.evaluate import evaluate
from sodm.search.field import Field
from sodm.search.grid import Grid
from sodm.search.halving import CLIMBS, Outcome, choose, line, record, untried
from sodm.search.pool import OutOfTime
from sodm.search.settings import Setting, Trial
from sodm.search.stage import Stage, hold_out
from sodm.search.task import Target

COUNT = 16  # neighbourhoods; half as many where each has several machines
FIRST = 4  # of these: enough to tell that there is no hope
HELD_OUT = 3  # one row in so many
DENSER = 3  # times the rows of the last stage, at least: in fewer, rows are hardly nearer to each other
FINER = (4.0, 16.0)  # times the gamma of the samples; lam over that: lam gamma is what gammas have in common
SCALES = (1.0, 4.0, 16.0)  # times gamma="scale" of a neighbourhood, for samples that show nothing at all
# Standard errors by which a finer kernel must be better: on the first to go on, on all of them to be taken.
HOPE, CLEAR = 0.5, 2.0


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
    smooth = field.kernel.name in ("rbf", "laplacian") and grid.free_gamma and grid.free_lam
    if not smooth or outcome.trial is None or outcome.cut or n < DENSER * len(last.rows):
        return None
    several = local.target.n_outputs > 1
    count = min(COUNT // 2 if several else COUNT, n // REGION_ROWS, int((largest / REGION_ROWS) ** 2))
    samples = near_samples(field.X, last, count, field.seed, field.n_threads) if count >= FIRST else []
    if len(samples) < FIRST:
        return None
    factor = local.lam_factor
    trials = _Trials(
        replace(field, target=local.target),
        replace(grid, lams={theta: tuple(factor * lam for lam in own) for theta, own in grid.lams.items()}),
        outcome.best.with_lam(factor * outcome.best.lam),
        len(stages),
    )
    began, stage = perf_counter(), together(samples)
    try:
        if not trials.hope(together(samples[:FIRST])):
            return None
        here, best = trials.climb(stage)
        found = record(stage, here, best, perf_counter() - began)
        report(line(found, f"{len(samples)} neighbourhoods of {len(stage.rows):,} rows"))
        on_sample = replace(hold_out(last.rows, stage.held, n), share=last.share)
        if trials.gain(stage, best, trials.own(here)) <= CLEAR:
            return None
        [sampled] = evaluate(field, on_sample, [outcome.trial.setting])
    except OutOfTime:
        return None
    if trials.gain(stage, best, sampled, field.target) <= CLEAR:
        return None
    decided = replace(
        outcome,
        best=best.setting,
        trial=best,
        trials=outcome.trials + here,
        path=[*outcome.path, found],
    )
    return Nearer(trials.field, [*stages, stage], decided)


@dataclass(frozen=True)
class _Trials:
    """Trials of finer kernels than the chosen one."""

    field: Field
    grid: Grid
    chosen: Setting
    number: int

    def hope(self, stage: Stage) -> bool:
        """Whether some finer kernel is better on these neighbourhoods."""
        here = self._first(stage)
        own = self.own(here)
        return any(self.gain(stage, trial, own) > HOPE for trial in here)

    def own(self, here: Sequence[Trial]) -> Trial:
        """Of these that of the setting that was chosen."""
        [found] = [trial for trial in here if trial.setting == self.chosen]
        return found

    def gain(self, stage: Stage, trial: Trial, other: Trial, target: Target | None = None) -> float:
        """By how many standard errors of the difference one is better than another, whose machines learnt
        `target`. Both have decided the same rows, and most of them alike: the error of a score is several
        times that of their difference. Scores of no single rows have to do with their own."""
        gained, error = trial.score - other.score, trial.error
        if trial.decisions is not None and other.decisions is not None:
            own = self.field.target.costs(trial.decisions[0], stage.held)
            others = (target or self.field.target).costs(other.decisions[0], stage.held)
            if own is not None and others is not None:
                difference = others - own
                gained, error = float(difference.mean()), float(difference.std() / np.sqrt(len(own)))
        return gained / error if error > 0 else 0.0

    def climb(self, stage: Stage) -> tuple[list[Trial], Trial]:
        """Trials as far as they go, and the best of them."""
        here = self._first(stage)
        for _ in range(CLIMBS):
            more = untried(self.grid, choose(here, self.grid.usual_lams), here)
            if not more:
                break
            here += evaluate(self.field, stage, more, self.number)
        return here, choose(here, self.grid.usual_lams)

    def _first(self, stage: Stage) -> list[Trial]:
        chosen, spread = self.chosen, _spread(self.field.X, stage)
        usual = self.grid.usual_lams[chosen.theta]
        settings = [replace(chosen, gamma=g * chosen.gamma, lam=chosen.lam / g) for g in (1.0, *FINER)]
        settings.append(replace(chosen, gamma=FINER[0] * chosen.gamma))
        if spread > 0:
            settings += [replace(chosen, gamma=k / spread, lam=usual) for k in SCALES]
        return evaluate(self.field, stage, dict.fromkeys(settings), self.number)


def near_samples(X: Rows, last: Stage, count: int, seed: int, n_threads: int) -> list[Stage]:
    """The rows around some that are drawn, each with some held out of its inside that the last sample has
    not been trained on."""
    rng = np.random.default_rng([seed, 1])
    n = X.shape[0]
    drawn = np.sort(rng.choice(n, count, replace=False))
    table = Cells(X[drawn].astype(np.float64)).nearest(X, n_threads)
    used = np.zeros(n, dtype=bool)
    used[last.rows] = True
    found = []
    for rows, inside in neighbourhoods(table, REGION_ROWS):
        free = inside[~used[inside]]
        size = min(len(free), len(inside) // HELD_OUT)
        if size > 0:
            held = np.sort(rng.choice(free, size, replace=False))
            found.append(hold_out(np.setdiff1d(rows, held), held, n))
    return found


def together(samples: Sequence[Stage]) -> Stage:
    """Neighbourhoods as one stage, whose rows cost what they cost among all."""
    stage = None
    for sample in reversed(samples):
        stage = replace(sample, other=stage, exponent=1.0, pooled=True)
    assert stage is not None
    return stage


def _spread(X: Rows, stage: Stage) -> float:
    """The variances of all features together, within a neighbourhood, in the mean: gamma="scale" is its
    inverse."""
    found = []
    for part in stage.parts:
        rows = X[part.rows]
        centre = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
        found.append(squares(rows).mean() - centre @ centre)
    return float(np.mean(found))
