"""Partitions that are clusters in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from sodm.partition.base import (
    KernelLike,
    Partitioner,
    RandomState,
    check_at_least_one,
    check_n_partitions,
    evaluator_of,
    require_kernel,
)
from sodm.partition.basis import Basis, chunks
from sodm.partition.dealing import sample_rows
from sodm.partition.kernel_kmeans import kernel_kmeans
from sodm.problem.array_rows import as_row_set
from sodm.problem.kernels import Kernel
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import Rows


class ClusterPartitioner(Partitioner):
    """Kernel k-means in two steps, each cluster a partition: DC-SVM (Hsieh et al., 2014).

    First a sample of the rows is clustered, then every row joins the cluster whose centre, the mean of its
    sample rows in feature space, is nearest. Clusters differ in size, one may have rows of one class only,
    and some may be empty where there are few distinct rows.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows to cluster, drawn at random; at least ten for each cluster are taken where there are so many.
    max_iter : int, default=100
        Most passes over the sample.

    Attributes
    ----------
    sample_rows_ : int array
        Row numbers of the sample.
    sample_clusters_ : int array
        The cluster of each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sodm.partition import ClusterPartitioner
    >>> from sodm.problem.kernels import Kernel
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    >>> partitioner = ClusterPartitioner()
    >>> parts = partitioner.split(X, None, 2, Kernel("rbf", gamma=1.0), random_state=0)
    >>> (parts == parts[0]).tolist()
    [True, True, True, False, False, False]
    >>> bool(partitioner.assign(np.array([[8.0]]))[0] == parts[3])
    True
    """

    def __init__(self, n_samples: int = 1000, max_iter: int = 100) -> None:
        self.n_samples = n_samples
        self.max_iter = max_iter

    def _split(
        self,
        X: RowSet,
        classes: NDArray[np.intp],
        n_partitions: int,
        kernel: KernelLike | None,
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]:
        return self.cluster(X, n_partitions, require_kernel(kernel, self), rng).assign(X)

    def cluster(
        self,
        X: Any,
        n_clusters: int,
        kernel: Kernel | KernelLike,
        random_state: RandomState = None,
        rows: ArrayLike | None = None,
    ) -> ClusterPartitioner:
        """The first step alone: finds the clusters, which `assign` then tells for any rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, n_features)
            The rows, as for `split`.
        n_clusters : int
            From 1 to n.
        kernel : Kernel or KernelLike
        random_state : int, RandomState or None
        rows : int array, optional
            Cluster only these rows of X: with the support vectors of the current solution, this is the
            adaptive clustering of DC-SVM.
        """
        X = as_row_set(X)
        check_n_partitions(n_clusters, X.shape[0])
        rng = check_random_state(random_state)
        chosen = np.arange(X.shape[0]) if rows is None else np.asarray(rows, dtype=np.intp)
        if chosen.ndim != 1 or len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= X.shape[0]:
            raise ValueError(
                f"rows must be a list of row numbers from 0 to {X.shape[0] - 1}, with at least one."
            )
        n_samples = max(check_at_least_one(self.n_samples, "n_samples"), 10 * n_clusters)
        self.sample_rows_ = chosen[sample_rows(len(chosen), n_samples, rng)]
        self._basis = Basis.of(evaluator_of(kernel), X, self.sample_rows_)
        max_iter = check_at_least_one(self.max_iter, "max_iter")
        found = kernel_kmeans(self._basis.gram(X), n_clusters, max_iter, rng)
        self.sample_clusters_, self._means, self._half_norms = found.clusters, found.means, found.norms / 2
        return self

    def assign(self, X: Any) -> NDArray[np.intp]:
        """The nearest cluster of each row, old or new; early prediction goes by it.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, n_features)
            For a precomputed kernel, the values of these rows with all rows that were clustered from.

        Returns
        -------
        int array of shape (n,)
        """
        if not hasattr(self, "_basis"):
            raise NotFittedError("ClusterPartitioner has no clusters yet: call split or cluster first.")
        basis, means, half_norms = self._basis, self._means, self._half_norms

        def of(rows: Rows) -> NDArray[np.intp]:
            nearest = np.empty(rows.shape[0], dtype=np.intp)
            for run in chunks(rows.shape[0], max(means.shape)):
                # |phi(x) - c|^2 = k(x, x) - 2 <phi(x), c> + |c|^2; the first term is the same for all.
                np.argmax(basis.apply(rows[run], means) - half_norms, axis=1, out=nearest[run])
            return nearest

        return as_row_set(X).map_rows(of)
