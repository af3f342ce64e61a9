"""Settings on the folds of a stage, wave by wave: the smaller lams of every gamma first.

The largest lams take most of the time, and few gammas want them. So a gamma goes on to the next lam only if
its scores have not turned down along lam, and if it is not too far behind another gamma.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import numpy as np

from sodm.search.field import Field
from sodm.search.path import Path, solve_paths
from sodm.search.pool import run_all
from sodm.search.scored import scored
from sodm.search.settings import Setting, Trial
from sodm.search.shared import Decided, Sample, Shared
from sodm.search.stage import Stage

KEPT_BYTES = 64 << 20  # of raw decisions on held-out rows, kept beside the scores
# Of Gram matrices, up to which several are worked on, and kept for the next wave: enough for five gammas
# where rows are below 2,000 and all are tried on. Fresh memory costs time too.
MATRIX_BYTES = 96 << 20

AT_ONCE = 4  # lams of the coarse grid before the first look whether scores have turned
TURNED = 0.5  # of a standard error, below the best of the same gamma


@dataclass
class Ladder:
    """Settings that differ in lam alone, which ascends, and how far they have come."""

    settings: list[Setting]
    found: list[Trial] = dataclasses.field(default_factory=list)
    paths: list[list[Path]] | None = None  # of each sample: the next wave goes on from them

    @property
    def gamma(self) -> float:
        return self.settings[0].gamma

    def goes_on(self, best: Trial | None, behind: float) -> bool:
        """Whether the next lam is worth its time; `behind` as of a `Target`."""
        if len(self.found) == len(self.settings):
            return False
        if best is None or not self.found:
            return True
        last, own = self.found[-1], max(self.found, key=lambda trial: trial.score)
        if np.isinf(behind):
            return not last.score < own.score - TURNED * last.error  # nan is not
        turned = last.score < own.score - TURNED * _error_between(own, last)
        return not (turned or last.score < best.score - behind * _error_between(best, last))

    def next(self, count: int) -> list[Setting]:
        return self.settings[len(self.found) : len(self.found) + count]


def evaluate(
    field: Field,
    stage: Stage,
    settings: Iterable[Setting],
    number: int = 0,
    whole: bool = True,
) -> list[Trial]:
    """Trials of all settings on a stage, the `number`-th. No result depends on the number of threads.

    Unless `whole`, larger lams of a gamma are left out once it is clear that they are not wanted.
    """
    ordered = sorted(settings)
    ladders = [
        Ladder(list(same)) for _, same in groupby(ordered, key=lambda s: (s.gamma, s.intercept, s.theta))
    ]
    samples = [Sample.of(field, part) for part in stage.parts]
    keep = 4 * len(stage.held) * field.target.n_outputs * len(ordered) <= KEPT_BYTES
    waves = _Waves(field, samples, partial(scored, field.target, stage, number))
    best: Trial | None = None
    count = max(len(ladder.settings) for ladder in ladders) if whole else AT_ONCE
    while going := [ladder for ladder in ladders if ladder.goes_on(best, field.target.behind)]:
        waves.run(going, count)
        if not keep:
            for ladder in going:
                ladder.found = [replace(trial, decisions=None) for trial in ladder.found]
        best = _best([trial for ladder in ladders for trial in ladder.found])
        count = 1
    return [trial for ladder in ladders for trial in ladder.found]


@dataclass
class _Waves:
    """Ladders, some rungs at a time, on all samples of a stage."""

    field: Field
    samples: Sequence[Sample]
    trial: Callable[[Sequence[Decided]], Trial]
    kept: dict[tuple[float, int], Shared] = dataclasses.field(default_factory=dict)

    def run(self, ladders: Sequence[Ladder], count: int) -> None:
        """Solve the next `count` settings of each, of as many gammas at a time as there is memory for."""
        gammas = sorted({ladder.gamma for ladder in ladders})
        at_once = max(1, MATRIX_BYTES // (4 * sum(len(sample.stage.rows) ** 2 for sample in self.samples)))
        for first in range(0, len(gammas), at_once):
            own = gammas[first : first + at_once]
            if len({gamma for gamma, _ in self.kept} | set(own)) > at_once:
                self.kept.clear()
            self._step([ladder for ladder in ladders if ladder.gamma in own], count)

    def _step(self, ladders: Sequence[Ladder], count: int) -> None:
        samples = range(len(self.samples))
        for key in dict.fromkeys((ladder.gamma, k) for ladder in ladders for k in samples):
            if key not in self.kept:
                self.kept[key] = Shared.of(self.field, self.samples[key[1]], key[0])
        work = [(ladder, k) for ladder in ladders for k in samples]
        pieces = [ladder.next(count) for ladder, _ in work]
        shared = [self.kept[ladder.gamma, k] for ladder, k in work]
        tasks = [
            own.chain(piece, None if ladder.paths is None else ladder.paths[k])
            for own, piece, (ladder, k) in zip(shared, pieces, work, strict=True)
        ]
        field = self.field
        solve = partial(solve_paths, tasks, tol=field.tol, seed=field.seed, n_threads=field.n_threads)
        (paths,) = run_all([lambda stop: solve(stop=stop)], 1, field.deadline)
        found = iter(zip(paths, map(Shared.decided, shared, pieces, paths), strict=True))
        for ladder in ladders:
            of_samples = [next(found) for _ in samples]
            ladder.paths = [own for own, _ in of_samples]
            ladder.found += [self.trial(parts) for parts in zip(*(own for _, own in of_samples), strict=True)]


def _error_between(best: Trial, other: Trial) -> float:
    """Standard error of a difference, as far as few folds can tell: on a fold that is hard both are bad."""
    if len(best.scores) < 3:
        return best.error
    paired = float((best.scores - other.scores).std(ddof=1) / np.sqrt(len(best.scores)))
    return min(max(paired, best.error / 2), best.error)


def _best(trials: Sequence[Trial]) -> Trial | None:
    """The one with the highest score, of those whose score is a number."""
    return max((t for t in trials if np.isfinite(t.score)), key=lambda t: t.score, default=None)
