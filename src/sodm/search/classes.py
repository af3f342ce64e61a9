"""Classes as a target of the search: two are one machine, more one for each pair or one against the rest."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.pairs import decided, votes
from sodm.search.task import Array, Index, Task

Scorer = Callable[["ClassTarget", NDArray[Any], Index], float]


class ClassTarget:
    """Labels to be learnt.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Numbers of the classes, 0 to n_classes - 1.
    n_classes : int
    weights : ndarray, shape (n,)
        Of the rows, those of their classes included.
    pairs : bool
        Whether more than two classes are one machine for each pair, rather than one for each class.
    score : callable or None
        Of the target itself, raw decisions and the row numbers they are of; None is the share of right ones.
    """

    behind = 1.0  # accuracy is the same as if all went on

    def __init__(
        self, codes: Index, n_classes: int, weights: Array, pairs: bool, score: Scorer | None = None
    ) -> None:
        self.codes, self.n_classes, self.weights = codes, n_classes, weights
        self.pairs = list(combinations(range(n_classes), 2)) if pairs and n_classes > 2 else []
        self.n_outputs = 1 if n_classes == 2 else len(self.pairs) or n_classes
        self._score = score

    def against_the_rest(self) -> ClassTarget:
        """The same classes, a machine for each."""
        return ClassTarget(self.codes, self.n_classes, self.weights, pairs=False, score=self._score)

    def tasks(self, rows: Index, train: Index) -> list[Task]:
        """One for each pair, else one for all."""
        codes, weights = self.codes[rows[train]], self.weights[rows[train]]
        if not self.pairs:
            positive = np.arange(self.n_classes) if self.n_classes > 2 else np.array([1])
            signs = np.where(codes == positive[:, None], 1.0, -1.0)
            return [Task(train, signs, weights, np.arange(len(signs)))]
        found = []
        for output, (a, b) in enumerate(self.pairs):
            own = np.flatnonzero((codes == a) | (codes == b))
            if len(own):
                signs = np.where(codes[own] == a, 1.0, -1.0)[None]
                share = float(weights[own].sum() / weights.sum())
                found.append(Task(train[own], signs, weights[own], np.array([output]), share=share))
        return found

    def values(self, decisions: NDArray[Any]) -> NDArray[Any]:
        """What the machine's `decision_function` gives: shape (n,), or (n, n_classes)."""
        if self.n_outputs == 1:
            return decisions[:, 0]
        return votes(decisions, self.n_classes) if self.pairs else decisions

    def predicted(self, decisions: NDArray[Any]) -> Index:
        """The numbers of the classes that are decided for."""
        if self.pairs:
            return decided(decisions, self.n_classes)
        values = self.values(decisions)
        return (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)

    def score(self, decisions: NDArray[Any], rows: Index) -> float:
        if self._score is not None:
            return self._score(self, decisions, rows)
        return float(np.mean(self.predicted(decisions) == self.codes[rows]))

    def costs(self, decisions: NDArray[Any], rows: Index) -> Array | None:
        """Whether they are decided wrongly."""
        if self._score is not None:
            return None
        return (self.predicted(decisions) != self.codes[rows]).astype(np.float64)
