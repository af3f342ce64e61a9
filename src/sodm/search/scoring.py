"""Any scorer of scikit-learn's, on decisions that have been made already."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from sodm.search.calibrate import fit_calibrator
from sodm.search.classes import ClassTarget, Scorer
from sodm.search.task import Index


class Decided(ClassifierMixin, BaseEstimator):
    """A classifier that knows what to say of some rows, and is asked about these alone."""

    def __init__(self, target: ClassTarget, classes: NDArray[Any], decisions: Any, rows: Index) -> None:
        self.target, self.classes_, self.decisions, self.rows = target, classes, decisions, rows

    def fit(self, X: Any, y: Any) -> Decided:
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        return self.target.values(np.asarray(self.decisions, dtype=np.float64))

    def predict(self, X: Any) -> NDArray[Any]:
        return self.classes_[self.target.predicted(self.decisions)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Each half of the rows calibrated on the other: on its own, a machine that errs nowhere is sure."""
        target, decisions = self.target, np.asarray(self.decisions, dtype=np.float64)
        codes, weights = target.codes[self.rows], target.weights[self.rows]
        order = np.argsort(codes, kind="stable")  # every second: both halves have all classes
        found = np.empty((len(codes), target.n_classes))
        for own, other in ((order[::2], order[1::2]), (order[1::2], order[::2])):
            fitted = fit_calibrator(
                decisions[other], codes[other], weights[other], target.n_classes, target.pairs
            )
            found[own] = fitted(decisions[own])
        return found


def score_of(scorer: Any, X: Any, y: NDArray[Any], classes: NDArray[Any], params: dict[str, Any]) -> Scorer:
    """The score of raw decisions on the rows of these numbers, by a scorer (estimator, X, y) -> float."""

    def score(target: ClassTarget, decisions: NDArray[Any], rows: Index) -> float:
        own = {name: np.asarray(value)[rows] for name, value in params.items()}
        try:
            return one_number(scorer(Decided(target, classes, decisions, rows), X[rows], y[rows], **own))
        except ValueError as error:
            absent = np.flatnonzero(np.bincount(target.codes[rows], minlength=target.n_classes) == 0)
            if not len(absent):
                raise
            raise ValueError(
                f"scoring fails on rows held out that have none of class {classes[absent[0]]!r}, which has "
                f"{np.sum(target.codes == absent[0])}: fewer folds (cv), or leave the class out. ({error})"
            ) from error

    return score


def one_number(value: Any) -> float:
    """A score, if it is one."""
    if np.ndim(value) or not isinstance(value, numbers.Real | np.ndarray):
        raise TypeError(f"scoring must give one number, not {type(value).__name__}.")
    return float(value)
