"""Divide-and-conquer machines as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sodm.estimators import defaults
from sodm.estimators.parameters import check_flag
from sodm.estimators.threads import threads_for
from sodm.estimators.trees import TreeClassifier
from sodm.problem.problem import Problem
from sodm.solvers.result import SolveResult
from sodm.trees import systems
from sodm.trees.regions import Regions
from sodm.trees.systems import System
from sodm.trees.tree import TreeResult


class DCClassifier(TreeClassifier):
    """DC: clusters in feature space, found anew at each level on the support vectors (Hsieh et al., 2014).

    DC-ODM of the paper, and with ``loss="hinge"`` DC-SVM. Clusters hardly see each other, so their duals
    together are near those of the problem of all rows. After the last level of clusters the support vectors
    are solved together; `refine` goes on to the exact solution.

    All parameters of `ODMClassifier` but `solver` are taken too, and of `SODMClassifier`
    n_partitions, branching, time_limit, refine, budget,
    checkpoint_dir and local_solver, with the same defaults.

    Parameters
    ----------
    early : bool, default=False
        Early prediction: end with clusters, and let each row be decided by the machine of the nearest one.

    Notes
    -----
    The attributes are those of `SODMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sodm import DCClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> machine = DCClassifier(n_partitions=4, random_state=0).fit(X[:1500], y[:1500])
    >>> machine.score(X[1500:], y[1500:]) > 0.95
    True
    """

    _regions: Regions | None = None  # the clusters that early prediction decides by

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
        early: bool = False,
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
        self.early = early
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
        check_flag("early", self.early)
        if self.early and (self.refine or self.budget is not None):
            raise ValueError("early=True keeps a machine for each cluster: it takes no refine and no budget.")

    def _system(self) -> System:
        return systems.dc(bool(self.early))

    def _finish(self, problem: Problem, trained: TreeResult) -> SolveResult:
        self._regions = None
        if self.early:
            self._regions = Regions.of(problem, [part.index for part in trained.last])
            self._region_of_row = np.empty(len(problem.weights), dtype=np.intp)
            for k, part in enumerate(trained.last):
                self._region_of_row[part.index] = k
        return super()._finish(problem, trained)

    def _set_fitted(self, problem: Problem, result: SolveResult, kept: NDArray[np.int64]) -> None:
        super()._set_fitted(problem, result, kept)
        if self._regions is not None:
            order = np.argsort(kept)
            at = order[np.searchsorted(kept, self.support_, sorter=order)]
            self._region_of_support = self._region_of_row[at]
            del self._region_of_row

    def _decide(self, X: Any) -> NDArray[np.float64]:
        if self._regions is None:
            return super()._decide(X)
        kernel = replace(self._fitted_kernel, n_threads=threads_for(self.n_jobs))
        precomputed = kernel.name == "precomputed"
        regions = self._regions.nearest(kernel, X)
        values = np.zeros((X.shape[0], len(self.dual_coef_)))
        order = self._prepare(kernel)[1] if kernel.compiled else np.arange(len(self.support_))
        for k in np.unique(regions):
            rows, support = np.flatnonzero(regions == k), order[self._region_of_support[order] == k]
            coefficients = self.dual_coef_[:, support].T
            if precomputed:
                values[rows] = kernel.apply(X[rows][:, self.support_[support]], None, coefficients)
            elif len(support):
                values[rows] = kernel.apply(X[rows], self.support_vectors_[support], coefficients)
            if self.fit_intercept:  # the caller adds that of all machines together
                values[rows] += coefficients.sum(axis=0)
        return values - self.intercept_
