"""What is tried, and how it did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, order=True)
class Setting:
    """Parameters to try. `lam` is meant for all rows: a trial on fewer takes `Stage.lam_there` of it."""

    gamma: float
    intercept: bool
    theta: float
    lam: float

    def with_lam(self, lam: float) -> Setting:
        return replace(self, lam=lam)

    @property
    def kind(self) -> tuple[float, bool]:
        """All but gamma and lam: settings of different kinds are no neighbours."""
        return self.theta, self.intercept


@dataclass(frozen=True)
class Trial:
    """A setting on the folds of one stage.

    Attributes
    ----------
    setting : Setting
    stage : int
        Number of the stage, from 0.
    rows : int
        How many rows were trained on, folds and all.
    scores : ndarray, shape (n_folds,)
        On the rows held out.
    fit_seconds : ndarray, shape (n_folds,)
        Time of the solver. The kernel matrix, which all settings of a gamma share, is not in it.
    error : float
        Standard error of the mean score.
    decisions : tuple of ndarrays or None
        Raw outputs on the rows held out, fold by fold, shape (n_held, n_outputs); None where not kept.
    """

    setting: Setting
    stage: int
    rows: int
    scores: NDArray[np.float64]
    fit_seconds: NDArray[np.float64]
    error: float
    decisions: tuple[NDArray[np.float32], ...] | None = None

    @cached_property
    def score(self) -> float:
        return float(self.scores.mean())
