"""The four partitioners: what all of them promise, and what each is for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from sodm.partition import (
    ClusterPartitioner,
    DistributionPreservingPartitioner,
    RandomPartitioner,
    StratifiedPartitioner,
)
from sodm.partition.angle import minimal_principal_angle
from sodm.partition.kernel_kmeans import kernel_kmeans
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel

PARTITIONERS = [
    StratifiedPartitioner(n_landmarks=7),
    RandomPartitioner(),
    DistributionPreservingPartitioner(n_clusters=5),
    ClusterPartitioner(n_samples=40),
]
DEALERS = PARTITIONERS[:3]  # they deal rows; clusters come in the sizes they have
RBF = KernelEvaluator(Kernel("rbf", gamma=0.5))


def by_name(partitioners):
    return pytest.mark.parametrize("partitioner", partitioners, ids=lambda p: type(p).__name__)


def blobs(n=120, seed=0, n_blobs=4, features=3):
    rng = np.random.default_rng(seed)
    blob = rng.integers(0, n_blobs, n)
    return rng.normal(size=(n, features)) + 6.0 * np.eye(n_blobs, features)[blob], blob


@st.composite
def problems(draw):
    """Small integer grids: many repeated rows, sometimes only one; any labels; any number of partitions."""
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = rng.integers(0, draw(st.integers(1, 4)), size=(n, 2)).astype(
        draw(st.sampled_from([np.float32, np.float64]))
    )
    y = np.where(np.arange(n) < draw(st.integers(0, n)), "yes", "no")
    return X, rng.permutation(y), draw(st.integers(1, n))


@by_name(PARTITIONERS)
@settings(deadline=None, max_examples=60)
@given(problem=problems(), seed=st.integers(0, 2**31))
def test_any_problem_is_divided(partitioner, problem, seed):
    X, y, k = problem
    parts = partitioner.split(X, y, k, RBF, seed)
    assert parts.shape == (len(X),) and parts.dtype == np.intp
    assert parts.min() >= 0 and parts.max() < k
    np.testing.assert_array_equal(parts, clone(partitioner).split(X, y, k, RBF, seed))


@by_name(DEALERS)
@settings(deadline=None, max_examples=60)
@given(problem=problems(), seed=st.integers(0, 2**31))
def test_sizes_and_classes_are_balanced(partitioner, problem, seed):
    X, y, k = problem
    parts = partitioner.split(X, y, k, RBF, seed)
    sizes = np.bincount(parts, minlength=k)
    assert sizes.max() - sizes.min() <= 1
    for label in np.unique(y):
        assert len(np.unique(parts[y == label])) == min(k, (y == label).sum())


@by_name(PARTITIONERS)
def test_sparse_rows_go_where_dense_rows_go(partitioner):
    X, _ = blobs()
    X[X < 0.3] = 0
    y = X[:, 0] > 1
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    expected = partitioner.split(X, y, 5, RBF, 3)
    for S in (sparse.csr_matrix(X), wide, sparse.csc_matrix(X)):
        np.testing.assert_array_equal(partitioner.split(S, y, 5, RBF, 3), expected)


@by_name(PARTITIONERS)
def test_threads_change_nothing(partitioner):
    X, _ = blobs(2000)
    y = X[:, 0] > 1
    one, three = (
        partitioner.split(X, y, 5, KernelEvaluator(Kernel("rbf", gamma=0.5), n_threads=t), random_state=0)
        for t in (1, 3)
    )
    np.testing.assert_array_equal(one, three)


@by_name(PARTITIONERS)
def test_another_seed_gives_other_partitions(partitioner):
    X, _ = blobs()
    assert (partitioner.split(X, None, 4, RBF, 0) != partitioner.split(X, None, 4, RBF, 1)).any()


@by_name([p for p in PARTITIONERS if not isinstance(p, DistributionPreservingPartitioner)])
def test_a_kernel_by_values_or_by_function(partitioner):
    """A precomputed matrix and a callable give what the same kernel gives by name."""
    X, _ = blobs()
    kernel = KernelEvaluator(Kernel("poly", gamma=0.2, coef0=1.0, degree=2, offset=0.5), "double")
    values = KernelEvaluator(Kernel("poly", gamma=0.2, coef0=1.0, degree=2), "double").block(X, X)
    expected = partitioner.split(X, X[:, 0] > 1, 3, kernel, 0)
    given_values = partitioner.split(
        values, X[:, 0] > 1, 3, KernelEvaluator(Kernel("precomputed", offset=0.5), "double"), 0
    )
    function = KernelEvaluator(Kernel(lambda A, B: (0.2 * A @ B.T + 1.0) ** 2, offset=0.5), "double")
    np.testing.assert_array_equal(given_values, expected)
    np.testing.assert_array_equal(partitioner.split(X, X[:, 0] > 1, 3, function, 0), expected)


class Plain:
    """The least a kernel has to be: the three methods of `KernelLike`."""

    def block(self, A, B):
        return (A @ B.T + 1.0) ** 2

    def apply(self, A, B, V):
        return self.block(A, B) @ V

    def diag(self, A):
        return ((A * A).sum(axis=1) + 1.0) ** 2


@by_name([p for p in PARTITIONERS if not isinstance(p, DistributionPreservingPartitioner)])
def test_three_methods_make_a_kernel(partitioner):
    X, _ = blobs()
    kernel = KernelEvaluator(Kernel("poly", gamma=1.0, coef0=1.0, degree=2), "double")
    expected = partitioner.split(X, None, 3, kernel, 0)
    np.testing.assert_array_equal(partitioner.split(X, None, 3, Plain(), 0), expected)


@by_name(PARTITIONERS)
def test_what_makes_no_sense_is_refused(partitioner):
    X, _ = blobs(20)
    with pytest.raises(ValueError, match="n_partitions=21 is more than the 20 rows"):
        partitioner.split(X, None, 21, RBF, 0)
    with pytest.raises(ValueError, match="n_partitions must be a whole number"):
        partitioner.split(X, None, 0, RBF, 0)
    with pytest.raises(ValueError, match="n_partitions must be a whole number"):
        partitioner.split(X, None, 2.5, RBF, 0)
    with pytest.raises(ValueError, match="y must have one label for each of the 20 rows"):
        partitioner.split(X, np.ones(19), 2, RBF, 0)
    with pytest.raises(ValueError, match="two dimensions"):
        partitioner.split(X[:, 0], None, 2, RBF, 0)


@pytest.mark.parametrize("partitioner", [StratifiedPartitioner(), ClusterPartitioner()])
def test_a_kernel_is_needed(partitioner):
    with pytest.raises(ValueError, match="pass kernel="):
        partitioner.split(np.zeros((3, 1)), None, 2)


@pytest.mark.parametrize(
    "partitioner",
    [
        StratifiedPartitioner(n_landmarks=0),
        StratifiedPartitioner(max_rows=0),
        StratifiedPartitioner(angle_rows=-1),
        ClusterPartitioner(n_samples=0),
        ClusterPartitioner(max_iter=0),
        DistributionPreservingPartitioner(n_clusters=0),
        DistributionPreservingPartitioner(max_rows=0),
    ],
    ids=repr,
)
def test_parameters_are_checked(partitioner):
    with pytest.raises(ValueError, match="must be a whole number from 1 on"):
        partitioner.split(np.zeros((3, 1)), None, 2, RBF, 0)


# ------------------------------------------------------------------------------------------------- stratified


@pytest.mark.parametrize(
    "kernel",
    [
        RBF,
        KernelEvaluator(Kernel("poly", gamma=0.3, coef0=1.0, degree=2)),
        KernelEvaluator(Kernel("laplacian", gamma=0.2)),
    ],
    ids=lambda k: k.kernel.name,
)
def test_strata_are_nearest_landmarks_in_feature_space(kernel):
    X, _ = blobs()
    partitioner = StratifiedPartitioner(n_landmarks=9)
    partitioner.split(X, None, 4, kernel, 0)
    z = X[partitioner.landmarks_]
    distance = kernel.diag(X)[:, None] - 2 * kernel.block(X, z) + kernel.diag(z)
    assert partitioner.landmarks_[0] == 0
    own = distance[np.arange(len(X)), partitioner.strata_]
    assert (own <= distance.min(axis=1) + 1e-4 * kernel.diag(X).max()).all()
    np.testing.assert_array_equal(partitioner.strata_[partitioner.landmarks_], np.arange(9))
    np.testing.assert_array_equal(partitioner.strata_sizes_, np.bincount(partitioner.strata_, minlength=9))


def test_landmarks_follow_the_rule_of_the_paper():
    """z_{s+1} = argmin K_{s,s+1}' K_ss^-1 K_{s,s+1} for a shift-invariant kernel."""
    X, _ = blobs(80)
    partitioner = StratifiedPartitioner(n_landmarks=8)
    partitioner.split(X, None, 2, KernelEvaluator(Kernel("rbf", gamma=0.05), "double"), 0)
    K = np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=2))
    landmarks = [0]
    while len(landmarks) < 8:
        k = K[landmarks]
        landmarks.append(int(np.argmin((k * np.linalg.solve(k[:, landmarks], k)).sum(axis=0))))
    assert partitioner.landmarks_.tolist() == landmarks


def test_each_partition_looks_like_the_whole():
    """Four far blobs are four strata, and every partition has an equal piece of each."""
    X, blob = blobs(400)
    partitioner = StratifiedPartitioner(n_landmarks=4)
    parts = partitioner.split(100 * np.eye(4)[blob] + 0.01 * X[:, :1], None, 8, RBF, 0)
    for b in range(4):
        shares = np.bincount(parts[blob == b], minlength=8)
        assert shares.max() - shares.min() <= 1


def test_landmarks_from_a_sample():
    X, _ = blobs(500)
    partitioner = StratifiedPartitioner(n_landmarks=6, max_rows=50, angle_rows=100)
    partitioner.split(X, None, 3, RBF, 0)
    assert len(partitioner.landmarks_) == 6 and partitioner.landmarks_[0] == 0
    assert len(partitioner.strata_) == 500
    assert not partitioner.angle_is_exact_
    assert partitioner.minimal_principal_angle_ >= minimal_principal_angle(X, partitioner.strata_, RBF)


def test_the_angle_is_that_of_the_last_split_and_of_values_too():
    X, _ = blobs(200)
    values = KernelEvaluator(Kernel("rbf", gamma=0.5), "double").block(X, X)
    by_name, by_values = (StratifiedPartitioner(n_landmarks=6, angle_rows=50) for _ in range(2))
    by_name.split(X, None, 3, KernelEvaluator(Kernel("rbf", gamma=0.5), "double"), 0)
    by_values.split(values, None, 3, KernelEvaluator(Kernel("precomputed"), "double"), 0)
    first = by_name.minimal_principal_angle_
    assert by_values.minimal_principal_angle_ == pytest.approx(first, rel=1e-6) and 0 < first < np.pi
    by_name.split(X * 10, None, 3, KernelEvaluator(Kernel("rbf", gamma=0.5), "double"), 0)
    assert by_name.minimal_principal_angle_ > first  # further apart
    with pytest.raises(AttributeError):
        StratifiedPartitioner().minimal_principal_angle_  # noqa: B018


def test_more_landmarks_than_rows():
    X, _ = blobs(10)
    partitioner = StratifiedPartitioner(n_landmarks=50)
    parts = partitioner.split(X, None, 10, RBF, 0)
    assert sorted(parts) == list(range(10))
    assert sorted(partitioner.landmarks_) == list(range(10))


@pytest.mark.parametrize("kernel", [RBF, KernelEvaluator(Kernel("linear"))], ids=lambda k: k.kernel.name)
@pytest.mark.parametrize("value", [0.0, 2.0])
def test_identical_rows_are_one_stratum(kernel, value):
    partitioner = StratifiedPartitioner(n_landmarks=5)
    parts = partitioner.split(np.full((12, 3), value), None, 4, kernel, 0)
    assert np.bincount(parts).tolist() == [3, 3, 3, 3]
    assert partitioner.landmarks_.tolist() == [0]
    assert partitioner.minimal_principal_angle_ == np.pi


def test_a_tiny_class_reaches_every_partition():
    X, _ = blobs(300)
    y = np.zeros(300)
    y[np.random.default_rng(0).choice(300, 8, replace=False)] = 1
    parts = StratifiedPartitioner(n_landmarks=10).split(X, y, 8, RBF, 0)
    assert sorted(parts[y == 1]) == list(range(8))


def test_strata_regardless_of_class():
    """The paper's own dealing: pieces of each stratum differ by at most one, classes fall as they may."""
    X, _ = blobs(203)
    partitioner = StratifiedPartitioner(n_landmarks=10, balance_classes=False)
    parts = partitioner.split(X, X[:, 0] > 1, 6, RBF, 0)
    for s in range(10):
        pieces = np.bincount(parts[partitioner.strata_ == s], minlength=6)
        assert pieces.max() - pieces.min() <= 1
    sizes = np.bincount(parts)
    assert sizes.max() - sizes.min() <= 1


def test_principal_angle_over_all_pairs():
    X, _ = blobs(90)
    strata = np.random.default_rng(1).integers(0, 5, 90)
    K = KernelEvaluator(Kernel("poly", gamma=0.3, coef0=1.0, degree=2), "double")
    values = K.block(X, X)
    cosine = values / np.sqrt(np.outer(np.diagonal(values), np.diagonal(values)))
    expected = np.arccos(cosine[strata[:, None] != strata].max())
    assert minimal_principal_angle(X, strata, K) == pytest.approx(expected, rel=1e-6)


def test_principal_angle_leaves_zero_rows_out():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    tau = minimal_principal_angle(X, np.array([0, 1, 2]), Kernel("linear"))
    assert tau == pytest.approx(np.pi / 2)


# ---------------------------------------------------------------------------------------------------- cluster


def test_clusters_are_found():
    X, blob = blobs(300, n_blobs=3)
    parts = ClusterPartitioner(n_samples=100).split(X, None, 3, Kernel("rbf", gamma=0.05), 0)
    table = np.array([np.bincount(parts[blob == b], minlength=3) for b in range(3)])
    assert (table.max(axis=1) / table.sum(axis=1) > 0.97).all()
    assert sorted(table.argmax(axis=1)) == [0, 1, 2]


def test_kernel_kmeans_ends_at_a_fixed_point():
    X, _ = blobs(150)
    K = RBF.block(X, X)
    found = kernel_kmeans(K, 5, 200, np.random.RandomState(0))
    distance = np.array(
        [
            np.diagonal(K)
            - 2 * K[:, found.clusters == j].mean(axis=1)
            + K[np.ix_(*[found.clusters == j] * 2)].mean()
            for j in range(5)
        ]
    )
    np.testing.assert_array_equal(distance.argmin(axis=0), found.clusters)
    np.testing.assert_allclose(found.norms, [K[np.ix_(*[found.clusters == j] * 2)].mean() for j in range(5)])


def test_kernel_kmeans_fills_empty_clusters():
    """Ten distinct points and ten clusters: each its own, from any start."""
    x = np.repeat(np.arange(10.0), 3)
    K = np.exp(-((x[:, None] - x) ** 2))
    for seed in range(20):
        assert len(np.unique(kernel_kmeans(K, 10, 100, np.random.RandomState(seed)).clusters)) == 10


def test_new_rows_join_the_nearest_cluster():
    X, _ = blobs(200)
    new, _ = blobs(50, seed=5)
    partitioner = ClusterPartitioner()
    parts = partitioner.split(X, None, 4, RBF, 0)
    np.testing.assert_array_equal(partitioner.assign(X), parts)
    np.testing.assert_array_equal(partitioner.assign(sparse.csr_matrix(new)), partitioner.assign(new))
    distance = np.array(
        [
            1
            - 2 * RBF.block(new, X[parts == j]).mean(axis=1)
            + RBF.block(X[parts == j], X[parts == j]).mean()
            for j in range(4)
        ]
    )
    np.testing.assert_array_equal(partitioner.assign(new), distance.argmin(axis=0))


def test_new_rows_of_a_precomputed_kernel():
    X, _ = blobs(100)
    new, _ = blobs(30, seed=5)
    by_name, by_values = ClusterPartitioner(n_samples=50), ClusterPartitioner(n_samples=50)
    by_name.split(X, None, 4, RBF, 0)
    by_values.split(RBF.block(X, X), None, 4, KernelEvaluator(Kernel("precomputed")), 0)
    np.testing.assert_array_equal(by_values.assign(RBF.block(new, X)), by_name.assign(new))


def test_clustering_on_chosen_rows():
    """Adaptive clustering: only these rows shape the clusters, all rows are assigned."""
    X, _ = blobs(200)
    support = np.arange(10, 60)
    partitioner = ClusterPartitioner().cluster(X, 4, RBF, 0, rows=support)
    np.testing.assert_array_equal(partitioner.sample_rows_, support)
    alone = ClusterPartitioner()
    alone.split(X[support], None, 4, RBF, 0)
    np.testing.assert_array_equal(partitioner.assign(X), alone.assign(X))
    with pytest.raises(ValueError, match="row numbers from 0 to 199"):
        partitioner.cluster(X, 4, RBF, 0, rows=[200])


def test_assign_needs_clusters():
    with pytest.raises(ValueError, match="call split or cluster first"):
        ClusterPartitioner().assign(np.zeros((2, 1)))


# ---------------------------------------------------------------------------- distribution preserving


def test_every_cluster_is_dealt_evenly():
    X, _ = blobs(300)
    partitioner = DistributionPreservingPartitioner(n_clusters=6, max_rows=100, balance_classes=False)
    parts = partitioner.split(X, None, 7, random_state=0)
    nearest = ((X[:, None] - partitioner.centers_) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(partitioner.clusters_, nearest)
    for c in range(6):
        pieces = np.bincount(parts[partitioner.clusters_ == c], minlength=7)
        assert pieces.max() - pieces.min() <= 1
