"""Rows like SUSY's, as many as wanted, each of them new, so that there is always something left to learn.

Rows of susy-subset that are drawn again and shaken a little (tree_figures.py) keep their labels: all copies
of a row share its noise, which none of the test rows do. Here a row is
shaken likewise, but its label is drawn anew, with the probability that a teacher gives it, and rows to train
on and to test on come the same way. The teacher is gradient boosting on all of susy-subset: no kernel
machine, so that none has an advantage. Accuracy is what is to be expected of decisions by the teacher's
probabilities, which labels that are drawn would only blur, and the best that can be reached is known.
"""

from __future__ import annotations

import time
from typing import Any

import data
import numpy as np
from timing import forget_peak, peak_memory
from two_scale_fits import settings

AT_ONCE = 200_000  # rows: what is needed to make them is little beside the rows
QUERIES = 100_000
TUNED_ROWS = 10_000
SHAKEN = 0.1  # of each feature's standard deviation


class Teacher:
    """Where rows and their labels come from."""

    def __init__(self) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        X, y = data.read("susy-subset")
        self.rows = data.scaled(X, X.min(0), X.max(0))
        self.spread = (SHAKEN * self.rows.std(axis=0)).astype(np.float32)
        self.machine = HistGradientBoostingClassifier(random_state=0).fit(self.rows, y > 0)

    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n rows, their labels, and the probability that a label is 1."""
        rng = np.random.default_rng(seed)
        X = np.empty((n, self.rows.shape[1]), dtype=np.float32)
        y, chance = np.empty(n, dtype=np.int8), np.empty(n)
        for first in range(0, n, AT_ONCE):
            own = X[first : first + AT_ONCE]
            own[:] = self.rows[rng.integers(len(self.rows), size=len(own))]
            own += self.spread * rng.standard_normal(own.shape, dtype=np.float32)
            probable = self.machine.predict_proba(own)[:, 1]
            y[first : first + AT_ONCE] = np.where(rng.random(len(own)) < probable, 1, -1)
            chance[first : first + AT_ONCE] = probable
        return X, y, chance


def grow(n: int, side: str) -> dict[str, Any]:
    """One side on n rows: seconds, memory, accuracy, and how sure it is that a test row is decided right.

    The parameters are those of susy-subset, found on 10,000 rows: their ridge for two scales, whose problem
    is that of all rows, and their lam for Algorithm 1, whose parts have no more rows than that.
    """
    import sodm

    teacher = Teacher()
    X_test, _, chance = teacher.draw(QUERIES, 1)
    X, y, _ = teacher.draw(n, 0)
    machine = {
        "two scales": lambda: sodm.SODMClassifier(**settings("susy-subset", n)),
        "Algorithm 1": lambda: sodm.SODMClassifier(regions=None, **settings("susy-subset", TUNED_ROWS)),
    }[side]()
    before, began = forget_peak(), time.perf_counter()
    machine.fit(X, y)
    seconds, memory = time.perf_counter() - began, peak_memory() - before
    right = np.where(machine.predict(X_test) > 0, chance, 1 - chance)
    return {
        "n": n,
        "seconds": seconds,
        "memory": memory,
        "accuracy": float(np.mean(right)),
        "best": float(np.mean(np.maximum(chance, 1 - chance))),
        "right": np.round(right, 5).tolist(),
        "stop": machine.stop_reason_,
        "levels": [record["n_partitions"] for record in machine.history_],
    }


def points_better(one: dict[str, Any], other: dict[str, Any]) -> tuple[float, float]:
    """How many points of accuracy one result is above another on the same rows, and the standard error."""
    difference = np.subtract(one["right"], other["right"])
    return 100 * float(difference.mean()), 100 * float(difference.std() / np.sqrt(QUERIES))
