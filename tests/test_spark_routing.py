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
    pieces = cut_by_task(task.astype(task_dtype(largest))[:, None], numbers, numbers[:, None] * 1.0)
    assert [number for number, _ in pieces] == np.unique(task).tolist()
    for number, piece in pieces:
        assert np.array_equal(piece.numbers, numbers[task == number])
        assert np.array_equal(piece.rows[:, 0], piece.numbers)


def test_rows_of_two_parts_go_to_the_tasks_of_both(spark_package):
    from sodm.spark.placement import tasks_of_rows
    from sodm.spark.routing import cut_by_task

    rng = np.random.default_rng(1)
    parts = [np.sort(rng.choice(100, 30, replace=False)) for _ in range(6)]
    tasks = [0, 0, 1, 1, 2, 3]
    found = tasks_of_rows(100, parts, tasks)
    pieces = dict(cut_by_task(found, np.arange(100), np.arange(100.0)[:, None]))
    for task in range(4):
        own = [part for part, where in zip(parts, tasks, strict=True) if where == task]
        assert np.array_equal(pieces[task].numbers, np.unique(np.concatenate(own)))  # each once
        assert np.array_equal(pieces[task].rows[:, 0], pieces[task].numbers)
