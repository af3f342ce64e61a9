"""The systems of the paper, each one line of composition: how rows are divided, and what moves up.

To add a system, add its line here and a class in `estimators/` for its parameters.
"""

from __future__ import annotations

from typing import NamedTuple

from sodm.partition import (
    ClusterPartitioner,
    DistributionPreservingPartitioner,
    Partitioner,
    RandomPartitioner,
    StratifiedPartitioner,
)
from sodm.trees.merge import Concatenate, KeepSupport, MergeRule, Recluster


class System(NamedTuple):
    """How rows are divided, and what moves up."""

    partition: Partitioner
    merge: MergeRule


def sodm(n_landmarks: int, merge: str) -> System:
    """SODM and SSVM, Algorithm 1: strata dealt to all parts, all instances move up."""
    return System(StratifiedPartitioner(n_landmarks=n_landmarks), Concatenate(merge))


def cascade(feedback: int) -> System:
    """Ca-ODM and Ca-SVM (Graf et al., 2004): random parts, support vectors move up."""
    return System(RandomPartitioner(), KeepSupport(whole=True, feedback=feedback))


def dip(n_clusters: int) -> System:
    """DiP-ODM and DiP-SVM (Singh et al., 2017): parts like the whole, then their support vectors at once."""
    partition = DistributionPreservingPartitioner(n_clusters=n_clusters)
    return System(partition, KeepSupport(whole=False, levels="two"))


def dc(early: bool) -> System:
    """DC-ODM and DC-SVM (Hsieh et al., 2014): clusters, found anew at each level on the support vectors."""
    clusters = ClusterPartitioner()
    return System(clusters, Recluster(clusters, early))
