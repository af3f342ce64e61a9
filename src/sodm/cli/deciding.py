"""What a model says of rows: labels, values by class, and margins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.model.machines import in_pairs
from sodm.plots.margins import margins_of
from sodm.problem.pairs import votes


@dataclass(frozen=True)
class Decisions:
    """Decision values of some rows.

    Attributes
    ----------
    classes : ndarray
    values : ndarray, shape (n,) or (n, n_machines)
        Of two classes, of each class, or of each pair of classes.
    pairs : bool
    """

    classes: NDArray[Any]
    values: NDArray[np.float64]
    pairs: bool

    @property
    def by_class(self) -> NDArray[np.float64]:
        """One value for two classes, else one for each class; the largest wins."""
        return votes(self.values, len(self.classes)) if self.pairs else self.values

    @property
    def labels(self) -> NDArray[Any]:
        """The class of each row."""
        values = self.by_class
        return self.classes[(values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)]

    def margins(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """The margins of rows of these classes."""
        return margins_of(y, self.values, self.classes, pairs=self.pairs)[0]


def decide(machine: Any, parts: Iterable[Any]) -> Decisions:
    """What a machine says of rows, which come some at a time."""
    pairs = in_pairs(machine)
    shape = getattr(machine, "decision_function_shape", None)
    if shape is not None:
        machine.decision_function_shape = "ovo" if pairs else "ovr"
    try:
        values = [machine.decision_function(part) for part in parts]
    finally:
        if shape is not None:
            machine.decision_function_shape = shape
    return Decisions(machine.classes_, np.concatenate(values), pairs)
