"""scikit-learn's SVC (LIBSVM) and LinearSVC (liblinear)."""

from typing import Any

from sodm.bench.families import MachineSolver
from sodm.bench.tuning import Tuned


class Solver(MachineSolver):
    """What most people use; tuned on a grid of its own, defaults otherwise."""

    name = "SVC"
    requirements = ["scikit-learn"]  # noqa: RUF012

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """LinearSVC for the linear kernel."""
        from sklearn.svm import SVC, LinearSVC

        if kernel == "linear":
            return LinearSVC(random_state=seed, **tuned("svc"))
        return SVC(**tuned("svc"))
