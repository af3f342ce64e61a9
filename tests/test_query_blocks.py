"""Queries are taken in blocks: of sparse ones by what they store, and the cut changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from sodm import ODMClassifier
from sodm.problem import query_blocks as module
from sodm.problem.query_blocks import query_blocks


def test_blocks_cover_all_rows_within_the_limit() -> None:
    rng = np.random.default_rng(0)
    for n, d, share, most in ((100, 1000, 0.01, 50), (7, 3, 0.0, 2), (40, 5, 1.0, 1), (1, 1, 1.0, 10)):
        X = sparse.csr_matrix(rng.random((n, d)) < share, dtype=float)
        cuts = list(query_blocks(X, most=most))
        assert [i for cut in cuts for i in range(cut.start, cut.stop)] == list(range(n))
        assert all(X[cut].nnz <= most or cut.stop - cut.start == 1 for cut in cuts)
    assert list(query_blocks(sparse.csr_matrix((0, 5)))) == []


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "linear"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_row_alone_has_the_bits_it_has_in_a_batch(kernel: Any, classes: int) -> None:
    X = np.random.default_rng(0).normal(size=(300, 40))
    machine = ODMClassifier(kernel=kernel).fit(X, np.arange(300) % classes)
    batch = machine.decision_function(X)
    for some in ([0], [17], [3, 4, 5], list(range(100, 171))):
        assert np.array_equal(machine.decision_function(X[some]), batch[some])


def test_very_many_features_are_no_reason_to_go_row_by_row() -> None:
    X = sparse.csr_matrix(
        (np.ones(5000), np.arange(5000) * 200, np.arange(0, 5001, 5)), shape=(1000, 1_300_000)
    )
    assert len(list(query_blocks(X))) == 1
    # Where rows are made dense, all their features take memory.
    assert len(list(query_blocks(X, dense=True))) > 300


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "laplacian", "linear"])
@pytest.mark.parametrize("features", [30, 5000])
@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive")
def test_decisions_do_not_depend_on_the_cut(
    features: int, kernel: Any, precision: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X: Any = sparse.random(400, features, density=0.1, format="csr", random_state=np.random.RandomState(0))
    y = rng.integers(0, 3, size=400)
    machine = ODMClassifier(kernel=kernel, precision=precision, gamma=0.1, lam=10.0).fit(X[:150], y[:150])
    whole = machine.decision_function(X)
    for most in (1, 100, 3333):
        monkeypatch.setattr(module, "QUERIES_AT_ONCE", most)
        np.testing.assert_array_equal(machine.decision_function(X), whole)
        if kernel != "linear":  # which NumPy and SciPy add up, each in its own order
            np.testing.assert_array_equal(machine.decision_function(X.toarray()), whole)


def test_a_prediction_prepares_few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted where rows are made ready for the core: once for a thousand short rows, not once for three."""
    from sodm.problem.evaluator import KernelEvaluator

    X = sparse.csr_matrix(
        (np.ones(5000), np.arange(5000) * 200 % 1_300_000, np.arange(0, 5001, 5)), shape=(1000, 1_300_000)
    )
    machine = ODMClassifier(gamma=0.1).fit(X[:100], np.arange(100) % 2)
    machine.predict(X[:1])
    made = []
    points = KernelEvaluator.points

    def counted(self: KernelEvaluator, rows: Any, like: Any = None) -> Any:
        made.append(rows.shape[0])
        return points(self, rows, like)

    monkeypatch.setattr(KernelEvaluator, "points", counted)
    machine.predict(X)
    assert made == [1000]
