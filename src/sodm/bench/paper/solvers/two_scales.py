"""The library's own machine for many rows: regions that correct an average. It is ours, not the paper's."""

from typing import Any

from sodm.bench.families import MAX_ITER, TOL, WatchedSolver, with_upsilon
from sodm.bench.tuning import Tuned


class Solver(WatchedSolver):
    """Left to itself: it finds out whether there are regions, and solves few rows exactly."""

    name = "two scales"
    kernels = ("rbf",)

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """With the parameters of the five systems beside it."""
        import sodm

        parameters: dict[str, Any] = with_upsilon("odm", tuned("odm"))
        return sodm.SODMClassifier(kernel=kernel, tol=TOL, max_iter=MAX_ITER, random_state=seed, **parameters)
