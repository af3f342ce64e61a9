"""Distribution preserving machines as a scikit-learn classifier."""

from __future__ import annotations

from typing import Unpack

from sodm.estimators.parameters import check_integer
from sodm.estimators.shared_parameters import (
    KERNEL_MACHINE,
    TREE,
    PilotedTreeParameters,
    shows_all_parameters,
)
from sodm.estimators.trees import PilotedTreeClassifier
from sodm.trees import systems
from sodm.trees.tree import Tree


@shows_all_parameters(KERNEL_MACHINE, TREE)
class DiPClassifier(PilotedTreeClassifier):
    """DiP: parts that keep the distribution of the rows, then their support vectors (Singh et al., 2017).

    DiP-ODM of the paper, and with ``loss="hinge"`` DiP-SVM. k-means clusters in input space are dealt evenly
    to the parts; the support vectors of all parts make the last, exact problem.

    Parameters
    ----------
    n_clusters : int, default=50
        Clusters to deal, see `sodm.partition.DistributionPreservingPartitioner`.

    Notes
    -----
    The attributes are those of `SODMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sodm import DiPClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> machine = DiPClassifier(n_partitions=4, random_state=0).fit(X[:1500], y[:1500])
    >>> machine.score(X[1500:], y[1500:]) > 0.95
    True
    """

    def __init__(
        self,
        *,
        n_clusters: int = 50,
        **shared: Unpack[PilotedTreeParameters],
    ) -> None:
        super().__init__(**shared)
        self.n_clusters = n_clusters

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_clusters", self.n_clusters, ">= 1", lambda v: v >= 1)

    def _trainer(self) -> Tree:
        return self._tree(systems.dip(int(self.n_clusters)))
