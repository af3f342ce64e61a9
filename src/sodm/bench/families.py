"""What the solvers in `paper/solvers` share: how machines are made and fitted, for all of them alike."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sodm.bench.convention import BaseSolver
from sodm.bench.splits import MANY_ROWS, Split
from sodm.bench.tuning import UPSILON, Tuned

# The same for all tree methods and for the exact machine.
TOL, MAX_ITER = 1e-3, 1000
FEWEST_PARTS = 4


class MachineSolver(BaseSolver):
    """Fits one machine once. A subclass has `make`; `kernels` says what it is for."""

    kernels: tuple[str, ...] = ("rbf", "linear")
    requirements = ["pip::sodm"]  # noqa: RUF012 - benchopt's convention
    sampling_strategy = "run_once"

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """The machine, not fitted."""
        raise NotImplementedError

    def skip(self, kernel: str, **objective: Any) -> tuple[bool, str | None]:
        """Whether it is not for this kernel, and why."""
        if kernel == "linear" and getattr(self, "loss", "odm") == "hinge":
            return True, "the SVM counterparts are compared with the rbf kernel"
        return kernel not in self.kernels, f"{self.name} is for the {' and '.join(self.kernels)} kernel only"

    def set_objective(self, data: Split, kernel: str, tuned: Tuned, seed: int) -> None:
        """Get ready to fit; not timed."""
        self.data = data
        self.machine = self.make(kernel, tuned, seed)

    def run(self, _: Any = None) -> None:
        """Fit; timed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the gap is recorded
            self.fit()

    def fit(self) -> None:
        """Fit the machine to the training rows."""
        self.machine.fit(self.data.X, self.data.y)

    def get_result(self) -> dict[str, Any]:
        """The fitted machine."""
        return {"machine": self.machine}


class WatchedSolver(MachineSolver):
    """A machine that writes down the accuracy on the test rows as it goes, unless that takes too long."""

    def fit(self) -> None:
        """Fit, the test rows being watched; their time is counted apart."""
        watched = (self.data.X_test, self.data.y_test) if len(self.data.y) <= MANY_ROWS else None
        self.machine.fit(self.data.X, self.data.y, eval_set=watched)


class TreeSolver(WatchedSolver):
    """A tree method: same parameters, local solver, tolerance, cap on sweeps and number of parts for all."""

    parameters: dict[str, list[Any]] = {"loss": ["odm", "hinge"]}  # noqa: RUF012
    estimator = ""

    def make(self, kernel: str, tuned: Tuned, seed: int) -> Any:
        """The tree; with the linear kernel it has an intercept, as the linear machines have."""
        import sodm

        return getattr(sodm, self.estimator)(
            kernel=kernel,
            loss=self.loss,
            **with_upsilon(self.loss, tuned(self.loss)),
            n_partitions=parts(self.data),
            fit_intercept=kernel == "linear",
            tol=TOL,
            max_iter=MAX_ITER,
            random_state=seed,
            **self.options(),
        )

    def options(self) -> dict[str, Any]:
        """What this tree has besides."""
        return {}


def with_upsilon(loss: str, parameters: dict[str, float]) -> dict[str, float]:
    """The tuned parameters, and upsilon where the loss has one; it is not tuned."""
    return {**parameters, "upsilon": UPSILON} if loss == "odm" else dict(parameters)


def parts(data: Split) -> int | str:
    """Parts of the first level: sodm's own choice, but several even where it would take one."""
    from sodm.problem.fold import fold
    from sodm.trees.pilot import EXACT_ROWS

    if len(data.y) > EXACT_ROWS:
        labels = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
        if len(fold(data.X, labels, np.ones(len(labels))).first) > EXACT_ROWS:
            return "auto"
    return FEWEST_PARTS
