"""The accuracy of a machine on rows in memory that it is not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Block
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.problem import Problem
from sodm.problem.row_types import Rows
from sodm.trees.probe import classes_of, machine_values


@dataclass(frozen=True)
class EvaluationRows:
    """Rows and their labels, see `sodm.training.context.Evaluation`.

    Attributes
    ----------
    rows : ndarray or CSR matrix, shape (m, n_features)
    labels : ndarray, shape (m,)
        To be compared with `Problem.classes`.
    """

    rows: Rows
    labels: NDArray[Any]

    def accuracy(self, problem: Problem, kernel: KernelEvaluator, duals: NDArray[np.float64]) -> float:
        """The share of them that the machine with these duals gives their own class."""
        m = len(self.labels)
        block = Block(self.rows, np.arange(m), np.empty((len(duals), m)), np.ones(m))
        decision = machine_values(problem, kernel, duals, block)
        return float(np.mean(problem.classes[classes_of(decision, problem.pairs)] == self.labels))

    def accuracy_of(self, values: Callable[[Any], NDArray[np.float64]], classes: NDArray[Any]) -> float:
        """The share of them that f, of shape (m, n_problems) for m rows, gives their own class."""
        return float(np.mean(classes[classes_of(values(self.rows).T)] == self.labels))
