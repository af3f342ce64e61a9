"""Values on their way between processes are short, and come out as they were. No cluster needed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

DOUBLES = np.random.RandomState(0).randn(300, 40) * (np.random.RandomState(1).rand(300, 40) < 0.3)
SINGLES = DOUBLES.astype(np.float32).astype(np.float64)


def spoiled(value: float) -> np.ndarray:
    """One value that single precision does not have, among those that are looked at last."""
    rows = SINGLES.copy()
    rows[-1, -1] = value
    return rows


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "rows",
    [
        *(SINGLES, DOUBLES, SINGLES.astype(np.float32), SINGLES[:0]),
        *(spoiled(value) for value in (0.1, 1e300, 1e-300, np.nan, np.inf, -0.0)),
    ],
    ids=["single", "double", "float32", "none", "one", "large", "small", "nan", "infinite", "minus"],
)
def test_rows_come_out_as_they_were(spark_package, form, rows):
    from sodm.spark.narrow import NarrowRows

    before = form(rows)
    after = pickle.loads(pickle.dumps(NarrowRows.of(before))).widened()
    assert after.dtype == before.dtype and after.shape == before.shape
    if form is np.asarray:
        assert after.tobytes() == before.tobytes()
    else:
        after.check_format(full_check=True)
        for name in ("data", "indices", "indptr"):
            old, new = getattr(before, name), getattr(after, name)
            assert new.tobytes() == old.tobytes() and new.dtype == old.dtype


def test_blocks_and_pieces_are_short(spark_package):
    from sodm.spark.blocks import PackedBlock
    from sodm.spark.routing import Piece

    numbers = 70_000 + np.arange(300)
    for rows in (SINGLES, sparse.csr_matrix(SINGLES)):
        size = rows.nbytes if isinstance(rows, np.ndarray) else rows.data.nbytes + rows.indices.nbytes
        for sent in (PackedBlock((2, 3), rows, numbers * 1.0, None), Piece(numbers, rows)):
            text = pickle.dumps(sent, protocol=5)
            assert len(text) < 0.7 * size
            back = pickle.loads(text)
            assert np.array_equal(back.rows.sum(axis=0), rows.sum(axis=0))
            found = back.numbers if isinstance(back, Piece) else back.labels
            assert np.array_equal(found, numbers) and found.dtype.itemsize == 8


@pytest.mark.parametrize("labels", [["a", "b"], [-1, 1], [True, False], [3, 300]])
def test_labels_of_any_kind(spark_package, labels):
    from sodm.spark.blocks import PackedBlock

    labels = np.array(labels)
    back = pickle.loads(pickle.dumps(PackedBlock((0, 0), np.ones((2, 1)), labels, np.array([0.1, 2.0]))))
    assert np.array_equal(back.labels, labels) and back.labels.dtype == labels.dtype
    assert back.weights.tolist() == [0.1, 2.0] and back.place == (0, 0) and back.faults == {}
