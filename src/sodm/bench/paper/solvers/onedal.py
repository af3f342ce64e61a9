"""scikit-learn-intelex's SVC (oneDAL). It has no LinearSVC."""

from typing import Any

from sodm.bench.families import MachineSolver
from sodm.bench.tuning import Tuned


class Solver(MachineSolver):
    """The parameters of SVC, which solves the same problem."""

    name = "oneDAL"
    kernels = ("rbf",)
    requirements = ["pip::scikit-learn-intelex"]  # noqa: RUF012

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """The SVC of oneDAL, not a patched one."""
        from sklearnex.svm import SVC

        return SVC(**tuned("svc"))
