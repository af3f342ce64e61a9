"""What the classifiers for many rows share: one tree trainer, put together from their parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sodm.engines.base import Block
from sodm.engines.threads import ThreadEngine
from sodm.estimators.base import FLOATS, KernelMachineClassifier, unchanged_on_failure
from sodm.estimators.odm import SOLVERS
from sodm.estimators.parameters import check_choice, check_flag, check_integer, check_number
from sodm.problem.problem import Problem
from sodm.problem.rows import canonical
from sodm.solvers.result import SolveResult
from sodm.trees.budget import compress
from sodm.trees.checkpoint import Checkpoint, data_fingerprint, parameter_fingerprint
from sodm.trees.local import LocalSolver
from sodm.trees.probe import classes_of, machine_values
from sodm.trees.stop import StopRule
from sodm.trees.systems import System
from sodm.trees.tree import Tree, TreeResult

# Up to this many distinct rows the exact machine takes a second or so, and nothing is to be gained.
EXACT_ROWS = 10_000

# What may differ between a fit and the one that goes on from its checkpoint.
FREE = ("n_jobs", "verbose", "checkpoint_dir", "time_limit", "random_state", "warm_start", "cache_size")


class TreeClassifier(KernelMachineClassifier):
    """Base of the classifiers for many rows."""

    local_solver: str
    max_iter: int
    cache_size: float
    n_partitions: int | str
    branching: int
    time_limit: float | None
    refine: bool
    budget: int | None
    checkpoint_dir: Any

    @abstractmethod
    def _system(self) -> System:
        """How rows are divided and what moves up."""

    def _stop(self) -> StopRule | None:
        """When levels agree; None where only the last level's machine is of use."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> TreeClassifier:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            float32 and float64 are used as they are. With ``kernel="precomputed"``, the symmetric kernel
            matrix of shape (n_samples, n_samples).
        y : array-like, shape (n_samples,)
            Class labels, two or more different ones.
        sample_weight : array-like, shape (n_samples,), optional
            Non-negative. A row of weight k counts exactly as k rows; a row of weight 0 is left out.
        eval_set : pair (X, y), optional
            Rows not trained on: the accuracy on them is written into `history_` after each level.

        Returns
        -------
        self
            A fit that fails or is interrupted leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            self._eval_set = eval_set
            self._fit(X, y, sample_weight)
            del self._eval_set
        return self

    def _train(self, problem: Problem, progress: Callable[[dict[str, Any]], Any] | None) -> SolveResult:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        checkpoint = self._checkpoint(problem, seed)
        partition, merge = self._system()
        tree = Tree(
            partition=partition,
            merge=merge,
            solver=LocalSolver(
                problem.kernel,
                problem.loss,
                self.local_solver,
                float(self.tol),
                int(self.max_iter),
                int(self.cache_size * 2**20),
                seed,
            ),
            engine=ThreadEngine(problem.kernel.n_threads),
            n_partitions=self._count(len(problem.weights)),
            branching=int(self.branching),
            stop=self._stop(),
            pilot=getattr(self, "start", "zero") == "pilot",
            refine=bool(self.refine),
            time_limit=self.time_limit,
            seed=seed if checkpoint is None else checkpoint.seed,
            checkpoint=checkpoint,
            evaluate=self._evaluation(problem),
            progress=progress,
        )
        trained = tree.train(problem)
        self.history_ = [record.as_dict() for record in trained.history]
        self.stop_reason_ = trained.stop_reason
        result = self._finish(problem, trained)
        if self.budget is not None:
            result = compress(problem, result, int(self.budget), tree.seed)
        return result

    def _finish(self, problem: Problem, trained: TreeResult) -> SolveResult:
        """What a subclass wants to keep of the training."""
        return trained.as_solve_result()

    def _count(self, n: int) -> int | None:
        """The number of parts for n distinct rows, None if it is left to the pilot."""
        if self.n_partitions != "auto":
            if int(self.n_partitions) > n:
                raise ValueError(
                    f"n_partitions={self.n_partitions} is more than the {n} distinct rows of X: use fewer, "
                    "or 'auto'."
                )
            return int(self.n_partitions)
        return 1 if n <= EXACT_ROWS else None

    def _checkpoint(self, problem: Problem, seed: int) -> Checkpoint | None:
        if self.checkpoint_dir is None:
            return None
        parameters = {k: v for k, v in self.get_params(deep=False).items() if k not in FREE}
        parameters["machine"] = type(self).__name__
        return Checkpoint(
            self.checkpoint_dir,
            data_fingerprint(problem),
            parameter_fingerprint(parameters),
            seed,
            adopt_seed=self.random_state is None,
        )

    def _evaluation(self, problem: Problem) -> Callable[[NDArray[np.float64]], float] | None:
        """Accuracy on `eval_set`, from duals."""
        if self._eval_set is None:
            return None
        try:
            X, y = self._eval_set
        except (TypeError, ValueError):
            raise ValueError("eval_set must be a pair (X, y) of rows and their labels.") from None
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, accept_large_sparse=True, reset=False
        )
        signs = np.empty((len(problem.signs), len(y)))
        block = Block(canonical(X), np.arange(len(y)), signs, np.ones(len(y)))

        def accuracy(duals: NDArray[np.float64]) -> float:
            return float(np.mean(self.classes_[classes_of(machine_values(problem, duals, block))] == y))

        return accuracy

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("local_solver", self.local_solver, SOLVERS)
        if self.loss == "hinge" and self.local_solver == "newton":
            raise ValueError(
                "local_solver='newton' needs loss='odm': the hinge loss takes local_solver='dcd' or 'auto'."
            )
        check_integer("max_iter", self.max_iter, ">= 1", lambda v: v >= 1)
        check_number("cache_size", self.cache_size, "> 0", lambda v: v > 0)
        if self.n_partitions != "auto":
            check_integer("n_partitions", self.n_partitions, ">= 1, or 'auto'", lambda v: v >= 1)
        check_integer("branching", self.branching, ">= 2", lambda v: v >= 2)
        if hasattr(self, "start"):
            check_choice("start", self.start, ("pilot", "zero"))
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, ">= 0, or None", lambda v: v >= 0)
        check_flag("refine", self.refine)
        if self.budget is not None:
            check_integer("budget", self.budget, ">= 1, or None", lambda v: v >= 1)
