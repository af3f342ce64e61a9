"""Accuracy of margin distribution machines on held-out rows: the protocol of the paper's experiments."""

from typing import Any

import numpy as np

from sodm.bench.convention import BaseObjective
from sodm.bench.measures import measures
from sodm.bench.splits import Data, split
from sodm.bench.tuning import Tuned


class Objective(BaseObjective):
    """Train on one part of a data set, measure on the other; parameters by cross-validation on the first."""

    name = "Margin distribution machines"
    url = "https://www.ijcai.org/proceedings/2023/"
    parameters = {"kernel": ["rbf", "linear"], "split": ["random"], "seed": [0], "rows": [None]}  # noqa: RUF012
    requirements = ["pip::sodm"]  # noqa: RUF012
    sampling_strategy = "run_once"

    def set_data(self, data: Data) -> None:
        """Scale and divide the rows."""
        self.data = split(data, self.split, self.seed, self.rows)
        self.tuned = Tuned(self.data.X, self.data.y, self.kernel, self.seed)

    def get_objective(self) -> dict[str, Any]:
        """What a solver gets. Test rows are there to be watched, not to be trained on."""
        return {"data": self.data, "kernel": self.kernel, "tuned": self.tuned, "seed": self.seed}

    def evaluate_result(self, machine: Any) -> dict[str, Any]:
        """Test accuracy, objective and duality gap; `value` is the test error, which benchopt draws."""
        accuracy = float(np.mean(machine.predict(self.data.X_test) == self.data.y_test))
        return {"value": 1 - accuracy, "accuracy": accuracy, **measures(machine)}

    def get_one_result(self) -> dict[str, Any]:
        """A machine that can be evaluated."""
        from sklearn.dummy import DummyClassifier

        return {"machine": DummyClassifier().fit(self.data.X, self.data.y)}
