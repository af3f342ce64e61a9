"""Folding of repeated rows, against Python's own dictionaries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from problems import FORMS
from scipy import sparse

from sodm.problem.fold import fold, row_hashes
from sodm.problem.rows import canonical


def rows_with_repeats(n: int = 500, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(n, d)).astype(float)
    return X, rng.integers(0, 3, size=n), rng.uniform(0.1, 2, size=n)


def expected(X: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> dict[int, float]:
    """First row of each set of equal rows -> summed weight."""
    first: dict[tuple, int] = {}
    total: dict[int, float] = {}
    for i, (row, label) in enumerate(zip(X, labels, strict=True)):
        # -0.0 and 0.0 are equal keys of a dictionary, as they have to be.
        kept = first.setdefault((*row.tolist(), int(label)), i)
        total[kept] = total.get(kept, 0.0) + weights[i]
    return total


@pytest.mark.parametrize("form", FORMS)
def test_every_form_folds_alike(form: str, tmp_path: Path) -> None:
    X, labels, weights = rows_with_repeats()
    folded = fold(canonical(FORMS[form](X, tmp_path)), labels, weights)
    total = expected(X, labels, weights)
    assert set(folded.first.tolist()) == set(total)
    np.testing.assert_allclose(folded.weights, [total[i] for i in folded.first.tolist()], rtol=1e-12)
    stands_for = folded.first[folded.group]
    np.testing.assert_array_equal(X[stands_for], X)
    np.testing.assert_array_equal(labels[stands_for], labels)
    assert np.all(stands_for <= np.arange(len(X)))
    reference = fold(X, labels, weights)
    np.testing.assert_array_equal(folded.first, reference.first)


def test_order_of_what_is_left_depends_on_values_alone() -> None:
    X, labels, weights = rows_with_repeats()
    reference = fold(X, labels, weights)
    rng = np.random.default_rng(1)
    order = np.concatenate([rng.permutation(500), rng.integers(0, 500, size=200)])
    shuffled = fold(X[order], labels[order], weights[order])
    np.testing.assert_array_equal(X[order][shuffled.first], X[reference.first])
    np.testing.assert_array_equal(labels[order][shuffled.first], labels[reference.first])


def test_zeros_of_either_sign_and_stored_zeros_are_equal() -> None:
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert fold(X, np.zeros(2, dtype=int), np.ones(2)).weights.tolist() == [2.0]
    stored = sparse.csr_matrix(
        (np.array([0.0, 1.0, 1.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert stored.nnz == 3
    assert fold(stored, np.zeros(2, dtype=int), np.ones(2)).weights.tolist() == [2.0]


def test_nearly_equal_rows_stay_apart() -> None:
    x = np.array([1.0, 2.0, 3.0])
    X = np.array([x, np.nextafter(x, 4), x[::-1], [1.0, 2.0, 0.0], [0.0, 1.0, 2.0]])
    assert len(fold(X, np.zeros(5, dtype=int), np.ones(5)).first) == 5
    assert len(fold(sparse.csr_matrix(X), np.zeros(5, dtype=int), np.ones(5)).first) == 5


def test_labels_keep_equal_rows_apart() -> None:
    folded = fold(np.ones((4, 2)), np.array([0, 1, 1, 0]), np.array([1.0, 2.0, 4.0, 8.0]))
    assert dict(zip(folded.first.tolist(), folded.weights.tolist(), strict=True)) == {0: 9.0, 1: 6.0}


@pytest.mark.parametrize("n", [1, 2, 4096, 4097, 20_000])
def test_threads_change_nothing(n: int) -> None:
    X, labels, weights = rows_with_repeats(n, d=9, seed=n)
    one = fold(X, labels, weights, 1)
    for n_threads in (2, 3, 7):
        more = fold(X, labels, weights, n_threads)
        np.testing.assert_array_equal(one.first, more.first)
        np.testing.assert_array_equal(one.group, more.group)
        np.testing.assert_array_equal(row_hashes(X, 1), row_hashes(X, n_threads))


def test_a_label_for_every_row_is_needed() -> None:
    with pytest.raises(ValueError, match="label"):
        fold(np.ones((3, 2)), np.zeros(2, dtype=int), np.ones(3))
