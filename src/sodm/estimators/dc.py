"""Divide-and-conquer machines as a scikit-learn classifier."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from sodm.estimators.parameters import check_flag
from sodm.estimators.shared_parameters import (
    KERNEL_MACHINE,
    TREE,
    TreeParameters,
    shows_all_parameters,
)
from sodm.estimators.trees import TreeClassifier
from sodm.problem.pairs import spread_over_pairs
from sodm.problem.problem import Problem
from sodm.problem.row_types import Rows
from sodm.training.regions import Regions
from sodm.training.trained import Trained
from sodm.trees import systems
from sodm.trees.tree import Tree


@shows_all_parameters(KERNEL_MACHINE, TREE)
class DCClassifier(TreeClassifier):
    """DC: clusters in feature space, found anew at each level on the support vectors (Hsieh et al., 2014).

    DC-ODM of the paper, and with ``loss="hinge"`` DC-SVM. Clusters hardly see each other, so their duals
    together are near those of the problem of all rows. After the last level of clusters the support vectors
    are solved together; `refine` goes on to the exact solution.

    Parameters
    ----------
    early : bool, default=False
        Early prediction: end with the `n_partitions` clusters of the first level, and let each row be decided
        by the machine of the nearest one.

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

    def __init__(self, *, early: bool = False, **shared: Unpack[TreeParameters]) -> None:
        super().__init__(**shared)
        self.early = early

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag("early", self.early)
        if self.early and (self.refine or self.budget is not None):
            raise ValueError("early=True keeps a machine for each cluster: it takes no refine and no budget.")

    def _trainer(self) -> Tree:
        return self._tree(systems.dc(bool(self.early)), early=bool(self.early))

    def _set_fitted(self, problem: Problem, trained: Trained, kept: NDArray[np.int64]) -> None:
        super()._set_fitted(problem, trained, kept)
        self._regions = trained.regions
        if trained.region_of_row is not None:
            order = np.argsort(kept)
            at = order[np.searchsorted(kept, self.support_, sorter=order)]
            self._region_of_support = trained.region_of_row[at]

    def _decide(self, X: Rows) -> NDArray[np.float64]:
        if self._regions is None:
            return super()._decide(X)
        kernel = self._evaluator()
        regions = self._regions.nearest(kernel, X)
        values = np.zeros((X.shape[0], self._n_problems))
        if self._one_against_one:
            classes = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        order = self._prepare(kernel)[1] if kernel.kernel.compiled else np.arange(len(self.support_))
        for k in np.unique(regions):
            rows, support = np.flatnonzero(regions == k), order[self._region_of_support[order] == k]
            coefficients = self.dual_coef_[:, support].T
            if self._one_against_one:
                coefficients = spread_over_pairs(coefficients.T, classes[support]).T
            if kernel.precomputed:
                values[rows] = kernel.apply(X[rows][:, self.support_[support]], None, coefficients)
            elif len(support):
                values[rows] = kernel.apply(X[rows], self.support_vectors_[support], coefficients)
            if np.any(self.intercept_):  # the caller adds that of all machines together
                values[rows] += coefficients.sum(axis=0)
        return values - self.intercept_
