"""Settings on the folds of a stage, wave by wave: the smaller lams of every gamma first.

The largest lams take most of the time, and few gammas want them. So a gamma goes on to the next lam only if
its scores have not turned down along lam, and if it is not too far behind another gamma.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby

import numpy as np

from sodm import _core
from sodm.search.field import Field
from sodm.search.path import Path
from sodm.search.pool import run_all
from sodm.search.settings import Setting, Trial
from sodm.search.shared import Sample, Shared
from sodm.search.stage import Stage

KEPT_BYTES = 64 << 20  # of raw decisions on held-out rows, kept beside the scores
SHARED_BYTES = 64 << 20  # of a Gram matrix, up to which several are worked on at the same time
MATRIX_BYTES = 256 << 20  # of all Gram matrices of a stage, up to which they are kept from wave to wave

AT_ONCE = 4  # lams of the coarse grid before the first look whether scores have turned
TURNED = 0.5  # of a standard error, below the best of the same gamma


@dataclass
class Chain:
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
        last = self.found[-1]
        own = max(trial.score for trial in self.found)
        turned = last.score < own - TURNED * last.error
        return not (turned or last.score < best.score - behind * best.error)  # nan is neither

    def next(self, count: int) -> list[Setting]:
        return self.settings[len(self.found) : len(self.found) + count]


def evaluate(
    field: Field,
    stage: Stage,
    settings: Iterable[Setting],
    exponent: float,
    number: int = 0,
    whole: bool = True,
) -> list[Trial]:
    """Trials of all settings on a stage, the `number`-th. No result depends on the number of threads.

    Unless `whole`, larger lams of a gamma are left out once it is clear that they are not wanted.
    """
    ordered = sorted(settings)
    chains = [
        Chain(list(same)) for _, same in groupby(ordered, key=lambda s: (s.gamma, s.intercept, s.theta))
    ]
    samples = [Sample.of(field, part) for part in stage.parts]
    held = sum(len(fold.held) for fold in stage.all_folds)
    keep = 4 * held * field.target.n_outputs * len(ordered) <= KEPT_BYTES
    waves = _Waves(field, samples, exponent, number)
    best: Trial | None = None
    count = max(len(chain.settings) for chain in chains) if whole else AT_ONCE
    while going := [chain for chain in chains if chain.goes_on(best, field.target.behind)]:
        waves.run(going, count)
        if not keep:
            for chain in going:
                chain.found = [replace(trial, decisions=None) for trial in chain.found]
        best = _best([trial for chain in chains for trial in chain.found])
        count = 1
    return [trial for chain in chains for trial in chain.found]


@dataclass
class _Waves:
    """Chains, one step after the other, on all samples of a stage."""

    field: Field
    samples: Sequence[Sample]
    exponent: float
    number: int
    kept: dict[tuple[int, float], Shared] = dataclasses.field(default_factory=dict)

    def run(self, chains: Sequence[Chain], count: int) -> None:
        """Solve the next `count` settings of each chain."""
        by_gamma = [list(same) for _, same in groupby(chains, key=lambda chain: chain.gamma)]
        work = [(same, k) for same in by_gamma for k in range(len(self.samples))]
        rows, n_threads = len(self.samples[0].stage.rows), self.field.n_threads
        side_by_side = 4 * rows**2 <= SHARED_BYTES and len(work) >= n_threads > 1
        jobs = [partial(self._step, *one, count, 1 if side_by_side else n_threads) for one in work]
        found = iter(run_all(jobs, n_threads if side_by_side else 1, self.field.deadline))
        for same in by_gamma:
            of_samples = [next(found) for _ in self.samples]
            for c, chain in enumerate(same):
                chain.paths = [own[c][0] for own in of_samples]
                trials = zip(*(own[c][1] for own in of_samples), strict=True)
                chain.found += [reduce(_joined, parts) for parts in trials]
        if 4 * rows**2 * len(self.kept) > MATRIX_BYTES:
            self.kept.clear()

    def _step(
        self, same: Sequence[Chain], k: int, count: int, n_threads: int, stop: _core.StopToken
    ) -> list[tuple[list[Path], list[Trial]]]:
        """The next settings of the chains of a gamma on the k-th sample."""
        gamma = same[0].gamma
        shared = self.kept.get((k, gamma))
        if shared is None:
            shared = self.kept[k, gamma] = Shared.of(self.field, self.samples[k], gamma, n_threads)
        return [
            shared.along(
                chain.next(count),
                self.exponent,
                self.number,
                None if chain.paths is None else chain.paths[k],
                n_threads,
                stop,
            )
            for chain in same
        ]


def _best(trials: Sequence[Trial]) -> Trial | None:
    """The one with the highest score, of those whose score is a number."""
    return max((t for t in trials if np.isfinite(t.score)), key=lambda t: t.score, default=None)


def _joined(first: Trial, second: Trial) -> Trial:
    """The trials of a setting on two halves as one."""
    both = None
    if first.decisions is not None and second.decisions is not None:
        both = first.decisions + second.decisions
    return replace(
        first,
        scores=np.concatenate([first.scores, second.scores]),
        fit_seconds=np.concatenate([first.fit_seconds, second.fit_seconds]),
        error=float(np.hypot(first.error, second.error) / 2),
        decisions=both,
    )
