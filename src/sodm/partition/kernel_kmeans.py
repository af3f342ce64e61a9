"""Kernel k-means on a Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class KernelMeans:
    """Clusters of m points and their centres c_j = sum_i means[i, j] phi(x_i)."""

    clusters: NDArray[np.intp]  # (m,)
    means: NDArray[np.float64]  # (m, k): 1 / size of cluster j where point i belongs to it, else 0
    norms: NDArray[np.float64]  # (k,): |c_j|^2, infinite for an empty cluster, which nothing then joins


def kernel_kmeans(
    gram: NDArray[np.float64], n_clusters: int, max_iter: int, rng: np.random.RandomState
) -> KernelMeans:
    """Lloyd's passes in feature space from a k-means++ start.

    A cluster that loses all its points takes over the point furthest from its own centre; only when every
    point sits on its centre, as where there are fewer distinct points than clusters, clusters stay empty.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 5.0, 5.1])
    >>> found = kernel_kmeans(np.outer(x, x), 2, 10, np.random.RandomState(0))
    >>> (found.clusters == found.clusters[0]).tolist()
    [True, True, False, False]
    """
    # One thread, so that sums are added in one order everywhere; the matrix is small.
    with threadpool_limits(limits=1):
        clusters = _seed(gram, n_clusters, rng)
        for _ in range(max_iter):
            centres = _centres(gram, clusters, n_clusters)
            moved = _nearest(gram, centres)
            if np.array_equal(moved, clusters):
                break
            clusters = moved
        return _centres(gram, clusters, n_clusters)


def _seed(gram: NDArray[np.float64], n_clusters: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """k-means++: each next centre is a point drawn in proportion to its squared distance to the others."""
    diagonal = np.diagonal(gram)
    m = len(diagonal)
    clusters = np.zeros(m, dtype=np.intp)
    distance = np.full(m, np.inf)
    seed = rng.randint(m)
    for j in range(min(n_clusters, m)):
        if j > 0:
            total = np.cumsum(distance)
            if total[-1] <= 0:
                break
            seed = int(np.searchsorted(total, rng.uniform() * total[-1], side="right"))
        new = np.maximum(diagonal - 2 * gram[:, seed] + diagonal[seed], 0.0)
        new[seed] = 0.0
        clusters[new < distance] = j
        distance = np.minimum(distance, new)
    return clusters


def _centres(gram: NDArray[np.float64], clusters: NDArray[np.intp], n_clusters: int) -> KernelMeans:
    m = len(clusters)
    sizes = np.bincount(clusters, minlength=n_clusters)
    means = np.zeros((m, n_clusters))
    means[np.arange(m), clusters] = 1.0 / sizes[clusters]
    norms = np.einsum("ij,ij->j", means, gram @ means)
    return KernelMeans(clusters, means, np.where(sizes > 0, norms, np.inf))


def _nearest(gram: NDArray[np.float64], centres: KernelMeans) -> NDArray[np.intp]:
    distance = np.diagonal(gram)[:, None] - 2 * gram @ centres.means + centres.norms
    clusters = np.argmin(distance, axis=1)
    own = distance[np.arange(len(clusters)), clusters]
    noise = 1e-6 * np.abs(np.diagonal(gram)).max()
    sizes = np.bincount(clusters, minlength=len(centres.norms))
    for empty in np.flatnonzero(sizes == 0):
        own[sizes[clusters] == 1] = 0.0  # a cluster's only point stays
        furthest = int(np.argmax(own))
        if own[furthest] <= noise:
            break
        sizes[clusters[furthest]] -= 1
        clusters[furthest], sizes[empty], own[furthest] = empty, 1, 0.0
    return clusters
