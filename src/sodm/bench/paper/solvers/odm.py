"""ODM and SVM, solved exactly."""

from typing import Any

from sodm.bench.families import MAX_ITER, TOL, MachineSolver, with_upsilon
from sodm.bench.tuning import Tuned


class Solver(MachineSolver):
    """The exact machine: all rows in one problem."""

    name = "ODM"
    parameters = {"loss": ["odm", "hinge"]}  # noqa: RUF012

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """The linear machine has a solver of its own."""
        import sodm

        parameters: dict[str, Any] = with_upsilon(self.loss, tuned(self.loss))
        if kernel == "linear":
            return sodm.LinearODMClassifier(loss=self.loss, **parameters)
        return sodm.ODMClassifier(loss=self.loss, tol=TOL, max_iter=MAX_ITER, random_state=seed, **parameters)
