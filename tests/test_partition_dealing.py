"""Dealing: what is promised about sizes, for every number of rows, strata, classes and partitions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sodm.partition.dealing import deal, sample_rows


@st.composite
def hands(draw):
    n = draw(st.integers(1, 60))
    whole = st.integers(0, draw(st.integers(0, 12)))
    strata = np.array(draw(st.lists(whole, min_size=n, max_size=n)))
    classes = np.array(draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n)))
    return strata, classes, draw(st.integers(1, n)), draw(st.integers(0, 2**31))


def spread(assignment, n_partitions):
    sizes = np.bincount(assignment, minlength=n_partitions)
    return sizes.max() - sizes.min()


@given(hands())
def test_sizes_differ_by_at_most_one(hand):
    strata, classes, n_partitions, seed = hand
    parts = deal(strata, classes, n_partitions, np.random.RandomState(seed))
    assert parts.shape == strata.shape
    assert parts.min() >= 0 and parts.max() < n_partitions
    assert spread(parts, n_partitions) <= 1
    for c in np.unique(classes):
        assert spread(parts[classes == c], n_partitions) <= 1
        for s in np.unique(strata):
            assert spread(parts[(classes == c) & (strata == s)], n_partitions) <= 1
    for s in np.unique(strata):
        assert spread(parts[strata == s], n_partitions) <= len(np.unique(classes[strata == s]))


@given(hands())
def test_a_class_with_enough_rows_is_everywhere(hand):
    strata, classes, n_partitions, seed = hand
    parts = deal(strata, classes, n_partitions, np.random.RandomState(seed))
    for c, count in zip(*np.unique(classes, return_counts=True), strict=True):
        assert len(np.unique(parts[classes == c])) == min(count, n_partitions)


def test_every_row_of_a_stratum_can_land_everywhere():
    """Random within a stratum: over many deals each row meets each partition about equally often."""
    strata, classes = np.repeat([0, 1], 6), np.zeros(12, dtype=np.intp)
    rng = np.random.RandomState(0)
    counts = np.zeros((12, 3))
    for _ in range(3000):
        counts[np.arange(12), deal(strata, classes, 3, rng)] += 1
    assert np.abs(counts / 3000 - 1 / 3).max() < 0.05  # six standard deviations


@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 2**31))
def test_sample_rows(n, at_most, seed):
    rows = sample_rows(n, at_most, np.random.RandomState(seed), always=n // 2)
    assert len(rows) == min(n, at_most)
    assert (np.diff(rows) > 0).all() and rows[0] >= 0 and rows[-1] < n
    assert n // 2 in rows
