"""Who sits together: ways to divide the rows of a data set into partitions.

    StratifiedPartitioner              strata around landmarks in feature space, dealt      SODM, SSVM
    RandomPartitioner                  all rows dealt at random                             Ca-ODM, Ca-SVM
    DistributionPreservingPartitioner  k-means clusters in input space, dealt               DiP-ODM, DiP-SVM
    ClusterPartitioner                 kernel k-means clusters, each its own partition      DC-ODM, DC-SVM

To deal a stratum or cluster is to give every partition an equal piece of it, at random.

`theory` has the quantities and bounds of the paper's two theorems.
"""

from sodm.partition.base import KernelLike, Partitioner
from sodm.partition.cluster import ClusterPartitioner
from sodm.partition.distribution import DistributionPreservingPartitioner
from sodm.partition.random import RandomPartitioner
from sodm.partition.stratified import StratifiedPartitioner

__all__ = [
    "ClusterPartitioner",
    "DistributionPreservingPartitioner",
    "KernelLike",
    "Partitioner",
    "RandomPartitioner",
    "StratifiedPartitioner",
]
