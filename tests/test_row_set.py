"""Rows that are elsewhere: here they are in a few pieces, and must give what one array gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import rows_and_labels, weights_for
from scipy import sparse

from sodm import CascadeClassifier, DCClassifier, DiPClassifier, SODMClassifier
from sodm.partition import ClusterPartitioner, DistributionPreservingPartitioner, StratifiedPartitioner
from sodm.problem.fold import fold, row_hashes
from sodm.problem.kernels import Kernel, resolve_gamma
from sodm.problem.row_set import RowSet


class RowsInPieces(RowSet):
    """Rows that only show a piece of themselves at a time."""

    in_memory = False

    def __init__(self, X: Any, index: Any = None, n_pieces: int = 3) -> None:
        self.X, self.n_pieces = X, n_pieces
        self.index = np.arange(X.shape[0]) if index is None else index
        self.shape, self.sparse = (len(self.index), X.shape[1]), sparse.issparse(X)

    def __getitem__(self, index: Any) -> Any:
        return self.X[self.index[index]]

    def select(self, index: Any, n_threads: int = 1) -> RowsInPieces:
        return RowsInPieces(self.X, self.index[index], self.n_pieces)

    def map_rows(self, function: Any, own: Any = None) -> Any:
        pieces = np.array_split(np.arange(self.shape[0]), self.n_pieces)
        return np.concatenate(
            [function(self[piece], *([] if own is None else [own[piece]])) for piece in pieces]
        )

    def sum_over_rows(self, function: Any, coefficients: Any) -> Any:
        pieces = np.array_split(np.flatnonzero(np.any(coefficients != 0, axis=0)), self.n_pieces)
        return sum(function(self[piece], coefficients[:, piece]) for piece in pieces)


def data(form: str) -> tuple[Any, np.ndarray]:
    X, y = rows_and_labels(500, 5)
    X[np.abs(X) < 0.3] = 0.0
    X[20:30] = X[30:40]
    return (sparse.csr_matrix(X) if form == "sparse" else X), y


FORMS = pytest.mark.parametrize("form", ["dense", "sparse"])


@FORMS
def test_folded_as_one_array_is(form: str) -> None:
    X, y = data(form)
    here, there = (fold(rows, y, weights_for(500)) for rows in (X, RowsInPieces(X)))
    assert len(here.first) < 500
    for name in ("first", "weights", "group"):
        assert np.array_equal(getattr(here, name), getattr(there, name))


@FORMS
def test_hashes_and_gamma(form: str) -> None:
    X, _ = data(form)
    assert np.array_equal(row_hashes(X), row_hashes(RowsInPieces(X)))
    for weights in (None, weights_for(500)):
        there = resolve_gamma("scale", RowsInPieces(X), weights)
        assert there == pytest.approx(resolve_gamma("scale", X, weights), rel=1e-14)


@FORMS
@pytest.mark.parametrize(
    "partitioner",
    [StratifiedPartitioner(8, max_rows=100), DistributionPreservingPartitioner(8), ClusterPartitioner(100)],
    ids=lambda partitioner: type(partitioner).__name__,
)
def test_partitions(partitioner: Any, form: str) -> None:
    X, y = data(form)
    kernel = Kernel("rbf", gamma=0.5)
    here, there = (partitioner.split(rows, y, 4, kernel, 7) for rows in (X, RowsInPieces(X)))
    assert np.array_equal(here, there)


@pytest.mark.parametrize("budget", [None, 40])
@pytest.mark.parametrize("machine", [SODMClassifier, CascadeClassifier, DiPClassifier, DCClassifier])
def test_machines(machine: Any, budget: int | None) -> None:
    X, y = data("dense")
    parameters = {"n_partitions": 4, "lam": 100.0, "budget": budget, "random_state": 0}
    here = machine(**parameters).fit(X, y)
    there = machine(**parameters)._fit_rows(RowsInPieces(X), y, np.ones(len(y)))
    assert np.array_equal(here.support_, there.support_)
    assert np.allclose(here.dual_coef_, there.dual_coef_, rtol=1e-9, atol=1e-12)
