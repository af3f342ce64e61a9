"""The scalable optimal margin distribution machine as a scikit-learn classifier."""

from __future__ import annotations

from typing import Literal, Unpack

from sodm.estimators import defaults
from sodm.estimators.parameters import check_choice, check_integer, check_number
from sodm.estimators.shared_parameters import (
    KERNEL_MACHINE,
    TREE,
    TreeParameters,
    shows_all_parameters,
)
from sodm.estimators.trees import TreeClassifier, check_start
from sodm.trees import systems
from sodm.trees.stop import StopRule
from sodm.trees.tree import Tree


@shows_all_parameters(KERNEL_MACHINE, TREE)
class SODMClassifier(TreeClassifier):
    """Optimal margin distribution machine for many rows, trained part by part.

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
        Training ends when at most this share of a sample of the rows is decided otherwise than at the level
        below and the objective agrees. 0 goes on to `branching` parts.

    Attributes
    ----------
    history_ : list of dict
        One record for each level: n_partitions, n_rows, n_support, n_iter, violation, objective and gap of
        the problem of all rows (`estimated` says if from a sample), changed, n_kernel_evaluations, accuracy
        on `eval_set`, and seconds by what they were spent on.
    stop_reason_ : {"exact", "decisions", "tolerance", "last level", "time limit"}
        Which rule ended the training.

    Notes
    -----
    The other attributes are those of `ODMClassifier`: classes_, support_, support_vectors_, dual_coef_,
    coef_, intercept_, n_iter_, dual_gap_, violation_, objective_, n_kernel_evaluations_, n_features_in_,
    feature_names_in_. `n_iter_` and `violation_` are those of the worst part of the last level; `dual_gap_`
    and `objective_` those of the problem of all rows, estimated from a sample unless `stop_reason_` is
    "exact".

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
        start: Literal["pilot", "zero"] = "pilot",
        stop_tol: float = defaults.STOP_TOL,
        **shared: Unpack[TreeParameters],
    ) -> None:
        super().__init__(**shared)
        self.n_landmarks = n_landmarks
        self.merge = merge
        self.start = start
        self.stop_tol = stop_tol

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_landmarks", self.n_landmarks, ">= 1", lambda v: v >= 1)
        check_number("stop_tol", self.stop_tol, ">= 0", lambda v: v >= 0)
        check_choice("merge", self.merge, ("scaled", "lift", "literal"))
        check_start(self.start)

    def _trainer(self) -> Tree:
        system = systems.sodm(int(self.n_landmarks), self.merge)
        return self._tree(system, stop=StopRule(float(self.stop_tol)), pilot=self.start == "pilot")
