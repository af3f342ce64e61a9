"""Cascade machines as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sodm.estimators import defaults
from sodm.estimators.parameters import check_integer
from sodm.estimators.trees import TreeClassifier
from sodm.trees import systems
from sodm.trees.systems import System


class CascadeClassifier(TreeClassifier):
    """Cascade: random parts, of which only the support vectors move up (Graf et al., 2004).

    Ca-ODM of the paper, and with ``loss="hinge"`` Ca-SVM. Parts are pieces of the one dual problem of all
    rows; the machine is that of the last level, where one part has all support vectors that are left.

    All parameters of `ODMClassifier` but `solver` are taken too, and of `SODMClassifier`
    n_partitions, branching, start, time_limit, refine, budget,
    checkpoint_dir and local_solver, with the same defaults.

    Parameters
    ----------
    feedback : int, default=0
        Passes after the first, in which the support vectors found join all parts of the first level. Each
        pass brings the objective nearer to the exact one.

    Notes
    -----
    The attributes are those of `SODMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sodm import CascadeClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> machine = CascadeClassifier(n_partitions=4, random_state=0).fit(X[:1500], y[:1500])
    >>> machine.score(X[1500:], y[1500:]) > 0.95
    True
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
        feedback: int = 0,
        start: Literal["pilot", "zero"] = "pilot",
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
        self.feedback = feedback
        self.start = start
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
        check_integer("feedback", self.feedback, ">= 0", lambda v: v >= 0)

    def _system(self) -> System:
        return systems.cascade(int(self.feedback))
