"""Partitions that keep the distribution of the data in input space."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from sodm.partition.base import KernelLike, Partitioner, check_at_least_one
from sodm.partition.dealing import deal, sample_rows
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import Rows, is_sparse


class DistributionPreservingPartitioner(Partitioner):
    """k-means clusters in input space, each dealt evenly to all partitions: DiP-SVM (Singh et al., 2017).

    Every partition then has nearly the means and variances of the whole data set. Unlike the strata of
    `StratifiedPartitioner`, the clusters do not depend on the kernel.

    Parameters
    ----------
    n_clusters : int, default=50
    max_rows : int, default=20_000
        Centres are fitted on at most so many rows, drawn at random; the other rows join the nearest centre.
    balance_classes : bool, default=True
        Deal the classes one after the other, so that the numbers of each class differ by at most one between
        partitions.

    Attributes
    ----------
    clusters_ : int array of shape (n,)
        The cluster of each row.
    centers_ : array of shape (n_clusters, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from sodm.partition import DistributionPreservingPartitioner
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    >>> parts = DistributionPreservingPartitioner(n_clusters=2).split(X, None, 3, random_state=0)
    >>> [len(np.unique(X[parts == k] > 5)) for k in range(3)]
    [2, 2, 2]
    """

    def __init__(self, n_clusters: int = 50, max_rows: int = 20_000, balance_classes: bool = True) -> None:
        self.n_clusters = n_clusters
        self.max_rows = max_rows
        self.balance_classes = balance_classes

    def _split(
        self,
        X: RowSet,
        classes: NDArray[np.intp],
        n_partitions: int,
        kernel: KernelLike | None,
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]:
        rows = sample_rows(X.shape[0], check_at_least_one(self.max_rows, "max_rows"), rng)
        n_clusters = min(check_at_least_one(self.n_clusters, "n_clusters"), len(rows))
        means = KMeans(n_clusters, n_init=1, random_state=rng)
        # With several threads k-means adds up its centres in no fixed order, and equal seeds may differ.
        with threadpool_limits(limits=1), warnings.catch_warnings():
            # Fewer distinct rows than clusters is fine: some clusters stay empty.
            warnings.simplefilter("ignore", ConvergenceWarning)
            means.fit(_narrow(X[rows]))
        self.clusters_ = X.map_rows(partial(_nearest_centre, means))
        self.centers_ = means.cluster_centers_
        alike = np.zeros_like(classes)
        return deal(self.clusters_, classes if self.balance_classes else alike, n_partitions, rng)


def _nearest_centre(means: KMeans, rows: Rows) -> NDArray[np.intp]:
    with threadpool_limits(limits=1):
        return means.predict(_narrow(rows)).astype(np.intp, copy=False)


def _narrow(X: Rows) -> Rows:
    """CSR with 32-bit indices where they suffice: scikit-learn's k-means takes no others."""
    if not is_sparse(X) or X.indices.dtype == np.int32 or X.nnz > np.iinfo(np.int32).max:
        return X
    return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
