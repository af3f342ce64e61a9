"""Partitions that are clusters in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from sodm.partition.base import (
    KernelLike,
    Partitioner,
    RandomState,
    as_rows,
    check_at_least_one,
    check_n_partitions,
    require_kernel,
)
from sodm.partition.basis import Basis, chunks
from sodm.partition.dealing import sample_rows
from sodm.partition.kernel_kmeans import kernel_kmeans


class ClusterPartitioner(Partitioner):
    """Kernel k-means in two steps, each cluster a partition: DC-SVM (Hsieh et al., 2014).

    First a sample of the rows is clustered, then every row joins the cluster whose centre, the mean of its sample
    rows in feature space, is nearest. Clusters differ in size, and one may have rows of one class only.

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
    cluster_sizes_ : int array of shape (n_partitions,)
        Rows in each partition; a cluster may be empty where there are few distinct rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sodm.partition import ClusterPartitioner
    >>> from sodm.problem.kernels import Kernel
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    >>> partitioner = ClusterPartitioner()
    >>> parts = partitioner.split(X, None, 2, Kernel("rbf", gamma=1.0), random_state=0)
    >>> len(set(parts[:3])), len(set(parts[3:])), parts[0] != parts[3]
    (1, 1, True)
    >>> bool(partitioner.assign(np.array([[8.0]]))[0] == parts[3])
    True
    """

    def __init__(self, n_samples: int = 1000, max_iter: int = 100) -> None:
        self.n_samples = n_samples
        self.max_iter = max_iter

    def split(
        self,
        X: Any,
        y: ArrayLike | None,
        n_partitions: int,
        kernel: KernelLike | None = None,
        random_state: RandomState = None,
        rows: ArrayLike | None = None,
    ) -> NDArray[np.intp]:
        """The number of the cluster of each row.

        Parameters
        ----------
        X, y, n_partitions, kernel, random_state
            As for all partitioners; y plays no part.
        rows : int array, optional
            Cluster only these rows, and let all others join: with the support vectors of the current solution this
            is the adaptive clustering of DC-SVM.
        """
        X = as_rows(X)
        check_n_partitions(n_partitions, X.shape[0])
        chosen = np.arange(X.shape[0]) if rows is None else np.asarray(rows, dtype=np.intp)
        if chosen.ndim != 1 or len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= X.shape[0]:
            raise ValueError(f"rows must be a list of row numbers from 0 to {X.shape[0] - 1}, with at least one.")
        return self._cluster(X, chosen, int(n_partitions), require_kernel(kernel, self), check_random_state(random_state))

    def _split(
        self,
        X: Any,
        classes: NDArray[np.intp],
        n_partitions: int,
        kernel: KernelLike | None,
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]:
        return self._cluster(X, np.arange(X.shape[0]), n_partitions, require_kernel(kernel, self), rng)

    def _cluster(
        self, X: Any, rows: NDArray[np.intp], n_partitions: int, kernel: KernelLike, rng: np.random.RandomState
    ) -> NDArray[np.intp]:
        n_samples = max(check_at_least_one(self.n_samples, "n_samples"), 10 * n_partitions)
        self.sample_rows_ = rows[sample_rows(len(rows), n_samples, rng)]
        self._basis = Basis.of(kernel, X, self.sample_rows_)
        max_iter = check_at_least_one(self.max_iter, "max_iter")
        found = kernel_kmeans(self._basis.gram(X), n_partitions, max_iter, rng)
        self.sample_clusters_, self._means, self._half_norms = found.clusters, found.means, found.norms / 2
        assignment = self.assign(X)
        self.cluster_sizes_ = np.bincount(assignment, minlength=n_partitions)
        return assignment

    def assign(self, X: Any) -> NDArray[np.intp]:
        """The nearest cluster of each row, of the last split's data or new; early prediction goes by it.

        For a precomputed kernel X holds the values of these rows with all rows of that split.
        """
        X = as_rows(X)
        nearest = np.empty(X.shape[0], dtype=np.intp)
        for run in chunks(X.shape[0], max(self._means.shape)):
            # |phi(x) - c|^2 = k(x, x) - 2 <phi(x), c> + |c|^2, and the first term is the same for all centres.
            np.argmax(self._basis.apply(X[run], self._means) - self._half_norms, axis=1, out=nearest[run])
        return nearest
