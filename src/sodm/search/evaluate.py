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
from sodm.search.ladder import Known, Ladder, Solved
from sodm.search.path import solve_paths
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
EASY = 50.0  # what a row weighs, lam / (rows (1 - theta)^2), up to which a machine may be begun


def evaluate(
    field: Field,
    stage: Stage,
    settings: Iterable[Setting],
    number: int = 0,
    whole: bool = True,
    known: Known | None = None,
) -> list[Trial]:
    """Trials of all settings on a stage, the `number`-th. No result depends on the number of threads.

    Unless `whole`, larger lams of a gamma are left out once it is clear that they are not wanted. `known` has
    what was solved on this stage before, is started from where that helps, and is brought up to date.
    """
    known = {} if known is None else known
    ordered = sorted(settings)
    ladders = [
        Ladder(list(same)) for _, same in groupby(ordered, key=lambda s: (s.gamma, s.intercept, s.theta))
    ]
    for ladder in ladders:
        ladder.begin(known)
    samples = [Sample.of(field, part) for part in stage.parts]
    keep = 4 * len(stage.held) * field.target.n_outputs * len(ordered) <= KEPT_BYTES
    easy = EASY * len(stage.rows) / stage.lam_there(1.0)
    waves = _Waves(field, samples, easy, partial(scored, field.target, stage, number))
    best: Trial | None = None
    count = max(len(ladder.settings) for ladder in ladders) if whole else AT_ONCE
    while going := [ladder for ladder in ladders if ladder.goes_on(best, field.target.behind)]:
        waves.run(going, count)
        if not keep:
            for ladder in going:
                ladder.found = [replace(trial, decisions=None) for trial in ladder.found]
        best = _best([trial for ladder in ladders for trial in ladder.found])
        count = 1
    for ladder in ladders:
        ladder.leave(known)
    return [trial for ladder in ladders for trial in ladder.found]


@dataclass
class _Waves:
    """Ladders, some rungs at a time, on all samples of a stage."""

    field: Field
    samples: Sequence[Sample]
    easy: float  # weight of the loss at which machines may be begun
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
        rungs = [ladder.rungs(self.easy / self._weight_of(ladder)) for ladder, _ in work]
        pieces = [ladder.next(count) for ladder, _ in work]
        shared = [self.kept[ladder.gamma, k] for ladder, k in work]
        tasks = [
            own.chain(way + piece, None if ladder.last is None else ladder.last.paths[k])
            for own, way, piece, (ladder, k) in zip(shared, rungs, pieces, work, strict=True)
        ]
        field = self.field
        solve = partial(solve_paths, tasks, tol=field.tol, seed=field.seed, n_threads=field.n_threads)
        (solved,) = run_all([lambda stop: solve(stop=stop)], 1, field.deadline)
        paths = [[path.after(len(way)) for path in own] for own, way in zip(solved, rungs, strict=True)]
        found = iter(zip(paths, map(Shared.decided, shared, pieces, paths), strict=True))
        for ladder in ladders:
            of_samples = [next(found) for _ in samples]
            ladder.last = Solved.last_of(ladder.next(count), [own for own, _ in of_samples])
            ladder.found += [self.trial(parts) for parts in zip(*(own for _, own in of_samples), strict=True)]

    def _weight_of(self, ladder: Ladder) -> float:
        """Of the loss, for each unit of lam."""
        return self.field.loss_of(ladder.theta, 1.0).scale(1.0)


def _best(trials: Sequence[Trial]) -> Trial | None:
    """The one with the highest score, of those whose score is a number."""
    return max((t for t in trials if np.isfinite(t.score)), key=lambda t: t.score, default=None)
