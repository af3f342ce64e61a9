"""ODM_svrg (Johnson and Zhang, 2013)."""

from typing import Any

from sodm.bench.families import WatchedSolver, with_upsilon
from sodm.bench.tuning import Tuned


class Solver(WatchedSolver):
    """Variance-reduced gradient steps on one node."""

    name = "SVRG"
    kernels = ("linear",)

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """The linear machine with this solver, to the tolerance that SODM gets."""
        from sodm import LinearODMClassifier

        parameters: dict[str, Any] = with_upsilon("odm", tuned("odm"))
        return LinearODMClassifier(solver="svrg", random_state=seed, tol=1e-4, **parameters)
