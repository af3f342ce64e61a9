"""Numbers as a target of the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score

from sodm.search.scoring import one_number
from sodm.search.task import Array, Index, Task

Scorer = Callable[[NDArray[Any], Index], float]


class NumberTarget:
    """Targets to be learnt.

    Parameters
    ----------
    values : ndarray, shape (n_targets, n)
        Centred, and in a unit of about their size (`sodm.problem.targets`).
    weights : ndarray, shape (n,)
    score : callable or None
        Of values and the row numbers they are of; None is R^2, rows counted by weight; of several targets
        their mean.
    """

    behind = np.inf  # a smooth function wants a small gamma, which is last until lam is large

    def __init__(self, values: Array, weights: Array, score: Scorer | None = None) -> None:
        self.values, self.weights, self.n_outputs = values, weights, len(values)
        self._score = score

    def tasks(self, rows: Index, train: Index) -> list[Task]:
        """One for all targets."""
        own = self.values[:, rows[train]]
        weights = self.weights[rows[train]]
        return [Task(train, np.ones_like(own), weights, np.arange(self.n_outputs), 1 - own)]

    def score(self, decisions: NDArray[Any], rows: Index) -> float:
        if self._score is not None:
            return self._score(decisions, rows)
        return float(r2_score(self.values[:, rows].T, decisions, sample_weight=self.weights[rows]))

    def costs(self, decisions: NDArray[Any], rows: Index) -> Array | None:
        """Squared distances by weight, those of a target over its variance, as R^2 has them."""
        if self._score is not None:
            return None
        values, weights = self.values[:, rows].T, self.weights[rows]
        centre = np.average(values, axis=0, weights=weights)
        variance = np.average((values - centre) ** 2, axis=0, weights=weights)
        return weights * np.mean((decisions - values) ** 2 / np.where(variance > 0, variance, 1), axis=1)


class Predicted(RegressorMixin, BaseEstimator):
    """A regressor that knows what to say of some rows, and is asked about these alone."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def fit(self, X: Any, y: Any) -> Predicted:
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        return self.values


def score_of(
    scorer: Any, X: Any, y: NDArray[Any], centre: Array, unit: Array, params: dict[str, Any]
) -> Scorer:
    """The score of values in the search's unit, by a scorer (estimator, X, y) -> float."""

    def score(decisions: NDArray[Any], rows: Index) -> float:
        values = np.asarray(decisions, dtype=np.float64) * unit + centre
        own = {name: np.asarray(value)[rows] for name, value in params.items()}
        return one_number(scorer(Predicted(values.reshape(y[rows].shape)), X[rows], y[rows], **own))

    return score
