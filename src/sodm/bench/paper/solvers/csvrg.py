"""ODM_csvrg (Tan et al., 2019)."""

from typing import Any

from sodm.bench.families import WatchedSolver, with_upsilon
from sodm.bench.tuning import Tuned


class Solver(WatchedSolver):
    """SVRG whose anchor gradient is taken over the centres of a cover of the rows."""

    name = "CSVRG"
    kernels = ("linear",)

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """The linear machine with this solver, to the tolerance that SODM gets."""
        from sodm import LinearODMClassifier

        parameters: dict[str, Any] = with_upsilon("odm", tuned("odm"))
        return LinearODMClassifier(solver="csvrg", random_state=seed, tol=1e-4, **parameters)
