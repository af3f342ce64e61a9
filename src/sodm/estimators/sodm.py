"""The scalable optimal margin distribution machine as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sodm.estimators import defaults
from sodm.estimators.parameters import check_choice, check_integer, check_number
from sodm.estimators.trees import TreeClassifier
from sodm.trees import systems
from sodm.trees.stop import StopRule
from sodm.trees.systems import System


class SODMClassifier(TreeClassifier):
    """Optimal margin distribution machine for many rows, trained part by part.

    The rows are divided into parts that look like the whole (strata around landmarks in feature space, each
    dealt to all parts), the parts are solved side by side, and the machine is the average of theirs. Then
    every `branching` parts are merged and solved again from what they know, until the decisions no longer
    change. With ``loss="hinge"`` this is SSVM.

    All parameters of `ODMClassifier` but `solver` are taken too, with the same defaults: kernel, gamma,
    degree, coef0, lam, upsilon, theta, loss, tol, max_iter, fit_intercept, class_weight, cache_size,
    precision, warm_start, random_state, n_jobs, verbose. `tol` and `max_iter` are those of each part,
    `cache_size` is shared by the parts that are solved at the same time.

    Parameters
    ----------
    n_partitions : int or "auto", default="auto"
        Parts of the first level. "auto" makes parts of 2,000 to 8,000 distinct rows, the larger the fewer
        support vectors a sample of the rows has, and a single part, which is the exact machine, of up to
        10,000.
    branching : int, default=2
        How many parts are merged to one of the next level.
    n_landmarks : int, default=50
        Strata, see `sodm.partition.StratifiedPartitioner`.
    merge : {"scaled", "lift", "literal"}, default="scaled"
        Where a merged part starts: from the duals of its parts in the scale of the merged problem; from the
        duals that the optimality conditions assign to their averaged f; from their duals as they are, as the
        paper prints it.
    start : {"pilot", "zero"}, default="pilot"
        Where the parts of the first level start: a sample of the rows is solved first and its f shows them
        the way, or all start from zero, as in the paper.
    stop_tol : float, default=0.01
        Training ends when at most this share of a sample of the rows is decided otherwise than at the level
        below and the objective agrees. 0 goes on to `branching` parts.
    time_limit : float or None, default=None
        Seconds after which the machine of the last finished level is taken. One part is always solved.
    refine : bool, default=False
        Go on from there to the exact solution of all rows.
    budget : int or None, default=None
        Most support vectors of the machine; it is compressed onto so many landmarks.
    checkpoint_dir : path or None, default=None
        Where to write the state after each level. A fit of the same data with the same parameters goes on
        from there, and ends with the same machine.
    local_solver : {"auto", "newton", "dcd"}, default="auto"
        What solves the parts: semismooth Newton or, as in the paper, dual coordinate descent.

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
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = defaults.LAM,
        upsilon: float = defaults.UPSILON,
        theta: float = defaults.THETA,
        loss: Literal["odm", "hinge"] = "odm",
        n_partitions: int | Literal["auto"] = "auto",
        branching: int = 2,
        n_landmarks: int = 50,
        merge: Literal["scaled", "lift", "literal"] = "scaled",
        start: Literal["pilot", "zero"] = "pilot",
        stop_tol: float = defaults.STOP_TOL,
        time_limit: float | None = None,
        refine: bool = False,
        budget: int | None = None,
        checkpoint_dir: Any = None,
        local_solver: Literal["auto", "newton", "dcd"] = "auto",
        tol: float = defaults.TOL,
        max_iter: int = defaults.MAX_ITER,
        fit_intercept: bool = False,
        class_weight: Any = None,
        cache_size: float = defaults.CACHE_SIZE,
        precision: Literal["single", "double"] = "single",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.upsilon = upsilon
        self.theta = theta
        self.loss = loss
        self.n_partitions = n_partitions
        self.branching = branching
        self.n_landmarks = n_landmarks
        self.merge = merge
        self.start = start
        self.stop_tol = stop_tol
        self.time_limit = time_limit
        self.refine = refine
        self.budget = budget
        self.checkpoint_dir = checkpoint_dir
        self.local_solver = local_solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.precision = precision
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_landmarks", self.n_landmarks, ">= 1", lambda v: v >= 1)
        check_number("stop_tol", self.stop_tol, ">= 0", lambda v: v >= 0)
        check_choice("merge", self.merge, ("scaled", "lift", "literal"))

    def _stop(self) -> StopRule:
        return StopRule(float(self.stop_tol))

    def _system(self) -> System:
        return systems.sodm(int(self.n_landmarks), self.merge)
