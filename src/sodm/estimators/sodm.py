"""The scalable optimal margin distribution machine as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from sodm.estimators import defaults
from sodm.estimators.parameters import check_choice, check_integer, check_number
from sodm.estimators.shared_parameters import (
    KERNEL_MACHINE,
    TREE,
    PilotedTreeParameters,
    shows_all_parameters,
)
from sodm.estimators.trees import PilotedTreeClassifier
from sodm.problem.distinct import distinct
from sodm.problem.problem import Problem
from sodm.problem.row_types import Rows
from sodm.training.trained import Trained, Trainer
from sodm.trees import systems
from sodm.trees.stop import StopRule
from sodm.trees.two_scale import TwoScale


@shows_all_parameters(KERNEL_MACHINE, TREE)
class SODMClassifier(PilotedTreeClassifier):
    """Optimal margin distribution machine for many rows, at two scales.

    First machines of few rows, averaged; then the space is divided into regions, and in each of them a
    machine of its own rows corrects what the average says there. Rows are decided by the nearest region, on
    a border by two of them. Where the kernel is so smooth that a few hundred landmarks carry it, and a trial
    on rows held out finds regions no better, the machine is the best one in the span of these landmarks,
    learnt from all rows. Where neither is better than an average of parts, and with ``regions=None``, it is
    Algorithm 1 of the paper:

    The rows are divided into parts that look like the whole (strata around landmarks in feature space, each
    dealt to all parts), the parts are solved side by side, and the machine is the average of theirs. Then
    every `branching` parts are merged and solved again from what they know, until the decisions no longer
    change. With ``loss="hinge"`` this is SSVM.

    Parameters
    ----------
    n_landmarks : int, default=50
        Strata, see `sodm.partition.StratifiedPartitioner`.
    merge : {"scaled", "lift", "literal"}, default="scaled"
        Where a merged part starts: from the duals of its parts in the scale of the merged problem; from the
        duals that the optimality conditions assign to their averaged f; from their duals as they are, as the
        paper prints it.
    stop_tol : float, default=0.01
        Training ends when all levels to come together would decide at most this share of a sample of the
        rows otherwise, as far as the last levels tell, and the objective agrees. 0 goes on to `branching`
        parts.
    regions : int, "auto" or None, default="auto"
        So many regions; "auto" decides by rows held out whether there are any, or landmarks, or neither;
        None is Algorithm 1 of the paper. "auto" looks for none where a number of parts, `refine` or
        `budget` is asked for, with a linear, precomputed or callable kernel, nor in 10,000 rows or fewer,
        which are solved exactly.

    Attributes
    ----------
    history_ : list of dict
        One record for each level: n_partitions, n_rows, n_support, n_iter, violation, objective and gap of
        the problem of all rows (`estimated` says if from a sample), changed, n_kernel_evaluations, accuracy
        on `eval_set`, and seconds by what they were spent on.
    stop_reason_ : {"regions", "landmarks", "exact", "decisions", "tolerance", "last level", "time limit"}
        Which rule ended the training.

    Notes
    -----
    The other attributes are those of `ODMClassifier`: classes_, support_, support_vectors_, dual_coef_,
    coef_, intercept_, n_iter_, dual_gap_, violation_, objective_, n_kernel_evaluations_, n_features_in_,
    feature_names_in_. `n_iter_` and `violation_` are those of the worst part of the last level; `dual_gap_`
    and `objective_` those of the problem of all rows, estimated from a sample unless `stop_reason_` is
    "exact". With regions, `dual_gap_` is that of the worst region, `objective_` the sum over the regions,
    `dual_coef_` has the coefficients of the averaged machine alone, and `history_` one record. With
    landmarks these are the support vectors, `dual_gap_` and `objective_` are those of all rows in their
    span, and `violation_` is what is left of the gradient.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sodm import SODMClassifier
    >>> X, y = make_moons(4000, noise=0.2, random_state=0)
    >>> machine = SODMClassifier(n_partitions=8, random_state=0).fit(X[:3000], y[:3000])
    >>> machine.score(X[3000:], y[3000:]) > 0.95
    True
    >>> [record["n_partitions"] for record in machine.history_][:2]
    [8, 4]
    """

    def __init__(
        self,
        *,
        n_landmarks: int = 50,
        merge: Literal["scaled", "lift", "literal"] = "scaled",
        stop_tol: float = defaults.STOP_TOL,
        regions: int | Literal["auto"] | None = "auto",
        **shared: Unpack[PilotedTreeParameters],
    ) -> None:
        super().__init__(**shared)
        self.n_landmarks = n_landmarks
        self.merge = merge
        self.stop_tol = stop_tol
        self.regions = regions

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_landmarks", self.n_landmarks, ">= 1", lambda v: v >= 1)
        check_number("stop_tol", self.stop_tol, ">= 0", lambda v: v >= 0)
        check_choice("merge", self.merge, ("scaled", "lift", "literal"))
        if self.regions is None or self.regions == "auto":
            return
        check_integer("regions", self.regions, ">= 1, 'auto' or None", lambda v: v >= 1)
        if self.kernel == "precomputed" or callable(self.kernel):
            raise ValueError(
                "regions are found by the features of rows, and a precomputed or callable kernel tells none: "
                "use regions=None."
            )
        if self.multi_class == "ovo":
            raise ValueError(
                "regions correct machines of one class against the rest: use multi_class='auto' or 'ovr'."
            )
        if self.refine or self.budget is not None:
            raise ValueError("regions keep a machine each: they take no refine and no budget.")

    def _trainer(self) -> Trainer:
        system = systems.sodm(int(self.n_landmarks), self.merge)
        stop = StopRule(float(self.stop_tol), int(self.branching))
        tree = self._tree(system, stop=stop)
        if self.regions is None or (self.regions == "auto" and not self._may_have_regions()):
            return tree
        return TwoScale(
            tree, None if self.regions == "auto" else int(self.regions), lam_by_classes=self.lam == "auto"
        )

    def _may_have_regions(self) -> bool:
        """Whether "auto" may look for regions: with what they have no answer for, it does not."""
        by_features = self.kernel not in ("precomputed", "linear") and not callable(self.kernel)
        whole = not self.refine and self.budget is None and self.multi_class != "ovo"
        return by_features and whole and self.n_partitions == "auto"

    def _set_fitted(self, problem: Problem, trained: Trained, kept: NDArray[np.int64]) -> None:
        super()._set_fitted(problem, trained, kept)
        self._machines = trained.machines
        if trained.machines is None:
            return
        # All vectors of all regions, each once, in the order of the rows of X.
        rows, place = distinct(kept[trained.machines.members])
        where = np.empty(len(rows), dtype=np.int64)
        where[place] = trained.machines.members
        coefficients = problem.signs[:, where] * trained.result.duals[:, where]
        self.support_, self.support_vectors_, self.dual_coef_ = rows, problem.rows[where], coefficients
        self._machines = replace(trained.machines, members=place.astype(np.int64))
        self.intercept_ = np.zeros(len(coefficients))
        self.n_support_ = np.bincount(problem.codes[where], minlength=len(self.classes_)).astype(np.int32)

    def _decide(self, X: Rows) -> NDArray[np.float64]:
        if self._machines is None:
            return super()._decide(X)
        kernel = self._evaluator()
        if self._prepared.value is None:
            self._prepared.value = self._machines.vectors(kernel, self.support_vectors_)
        return self._machines.decide(kernel, X, self._prepared.value)
