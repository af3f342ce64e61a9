"""Sparse matrices that do not fit: one ValueError, at every entrance, where there was a crash of the process.

Matrices are broken after they are made, as a mistake in a caller's own code would: SciPy's constructor would
have seen most of it, and nothing looks again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from sodm import (
    CascadeClassifier,
    DCClassifier,
    LinearODMClassifier,
    LinearODMRegressor,
    ODMClassifier,
    ODMClassifierCV,
    ODMRegressor,
    SODMClassifier,
    SODMRegressor,
    explain,
)
from sodm.partition import ClusterPartitioner, RandomPartitioner, StratifiedPartitioner
from sodm.partition.angle import minimal_principal_angle
from sodm.problem.csr import check_csr
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.fold import fold, row_hashes
from sodm.problem.kernels import Kernel
from sodm.problem.rows import canonical

N, D = 60, 7
FAR = 2**28  # far enough out of range to crash rather than to read a neighbour


def rows(dtype: Any = np.float64, index: Any = np.int32) -> Any:
    X = sparse.random(
        N, D, density=0.5, random_state=np.random.RandomState(0), format="csr", dtype=np.float64
    )
    X.data[:] = np.round(X.data * 100)
    X = X.astype(dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


def labels() -> Any:
    return np.arange(N) % 2


def index_beyond(X: Any) -> None:
    X.indices[40] = FAR


def index_just_beyond(X: Any) -> None:
    X.indices[-1] = D


def index_negative(X: Any) -> None:
    X.indices[3] = -FAR


def pointer_from_one(X: Any) -> None:
    X.indptr[0] = 1


def pointer_falls(X: Any) -> None:
    X.indptr[20] = X.indptr[30]


def pointer_beyond(X: Any) -> None:
    X.indptr[-1] = FAR


def pointer_negative(X: Any) -> None:
    X.indptr[5] = -FAR


def pointer_short(X: Any) -> None:
    X.indptr = X.indptr[:-9].copy()


def pointer_long(X: Any) -> None:
    X.indptr = np.append(X.indptr, X.indptr[-1])


def indices_short(X: Any) -> None:
    X.indices = X.indices[:-5].copy()


FAULTS: dict[Callable[[Any], None], str] = {
    index_beyond: r"row \d+ has the index 268435456 where there are 7 columns",
    index_just_beyond: "row 59 has the index 7 where there are 7 columns",
    index_negative: "has the index -268435456",
    pointer_from_one: "indptr begins with 1",
    pointer_falls: "indptr falls from",
    pointer_beyond: "indptr ends with 268435456",
    pointer_negative: "indptr falls from",
    pointer_short: "indptr has 52 entries where there must be 61",
    pointer_long: "indptr has 62 entries where there must be 61",
    indices_short: "indices for",
}


def broken(fault: Callable[[Any], None], **kind: Any) -> Any:
    X = rows(**kind)
    fault(X)
    return X


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_what_is_wrong_is_named(fault: Callable[[Any], None], index: Any, dtype: Any) -> None:
    with pytest.raises(ValueError, match=FAULTS[fault]):
        canonical(broken(fault, dtype=dtype, index=index))


KERNEL = KernelEvaluator(Kernel("rbf", gamma=0.1))
GOOD = rows()

ENTRANCES: dict[str, Callable[[Any], Any]] = {
    "exact fit": lambda X: ODMClassifier().fit(X, labels()),
    "exact fit, callable": lambda X: ODMClassifier(kernel=lambda A, B: (A @ B.T).toarray()).fit(X, labels()),
    "exact predict": lambda X: ODMClassifier().fit(GOOD, labels()).predict(X),
    "exact linear kernel predict": lambda X: ODMClassifier(kernel="linear").fit(GOOD, labels()).predict(X),
    "tree fit": lambda X: SODMClassifier(n_partitions=2).fit(X, labels()),
    "tree eval_set": lambda X: SODMClassifier(n_partitions=2).fit(GOOD, labels(), eval_set=(X, labels())),
    "cascade fit": lambda X: CascadeClassifier(n_partitions=2).fit(X, labels()),
    "early clusters predict": lambda X: (
        DCClassifier(n_partitions=2, early=True).fit(GOOD, labels()).predict(X)
    ),
    "linear fit": lambda X: LinearODMClassifier().fit(X, labels()),
    "linear dcd fit": lambda X: LinearODMClassifier(solver="dcd", lam=1e-3).fit(X, labels()),
    "linear eval_set": lambda X: LinearODMClassifier().fit(GOOD, labels(), eval_set=(X, labels())),
    "linear partial_fit": lambda X: LinearODMClassifier().partial_fit(X, labels(), classes=[0, 1]),
    "linear fit_chunks": lambda X: LinearODMClassifier().fit_chunks(lambda: iter([(X, labels())])),
    "linear predict": lambda X: LinearODMClassifier().fit(GOOD, labels()).predict(X),
    "regression fit": lambda X: ODMRegressor().fit(X, labels()),
    "regression predict": lambda X: ODMRegressor().fit(GOOD, labels()).predict(X),
    "regions fit": lambda X: SODMRegressor(regions=2).fit(X, labels()),
    "regions predict": lambda X: SODMRegressor(regions=2).fit(GOOD, labels()).predict(X),
    "linear regression fit": lambda X: LinearODMRegressor().fit(X, labels()),
    "linear regression predict": lambda X: LinearODMRegressor().fit(GOOD, labels()).predict(X),
    "linear regression fit_chunks": lambda X: LinearODMRegressor().fit_chunks(lambda: iter([(X, labels())])),
    "search": lambda X: ODMClassifierCV(gammas=[0.1], lams=[1.0]).fit(X, labels()),
    "explain": lambda X: explain(ODMClassifier().fit(GOOD, labels()), X, GOOD),
    "explain, background": lambda X: explain(ODMClassifier().fit(GOOD, labels()), GOOD, X),
    "kernel block": lambda X: KERNEL.block(X, GOOD),
    "kernel apply": lambda X: KERNEL.apply(GOOD, X, np.ones(N)),
    "kernel diag": lambda X: Kernel("linear").diag(X),
    "fold": lambda X: fold(X, labels(), np.ones(N)),
    "row_hashes": lambda X: row_hashes(X),
    "random partition": lambda X: RandomPartitioner().split(X, labels(), 3),
    "stratified partition": lambda X: StratifiedPartitioner().split(X, labels(), 3, KERNEL, 0),
    "cluster partition": lambda X: ClusterPartitioner().split(X, labels(), 3, KERNEL, 0),
    "assignment to clusters": lambda X: ClusterPartitioner().cluster(GOOD, 2, KERNEL, 0).assign(X),
    "angle": lambda X: minimal_principal_angle(X, labels(), KERNEL),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("fault", [index_beyond, pointer_beyond, pointer_falls, pointer_short])
def test_every_entrance_is_watched(entrance: str, fault: Callable[[Any], None]) -> None:
    ENTRANCES[entrance](rows())
    with pytest.raises(ValueError, match=FAULTS[fault]):
        ENTRANCES[entrance](broken(fault))


@pytest.mark.parametrize(
    "entrance", [name for name in ENTRANCES if "fold" not in name and "hash" not in name]
)
@pytest.mark.parametrize("made", ["csr of integers", "csc", "bsr", "coo"])
def test_so_are_matrices_that_have_to_be_converted(entrance: str, made: str) -> None:
    """scikit-learn and SciPy convert them, and crash if nobody looks before."""
    X = rows(dtype=np.int64) if made == "csr of integers" else rows().asformat(made)
    ENTRANCES[entrance](X)
    if made == "coo":
        X.col[5] = FAR
    else:
        X.indices[5] = FAR
    with pytest.raises(
        ValueError, match=r"is no (CSR|CSC|BSR|COO) matrix: .*(index 268435456|beyond its shape)"
    ):
        ENTRANCES[entrance](X)


def test_a_wrong_flag_is_not_believed() -> None:
    """A matrix that says its indices ascend, and they do not, is sorted all the same."""
    X = rows()
    good = X.toarray()
    X.indices[X.indptr[0] : X.indptr[1]] = X.indices[X.indptr[0] : X.indptr[1]][::-1].copy()
    X.data[X.indptr[0] : X.indptr[1]] = X.data[X.indptr[0] : X.indptr[1]][::-1].copy()
    X.has_sorted_indices = X.has_canonical_format = True
    assert not check_csr(X)
    before = X.indices.copy()
    made = canonical(X)
    assert check_csr(made)
    np.testing.assert_array_equal(made.toarray(), good)
    np.testing.assert_array_equal(X.indices, before)


def test_room_that_is_not_used_is_left_out() -> None:
    """More values than indptr tells of are allowed in SciPy, and mean nothing."""
    X, y = rows(), labels()
    roomy = sparse.csr_matrix(X.shape)
    roomy.data, roomy.indices = (
        np.append(X.data, [np.nan, 5.0]),
        np.append(X.indices, [FAR, 0]).astype(np.int32),
    )
    roomy.indptr = X.indptr
    made = canonical(roomy)
    assert len(made.data) == X.nnz and len(roomy.data) == X.nnz + 2
    np.testing.assert_array_equal(made.toarray(), X.toarray())
    np.testing.assert_array_equal(
        LinearODMClassifier().fit(made, y).coef_, LinearODMClassifier().fit(X, y).coef_
    )


def test_ascending_is_told_from_sorted_with_repeats_and_from_not_sorted() -> None:
    rng = np.random.default_rng(0)
    for n, d, share in ((1, 1, 0.0), (1, 9, 1.0), (400, 5, 0.3), (30, 3000, 0.5), (2000, 50, 0.02)):
        X = sparse.csr_matrix(rng.normal(size=(n, d)) * (rng.random((n, d)) < share))
        assert check_csr(X)
        long = np.flatnonzero(np.diff(X.indptr) > 1)
        for row in rng.permutation(long)[:5]:
            at = X.indptr[row] + int(rng.integers(np.diff(X.indptr)[row] - 1))
            for same in (True, False):
                kept = X.indices.copy()
                X.indices[at + 1] = kept[at] if same else kept[at + 1]
                X.indices[at] = kept[at] if same else kept[at + 1]
                assert not check_csr(X)
                X.indices = kept
        assert check_csr(X)
