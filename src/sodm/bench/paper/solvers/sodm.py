"""SODM and SSVM: Algorithm 1 of the paper, and Algorithm 2 for the linear kernel."""

from typing import Any

from sodm.bench.families import TreeSolver, with_upsilon
from sodm.bench.tuning import Tuned


class Solver(TreeSolver):
    """Strata dealt to all parts; parts are merged until decisions agree; no regions. Linear: DSVRG.

    The parameters besides `loss` switch our corrections off, one by one: `merge="literal"` concatenates duals
    unscaled, `stop_tol=0` goes up to the last level, `start="zero"` starts every part from zero.
    """

    name = "SODM"
    estimator = "SODMClassifier"
    parameters: dict[str, list[Any]] = {  # noqa: RUF012
        "loss": ["odm", "hinge"],
        "merge": ["scaled"],
        "stop_tol": [0.01],
        "start": ["pilot"],
        "local_solver": ["auto"],
    }

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """Algorithm 1 or 2."""
        if kernel != "linear":
            return super().make(kernel, tuned, seed)
        from sodm import LinearODMClassifier

        parameters: dict[str, Any] = with_upsilon(self.loss, tuned(self.loss))
        return LinearODMClassifier(solver="dsvrg", loss=self.loss, random_state=seed, tol=1e-4, **parameters)

    def options(self) -> dict[str, Any]:
        """The corrections."""
        names = ("merge", "stop_tol", "start", "local_solver")
        return {name: getattr(self, name) for name in names} | {"regions": None}
