"""Dual coordinate descent in plain NumPy, with 2 M variables as the paper has it, or with M signed ones."""

from typing import Any

from sodm.bench.families import MachineSolver
from sodm.bench.plain_dcd import PlainODM
from sodm.bench.tuning import Tuned


class Solver(MachineSolver):
    """One loop for both forms: what the signed variable saves, free of any other difference."""

    name = "plain-DCD"
    kernels = ("rbf",)
    parameters = {"variables": [1, 2]}  # noqa: RUF012

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """For a few thousand rows: the kernel matrix is kept."""
        from sodm.bench.tuning import UPSILON

        parameters: dict[str, Any] = tuned("odm")
        return PlainODM(self.variables, upsilon=UPSILON, random_state=seed, **parameters)
