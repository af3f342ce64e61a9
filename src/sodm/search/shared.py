"""Settings of one gamma on the folds of a sample: one Gram matrix serves them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.evaluator import KernelEvaluator
from sodm.search.field import Field
from sodm.search.path import Chain, Gram, Path
from sodm.search.settings import Setting
from sodm.search.stage import Fold, Stage
from sodm.search.task import Array, Index, Task

APART = 100  # pairs of classes: so many share so few rows that each has its own kernel values


@dataclass(frozen=True)
class Sample:
    """A sample that trials are made on, without another half, and the machines of each of its folds."""

    stage: Stage
    tasks: Sequence[Sequence[Task]]

    @classmethod
    def of(cls, field: Field, stage: Stage) -> Sample:
        return cls(stage, [field.target.tasks(stage.rows, fold.train) for fold in stage.folds])


@dataclass(frozen=True)
class Decided:
    """What a setting decides on the rows held out of a sample.

    Attributes
    ----------
    setting : Setting
    decisions : tuple of ndarrays
        Raw outputs, fold by fold, shape (n_held, n_outputs).
    fit_seconds : ndarray, shape (n_folds,)
        Time of the solver.
    """

    setting: Setting
    decisions: tuple[NDArray[np.float32], ...]
    fit_seconds: NDArray[np.float64]


@dataclass(frozen=True)
class Shared:
    """What all settings of a gamma have in common on a sample."""

    field: Field
    sample: Sample
    evaluator: KernelEvaluator
    gram: Gram

    @classmethod
    def of(cls, field: Field, sample: Sample, gamma: float) -> Shared:
        evaluator = KernelEvaluator(replace(field.kernel, gamma=gamma), n_threads=field.n_threads)
        return cls(field, sample, evaluator, Gram.of(evaluator, field.X, sample.stage.rows))

    def chain(self, piece: Sequence[Setting], start: Sequence[Path] | None) -> Chain:
        """Settings that differ in lam alone, which ascends, for the solver."""
        stage, tasks = self.sample.stage, self.sample.tasks
        return Chain(
            self.gram,
            [task for own in tasks for task in own],
            [fold.inside for fold, own in zip(stage.folds, tasks, strict=True) for _ in own],
            [self.field.loss_of(s.theta, stage.lam_there(s.lam)) for s in piece],
            float(piece[0].intercept),
            start,
        )

    def decided(self, piece: Sequence[Setting], paths: Sequence[Path]) -> list[Decided]:
        """The same settings, solved, on the rows held out."""
        folds, solved = self.sample.stage.folds, iter(paths)
        offset = float(piece[0].intercept)
        by_fold = [[next(solved) for _ in tasks] for tasks in self.sample.tasks]
        outputs = [
            self._decisions(fold, tasks, own, offset, len(piece))
            for fold, tasks, own in zip(folds, self.sample.tasks, by_fold, strict=True)
        ]
        seconds = [np.sum([one.seconds for one in own], axis=0) for own in by_fold]
        return [
            Decided(setting, tuple(output[k] for output in outputs), np.array([own[k] for own in seconds]))
            for k, setting in enumerate(piece)
        ]

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
            columns = np.zeros((len(self.sample.stage.rows), n_losses, shape[2]))
            for task, path in zip(tasks, paths, strict=True):
                columns[np.ix_(task.rows, np.arange(n_losses), task.outputs)] = path.coefficients.transpose(
                    2, 0, 1
                )
            flat = columns.reshape(len(columns), -1)
            values = self._values(fold, self.sample.stage.rows, flat) + offset * flat.sum(axis=0)
            return np.ascontiguousarray(values.reshape(shape[1], n_losses, -1).transpose(1, 0, 2), np.float32)
        for task, path in zip(tasks, paths, strict=True):
            flat = path.coefficients.reshape(-1, len(task.rows)).T
            values = self._values(fold, self.sample.stage.rows[task.rows], flat) + offset * flat.sum(axis=0)
            found[:, :, task.outputs] = values.reshape(shape[1], n_losses, -1).transpose(1, 0, 2)
        return found

    def _values(self, fold: Fold, rows: Index, coefficients: Array) -> NDArray[Any]:
        """K coefficients, shape (n_held, n_machines), between rows held out and these of X."""
        X = self.field.X
        if self.evaluator.precomputed:
            return np.asarray(X[np.ix_(fold.held, rows)], np.float32) @ coefficients.astype(np.float32)
        return self.evaluator.apply(X[fold.held], X[rows], np.ascontiguousarray(coefficients))
