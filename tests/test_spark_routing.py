"""Rows are cut by task, whatever the number of tasks. No cluster needed."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [
        (-1, np.int8),
        (0, np.int8),
        (1, np.int8),
        (126, np.int8),
        (127, np.int8),
        (128, np.int16),
        (129, np.int16),
        (32_766, np.int16),
        (32_767, np.int16),
        (32_768, np.int32),
        (2**31 - 1, np.int32),
    ],
)
def test_task_numbers_fit_their_dtype(spark_package, largest, dtype):
    from sodm.spark.routing import task_dtype

    assert task_dtype(largest) == dtype
    tasks = np.array([-1, max(0, largest - 1), largest])
    assert np.array_equal(tasks.astype(task_dtype(largest)), tasks)


@pytest.mark.parametrize("largest", [3, 128, 32_768])
def test_pieces_have_all_rows_of_their_task(spark_package, largest):
    from sodm.spark.routing import cut_by_task, task_dtype

    rng = np.random.default_rng(0)
    task = np.append(rng.integers(0, largest + 1, 500), largest)
    numbers = 1000 + np.arange(501)
    pieces = cut_by_task(task.astype(task_dtype(largest)), numbers, numbers[:, None] * 1.0)
    assert [number for number, _ in pieces] == np.unique(task).tolist()
    for number, piece in pieces:
        assert np.array_equal(piece.numbers, numbers[task == number])
        assert np.array_equal(piece.rows[:, 0], piece.numbers)
