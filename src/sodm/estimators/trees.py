"""What the classifiers for many rows share: one tree trainer, put together from their parameters."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from sodm.engines.base import Engine
from sodm.estimators.base import KernelMachineClassifier
from sodm.estimators.kernel_machine import FLOATS, unchanged_on_failure
from sodm.estimators.parameters import check_choice, check_flag, check_integer, check_number, check_solver
from sodm.estimators.shared_parameters import KernelMachineParameters, TreeParameters
from sodm.problem.csr import check_sparse
from sodm.problem.problem import Problem
from sodm.problem.row_types import MatrixLike
from sodm.problem.rows import canonical
from sodm.training.context import CheckpointFolder, Context, Evaluation, Progress
from sodm.training.trained import Trained
from sodm.trees.evaluation import EvaluationRows
from sodm.trees.fingerprint import fingerprint
from sodm.trees.stop import StopRule
from sodm.trees.systems import System
from sodm.trees.tree import Tree

# What may differ between a fit and the one that goes on from its checkpoint.
FREE = ("n_jobs", "verbose", "checkpoint_dir", "time_limit", "random_state", "warm_start", "cache_size")


class TreeClassifier(KernelMachineClassifier):
    """Base of the classifiers for many rows."""

    _in_parts = True

    def __init__(
        self,
        *,
        n_partitions: int | Literal["auto"] = "auto",
        branching: int = 2,
        time_limit: float | None = None,
        refine: bool = False,
        budget: int | None = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        local_solver: Literal["auto", "newton", "dcd"] = "auto",
        **shared: Unpack[KernelMachineParameters],
    ) -> None:
        super().__init__(**shared)
        self.n_partitions = n_partitions
        self.branching = branching
        self.time_limit = time_limit
        self.refine = refine
        self.budget = budget
        self.checkpoint_dir = checkpoint_dir
        self.local_solver = local_solver

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, eval_set: Any = None
    ) -> TreeClassifier:
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
            checked = self._check_data(X, y, sample_weight)
            return self._fit_rows(*checked, evaluation=self._check_eval_set(eval_set))

    def _check_eval_set(self, eval_set: Any) -> Evaluation | None:
        """Rows and labels to be looked at, with the features of X."""
        if eval_set is None:
            return None
        try:
            X, y = eval_set
        except (TypeError, ValueError):
            raise ValueError("eval_set must be a pair (X, y) of rows and their labels.") from None
        X, y = validate_data(
            self, check_sparse(X), y, accept_sparse="csr", dtype=FLOATS, accept_large_sparse=True, reset=False
        )
        return EvaluationRows(canonical(X), y)

    def _context(
        self, progress: Progress | None, engine: Engine | None, evaluation: Evaluation | None, n_rows: int
    ) -> Context:
        context = super()._context(progress, engine, evaluation, n_rows)
        return replace(context, time_limit=self.time_limit, checkpoint=self._checkpoint())

    def _checkpoint(self) -> CheckpointFolder | None:
        if self.checkpoint_dir is None:
            return None
        parameters = {k: v for k, v in self.get_params(deep=False).items() if k not in FREE}
        parameters["machine"] = type(self).__name__
        digest, untold = fingerprint(parameters)
        if untold:
            warnings.warn(
                f"{' and '.join(untold)} cannot be told from another function, so that this fit starts anew, "
                f"without the checkpoint in {self.checkpoint_dir}: use a function that is defined in a "
                "module, without a closure, and neither a lambda nor an object.",
                UserWarning,
                stacklevel=5,
            )
        return CheckpointFolder(self.checkpoint_dir, digest, resume=not untold)

    def _tree(self, system: System, *, stop: StopRule | None = None, early: bool = False) -> Tree:
        """The trainer of a system, with the parameters that all of them have."""
        return Tree(
            partition=system.partition,
            merge=system.merge,
            solver=self.local_solver,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            n_partitions=None if self.n_partitions == "auto" else int(self.n_partitions),
            branching=int(self.branching),
            stop=stop,
            pilot=self._piloted(),
            refine=bool(self.refine),
            budget=None if self.budget is None else int(self.budget),
            early=early,
        )

    def _piloted(self) -> bool:
        """Whether a sample of the rows is solved first, to show the parts of the first level the way."""
        return False

    def _set_fitted(self, problem: Problem, trained: Trained, kept: NDArray[np.int64]) -> None:
        super()._set_fitted(problem, trained, kept)
        self.history_ = trained.history
        self.stop_reason_ = trained.stop_reason

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_solver("local_solver", self.local_solver, self.loss)
        if self.n_partitions != "auto":
            check_integer("n_partitions", self.n_partitions, ">= 1, or 'auto'", lambda v: v >= 1)
        check_integer("branching", self.branching, ">= 2", lambda v: v >= 2)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, ">= 0, or None", lambda v: v >= 0)
        check_flag("refine", self.refine)
        if self.budget is not None:
            check_integer("budget", self.budget, ">= 1, or None", lambda v: v >= 1)


class PilotedTreeClassifier(TreeClassifier):
    """Base of those whose first level can start from the machine of a sample of the rows."""

    def __init__(
        self, *, start: Literal["pilot", "zero"] = "pilot", **shared: Unpack[TreeParameters]
    ) -> None:
        super().__init__(**shared)
        self.start = start

    def _piloted(self) -> bool:
        return self.start == "pilot"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("start", self.start, ("pilot", "zero"))
