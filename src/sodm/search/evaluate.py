"""Settings on the folds of a stage: one Gram matrix for each gamma serves them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import Loss
from sodm.problem.row_types import Rows
from sodm.search.path import Gram, Path, solve_paths
from sodm.search.pool import run_all
from sodm.search.settings import Setting, Trial
from sodm.search.stage import Fold, Stage
from sodm.search.task import Array, Index, Target, Task

KEPT_BYTES = 64 << 20  # of raw decisions on held-out rows, kept beside the scores
SHARED_BYTES = 64 << 20  # of a Gram matrix, up to which several are worked on at the same time

AT_ONCE = 4  # lams of the coarse grid before the first look whether scores have turned
APART = 100  # pairs of classes: so many share so few rows that each has its own kernel values
TURNED = 0.5  # of a standard error


@dataclass(frozen=True)
class Field:
    """All that trials need and that no setting changes.

    Attributes
    ----------
    X : ndarray or CSR matrix
    kernel : Kernel
        Its gamma is the setting's.
    target : Target
    loss_of : callable
        (theta, lam) -> Loss
    seed, n_threads : int
    deadline : float or None
        By `time.monotonic()`.
    """

    X: Rows
    kernel: Kernel
    target: Target
    loss_of: Callable[[float, float], Loss]
    seed: int
    n_threads: int
    deadline: float | None = None


def evaluate(
    field: Field,
    stage: Stage,
    settings: Iterable[Setting],
    exponent: float,
    number: int = 0,
    whole: bool = True,
) -> list[Trial]:
    """Trials of all settings on a stage, the `number`-th. No result depends on the number of threads.

    Unless `whole`, a gamma's larger lams are left out once scores have clearly turned down along lam: they
    are the ones that take long, and hardly ever better again.
    """
    ordered = sorted(settings)
    if stage.other is not None:
        parts = [replace(stage, other=None), stage.other]
        return [
            _joined(*t)
            for t in zip(*(evaluate(field, p, ordered, exponent, number) for p in parts), strict=True)
        ]
    by_gamma = [list(same) for _, same in groupby(ordered, key=lambda s: s.gamma)]
    held = sum(len(fold.held) for fold in stage.folds)
    keep = 4 * held * field.target.n_outputs * len(ordered) <= KEPT_BYTES
    tasks = [field.target.tasks(stage.rows, fold.train) for fold in stage.folds]
    side_by_side = 4 * len(stage.rows) ** 2 <= SHARED_BYTES and len(by_gamma) >= field.n_threads > 1
    n_threads = 1 if side_by_side else field.n_threads

    def trials(same: list[Setting], stop: _core.StopToken) -> list[Trial]:
        kernel = replace(field.kernel, gamma=same[0].gamma)
        evaluator = KernelEvaluator(kernel, n_threads=n_threads)
        shared = _Shared.of(evaluator, field, stage, tasks, n_threads, stop)
        chains = [list(chain) for _, chain in groupby(same, key=lambda s: (s.intercept, s.theta))]
        found = [trial for chain in chains for trial in shared.along(chain, exponent, number, whole)]
        return found if keep else [replace(trial, decisions=None) for trial in found]

    jobs = [partial(trials, same) for same in by_gamma]
    found = run_all(jobs, field.n_threads // n_threads, field.deadline)
    return [trial for same in found for trial in same]


@dataclass(frozen=True)
class _Shared:
    """What all settings of a gamma have in common on a stage."""

    field: Field
    stage: Stage
    tasks: Sequence[Sequence[Task]]  # of each fold
    evaluator: KernelEvaluator
    gram: Gram
    n_threads: int
    stop: _core.StopToken

    @classmethod
    def of(
        cls,
        evaluator: KernelEvaluator,
        field: Field,
        stage: Stage,
        tasks: Sequence[Sequence[Task]],
        n_threads: int,
        stop: _core.StopToken,
    ) -> _Shared:
        gram = Gram.of(evaluator, field.X, stage.rows)
        return cls(field, stage, tasks, evaluator, gram, n_threads, stop)

    def along(self, chain: Sequence[Setting], exponent: float, number: int, whole: bool) -> list[Trial]:
        """Trials of settings that differ in lam alone, which ascends."""
        pieces = [chain] if whole else [chain[:AT_ONCE], *([setting] for setting in chain[AT_ONCE:])]
        offset = float(chain[0].intercept)
        flat = [task for tasks in self.tasks for task in tasks]
        held = [fold.inside for fold, tasks in zip(self.stage.folds, self.tasks, strict=True) for _ in tasks]
        found: list[Trial] = []
        start: list[Path] | None = None
        for piece in pieces:
            if found and found[-1].score < max(t.score for t in found) - TURNED * found[-1].error:
                break
            lams = [self.stage.lam_there(s.lam, exponent) for s in piece]
            losses = [self.field.loss_of(piece[0].theta, lam) for lam in lams]
            start = solve_paths(
                self.gram,
                flat,
                held,
                losses,
                offset,
                start=start,
                seed=self.field.seed,
                n_threads=self.n_threads,
                stop=self.stop,
            )
            found += self._trials(piece, start, offset, number)
        return found

    def _trials(
        self, piece: Sequence[Setting], paths: Sequence[Path], offset: float, number: int
    ) -> Iterator[Trial]:
        folds, solved = self.stage.folds, iter(paths)
        by_fold = [[next(solved) for _ in tasks] for tasks in self.tasks]
        outputs = [
            self._decisions(fold, tasks, own, offset, len(piece))
            for fold, tasks, own in zip(folds, self.tasks, by_fold, strict=True)
        ]
        seconds = [np.sum([one.seconds for one in own], axis=0) for own in by_fold]
        score = self.field.target.score
        for k, setting in enumerate(piece):
            decisions = tuple(output[k] for output in outputs)
            scores = np.array([score(d, fold.held) for d, fold in zip(decisions, folds, strict=True)])
            fit_seconds = np.array([own[k] for own in seconds])
            error = _standard_error(scores, folds)
            yield Trial(setting, number, len(self.stage.rows), scores, fit_seconds, error, decisions)

    def _decisions(
        self, fold: Fold, tasks: Sequence[Task], paths: Sequence[Path], offset: float, n_losses: int
    ) -> NDArray[np.float32]:
        """Raw outputs on rows held out, shape (n_losses, n_held, n_outputs)."""
        shape = n_losses, len(fold.held), self.field.target.n_outputs
        found = np.zeros(shape, dtype=np.float32)
        if fold.inside is not None:
            for task, path in zip(tasks, paths, strict=True):
                found[:, :, task.outputs] = path.held.transpose(0, 2, 1)
            return found
        if len(tasks) < APART:  # one product with the columns of all
            columns = np.zeros((len(self.stage.rows), n_losses, shape[2]))
            for task, path in zip(tasks, paths, strict=True):
                columns[np.ix_(task.rows, np.arange(n_losses), task.outputs)] = path.coefficients.transpose(
                    2, 0, 1
                )
            flat = columns.reshape(len(columns), -1)
            values = self._values(fold, self.stage.rows, flat) + offset * flat.sum(axis=0)
            return np.ascontiguousarray(values.reshape(shape[1], n_losses, -1).transpose(1, 0, 2), np.float32)
        for task, path in zip(tasks, paths, strict=True):
            flat = path.coefficients.reshape(-1, len(task.rows)).T
            values = self._values(fold, self.stage.rows[task.rows], flat) + offset * flat.sum(axis=0)
            found[:, :, task.outputs] = values.reshape(shape[1], n_losses, -1).transpose(1, 0, 2)
        return found

    def _values(self, fold: Fold, rows: Index, coefficients: Array) -> NDArray[Any]:
        """K coefficients, shape (n_held, n_machines), between rows held out and these of X."""
        X = self.field.X
        if self.evaluator.precomputed:
            return np.asarray(X[np.ix_(fold.held, rows)], np.float32) @ coefficients.astype(np.float32)
        return self.evaluator.apply(X[fold.held], X[rows], np.ascontiguousarray(coefficients))


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


def _standard_error(scores: NDArray[np.float64], folds: list[Fold]) -> float:
    """Of the mean over the folds; of a single one, that of a share of its rows."""
    if len(scores) > 1:
        return float(scores.std(ddof=1) / np.sqrt(len(scores)))
    share = float(np.clip(scores[0], 0, 1))
    return float(np.sqrt(max(share * (1 - share), 0.25 / len(folds[0].held)) / len(folds[0].held)))
