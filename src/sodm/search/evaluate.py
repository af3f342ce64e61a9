"""Settings on the folds of a stage: one Gram matrix for each gamma serves them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import Loss
from sodm.search.path import Gram, Path, solve_paths
from sodm.search.pool import run_all
from sodm.search.settings import Setting, Trial
from sodm.search.stage import Fold, Stage
from sodm.search.task import Target, Task

KEPT_BYTES = 64 << 20  # of raw decisions on held-out rows, kept beside the scores
SHARED_BYTES = 64 << 20  # of a Gram matrix, up to which several are worked on at the same time


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

    X: Any
    kernel: Kernel
    target: Target
    loss_of: Callable[[float, float], Loss]
    seed: int
    n_threads: int
    deadline: float | None = None


def evaluate(
    field: Field, stage: Stage, settings: Iterable[Setting], exponent: float, number: int = 0
) -> list[Trial]:
    """Trials of all settings on a stage, the `number`-th. No result depends on the number of threads."""
    ordered = sorted(settings)
    by_gamma = [list(same) for _, same in groupby(ordered, key=lambda s: s.gamma)]
    held = sum(len(fold.held) for fold in stage.folds)
    keep = 4 * held * field.target.n_outputs * len(ordered) <= KEPT_BYTES
    tasks = [field.target.tasks(stage.rows, fold.train) for fold in stage.folds]
    side_by_side = 4 * len(stage.rows) ** 2 <= SHARED_BYTES and len(by_gamma) >= field.n_threads > 1

    def trials(same: list[Setting], n_threads: int, stop: Any) -> list[Trial]:
        return _of_one_gamma(field, stage, tasks, same, exponent, number, keep, n_threads, stop)

    each = 1 if side_by_side else field.n_threads
    jobs = [partial(trials, same, each) for same in by_gamma]
    found = run_all(jobs, field.n_threads // each, field.deadline)
    return [trial for same in found for trial in same]


def _of_one_gamma(
    field: Field,
    stage: Stage,
    tasks: Sequence[Sequence[Task]],
    settings: list[Setting],
    exponent: float,
    number: int,
    keep: bool,
    n_threads: int,
    stop: Any,
) -> list[Trial]:
    evaluator = KernelEvaluator(replace(field.kernel, gamma=settings[0].gamma), n_threads=n_threads)
    gram = Gram.of(evaluator, field.X, stage.rows)
    chains = [list(chain) for _, chain in groupby(settings, key=lambda s: (s.intercept, s.theta))]
    flat = [task for fold in tasks for task in fold]
    found = []
    for chain in chains:
        offset = float(chain[0].intercept)
        losses = [field.loss_of(s.theta, stage.lam_there(s.lam, exponent)) for s in chain]
        solved = iter(
            solve_paths(gram, flat, losses, offset, seed=field.seed, n_threads=n_threads, stop=stop)
        )
        outputs, seconds = [], []
        for f, fold in enumerate(stage.folds):
            own = [next(solved) for _ in tasks[f]]
            outputs.append(_decisions(gram, evaluator, field, stage, fold, tasks[f], own, offset, len(chain)))
            seconds.append(np.sum([one.seconds for one in own], axis=0))
        for k, setting in enumerate(chain):
            decisions = tuple(output[k] for output in outputs)
            scores = np.array(
                [
                    field.target.score(values, fold.held)
                    for values, fold in zip(decisions, stage.folds, strict=True)
                ]
            )
            found.append(
                Trial(
                    setting,
                    number,
                    len(stage.rows),
                    scores,
                    np.array([s[k] for s in seconds]),
                    _standard_error(scores, stage.folds),
                    decisions if keep else None,
                )
            )
    return found


def _decisions(
    gram: Gram,
    evaluator: KernelEvaluator,
    field: Field,
    stage: Stage,
    fold: Fold,
    tasks: Sequence[Task],
    paths: Sequence[Path],
    offset: float,
    n_losses: int,
) -> NDArray[np.float32]:
    """Raw outputs on rows held out, shape (n_losses, n_held, n_outputs), by one product."""
    n_outputs = field.target.n_outputs
    columns = np.zeros((len(stage.rows), n_losses, n_outputs), dtype=np.float32)
    for task, path in zip(tasks, paths, strict=True):
        for machine, output in enumerate(task.outputs):
            columns[task.rows, :, output] = path.coefficients[:, machine].T
    flat = columns.reshape(len(stage.rows), -1)
    if fold.inside is not None:
        values = gram.values[fold.inside] @ flat
    elif evaluator.precomputed:
        values = np.asarray(field.X[np.ix_(fold.held, stage.rows)], dtype=np.float32) @ flat
    else:
        weights = flat.astype(np.float64)
        values = evaluator.apply(field.X[fold.held], field.X[stage.rows], weights).astype(np.float32)
    values += np.float32(offset) * flat.sum(axis=0, dtype=np.float64).astype(np.float32)
    return np.ascontiguousarray(values.reshape(len(fold.held), n_losses, n_outputs).transpose(1, 0, 2))


def _standard_error(scores: NDArray[np.float64], folds: list[Fold]) -> float:
    """Of the mean over the folds; of a single one, that of a share of its rows."""
    if len(scores) > 1:
        return float(scores.std(ddof=1) / np.sqrt(len(scores)))
    share = float(np.clip(scores[0], 0, 1))
    return float(np.sqrt(max(share * (1 - share), 0.25 / len(folds[0].held)) / len(folds[0].held)))
