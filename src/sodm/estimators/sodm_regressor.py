"""The machine for many rows, for numbers instead of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Engine
from sodm.estimators.parameters import check_choice, check_integer, check_number
from sodm.estimators.regression import KernelMachineRegressor
from sodm.estimators.shared_parameters import (
    KERNEL_MACHINE,
    REGRESSION,
    RegressionParameters,
    shows_all_parameters,
)
from sodm.problem.problem import Problem
from sodm.problem.row_types import Rows
from sodm.problem.targets import TargetProblem
from sodm.training.context import Context, Evaluation, Progress
from sodm.training.exact import ExactTrainer
from sodm.training.trained import Trained, Trainer
from sodm.trees import systems
from sodm.trees.pilot import EXACT_ROWS
from sodm.trees.tree import Tree
from sodm.trees.two_scale import TwoScale

REGION_ROWS = 4000  # of a region, about


@dataclass(frozen=True)
class RegionTrainer:
    """Regions that correct an average; up to EXACT_ROWS rows, the exact machine."""

    exact: ExactTrainer
    tree: Tree
    regions: int | None

    def train(self, problem: Problem, context: Context) -> Trained:
        """Train on the rows of a problem."""
        n = len(problem.weights)
        if self.regions is None and n <= EXACT_ROWS:
            return self.exact.train(problem, context)
        return TwoScale(self.tree, self.regions or max(1, round(n / REGION_ROWS))).train(problem, context)


@shows_all_parameters(KERNEL_MACHINE, REGRESSION)
class SODMRegressor(KernelMachineRegressor):
    """Optimal margin distribution machine for regression on many rows, at two scales.

    First machines of few rows, averaged; then the space is divided into regions, and in each of them a
    machine of its own rows corrects what the average says there. A row's value is that of its nearest
    region, on a border that of two of them, blended. The problem is that of `ODMRegressor`, with lam / M in
    each region as it is for all rows.

    Parameters
    ----------
    regions : int or "auto", default="auto"
        So many; "auto" makes regions of about 4,000 rows, and none, which is the exact machine, of up to
        10,000. They are found by the features of rows: the kernel must be one by name.
    solver : {"auto", "newton", "dcd"}, default="auto"
        What solves the regions.
    time_limit : float or None, default=None
        Seconds after which regions that are not solved are left to their neighbours. One is always solved.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Rows of X that are support vectors of any region.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        Those rows.
    n_support_ : ndarray of shape (1,)
        How many there are, as of scikit-learn's SVR.
    dual_coef_ : ndarray of shape (n_targets, n_SV)
        Their coefficients in the average; regions have their own.
    intercept_ : ndarray of shape (n_targets,)
        The mean of the targets, or zero without `fit_intercept`.
    stop_reason_ : str or None
        Whether all regions were solved.
    n_iter_, dual_gap_, violation_, objective_ : numbers or ndarrays of shape (n_targets,)
        Of the region where it is largest; the objective is the sum over the regions.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from sodm import SODMRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(5000, 2))
    >>> machine = SODMRegressor(regions=4).fit(X, np.sin(X[:, 0]) * X[:, 1])
    >>> machine.score(X, np.sin(X[:, 0]) * X[:, 1]) > 0.99
    True
    """

    _in_parts = True

    def __init__(
        self,
        *,
        regions: int | Literal["auto"] = "auto",
        solver: Literal["auto", "newton", "dcd"] = "auto",
        time_limit: float | None = None,
        **shared: Unpack[RegressionParameters],
    ) -> None:
        super().__init__(**shared)
        self.regions = regions
        self.solver = solver
        self.time_limit = time_limit

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, ("auto", "newton", "dcd"))
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, ">= 0, or None", lambda v: v >= 0)
        if callable(self.kernel) or self.kernel == "precomputed":
            raise ValueError("regions are found by the features of rows: use ODMRegressor with this kernel.")
        if self.regions != "auto":
            check_integer("regions", self.regions, ">= 1, or 'auto'", lambda v: v >= 1)

    def _context(
        self, progress: Progress | None, engine: Engine | None, evaluation: Evaluation | None, n_rows: int
    ) -> Context:
        return replace(super()._context(progress, engine, evaluation, n_rows), time_limit=self.time_limit)

    def _trainer(self) -> Trainer:
        system = systems.sodm(1, "scaled")
        tree = Tree(system.partition, system.merge, self.solver, float(self.tol), int(self.max_iter), None, 2)
        exact = ExactTrainer(self.solver, float(self.tol), int(self.max_iter))
        return RegionTrainer(exact, tree, None if self.regions == "auto" else int(self.regions))

    def _set_fitted(self, problem: Problem, trained: Trained, kept: NDArray[np.int64]) -> None:
        super()._set_fitted(problem, trained, kept)
        self._machines, self.stop_reason_ = trained.machines, trained.stop_reason
        if trained.machines is None:
            return
        assert isinstance(problem, TargetProblem)
        # All vectors of all regions, each once, in the order of the rows of X.
        rows, place = np.unique(kept[trained.machines.members], return_inverse=True)
        where = np.empty(len(rows), dtype=np.int64)
        where[place] = trained.machines.members
        unit = problem.unit[:, None]
        self.support_, self.support_vectors_ = rows, problem.rows[where]
        self.dual_coef_ = trained.result.duals[:, where] * unit
        self._machines = replace(
            trained.machines,
            members=place.astype(np.int64),
            coefficients=trained.machines.coefficients * unit,
        )

    def _decide(self, X: Rows) -> NDArray[np.float64]:
        if self._machines is None:
            return super()._decide(X)
        kernel = self._evaluator()
        if self._prepared.value is None:
            self._prepared.value = self._machines.vectors(kernel, self.support_vectors_)
        return self._machines.decide(kernel, X, self._prepared.value)
