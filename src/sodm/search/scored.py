"""Decisions on rows held out, as a trial: with a score, and how far it may be off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sodm.search.settings import Trial
from sodm.search.shared import Decided
from sodm.search.stage import Stage
from sodm.search.task import Target

Array = NDArray[np.float64]


def scored(target: Target, stage: Stage, number: int, parts: Sequence[Decided]) -> Trial:
    """What one setting decides on each sample of a stage, the `number`-th, as a trial."""
    decisions = tuple(values for part in parts for values in part.decisions)
    seconds = np.concatenate([part.fit_seconds for part in parts])
    if stage.pooled:
        decisions = (np.concatenate(decisions),)
        scores = np.array([target.score(decisions[0], stage.held)])
        error = _error_of_share(scores[0], len(stage.held))
        rows = sum(len(sample.rows) for sample in stage.parts)
        return Trial(parts[0].setting, number, rows, scores, seconds, error, decisions)
    held = [fold.held for fold in stage.all_folds]
    scores = np.array([target.score(*pair) for pair in zip(decisions, held, strict=True)])
    samples = np.split(scores, np.cumsum([len(sample.folds) for sample in stage.parts])[:-1])
    errors = [_standard_error(own, sample) for own, sample in zip(samples, stage.parts, strict=True)]
    error = float(reduce(np.hypot, errors) / len(errors))
    return Trial(parts[0].setting, number, len(stage.rows), scores, seconds, error, decisions)


def _standard_error(scores: Array, sample: Stage) -> float:
    """Of the mean over the folds of a sample; of a single one, that of a share of its rows."""
    if len(scores) > 1:
        return float(scores.std(ddof=1) / np.sqrt(len(scores)))
    return _error_of_share(scores[0], len(sample.folds[0].held))


def _error_of_share(score: float, n: int) -> float:
    share = float(np.clip(score, 0, 1))
    return float(np.sqrt(max(share * (1 - share), 0.25 / n) / n))
