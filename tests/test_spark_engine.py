"""The engine on a real cluster: many tasks, time limits, and what is left behind when a job fails."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from problems import rows_and_labels
from spark_frames import frame

from sodm.engines.base import Part, Table


@contextmanager
def engine_with(spark: Any, n: int) -> Iterator[tuple[Any, np.ndarray]]:
    """An engine that has the rows of a DataFrame, and the same rows here."""
    from sodm.spark.cluster import Cluster
    from sodm.spark.columns import find_columns
    from sodm.spark.engine import SparkEngine
    from sodm.spark.estimators import packed_rows

    X, y = rows_and_labels(n, 3)
    table = frame(spark, X, y.astype(float), slices=3)
    cluster = Cluster.of(spark.sparkContext)
    engine = SparkEngine(cluster)
    with packed_rows(table, find_columns(table, "features", None, "label"), cluster, True) as rows:
        engine.keep(Table(rows, np.ones((1, n)), np.ones(n)))
        try:
            yield engine, X
        finally:
            engine.release()


def parts_of(n: int, count: int) -> list[Part]:
    return [Part(index, {"part": k}) for k, index in enumerate(np.array_split(np.arange(n), count))]


@pytest.mark.parametrize(
    "n_tasks", [pytest.param(128, marks=pytest.mark.slow), 129, pytest.param(130, marks=pytest.mark.slow)]
)
def test_rows_reach_their_task_whatever_its_number(spark, monkeypatch, n_tasks):
    from sodm.spark import placement

    monkeypatch.setattr(placement, "TASKS_PER_SLOT", n_tasks)
    parts = parts_of(2 * n_tasks, n_tasks)
    with engine_with(spark, 2 * n_tasks) as (engine, X):
        results = engine.map(lambda block, message, slot: {"sum": block.rows.sum(axis=0)}, parts)
        assert engine._placement.n_tasks == n_tasks
    for part, result in zip(parts, results, strict=True):
        assert np.array_equal(result["sum"], X[part.index].sum(axis=0))


def test_requests_that_are_long_go_to_their_own_tasks(spark, monkeypatch):
    from sodm.spark import engine as module

    monkeypatch.setattr(module, "MOST_TOLD", 0)
    with engine_with(spark, 50) as (engine, X):
        parts = parts_of(50, 11)
        results = engine.map(lambda block, message, slot: {"sum": block.rows.sum(axis=0), **message}, parts)
    for k, (part, result) in enumerate(zip(parts, results, strict=True)):
        assert result["part"] == k and np.array_equal(result["sum"], X[part.index].sum(axis=0))


def test_rows_are_sent_to_the_tasks_of_their_cells(spark):
    """Those of cells that share a task once, and none that are not meant."""
    from sodm.problem.cells import Cells, members_of

    with engine_with(spark, 400) as (engine, X):
        table, meant = engine._table, np.random.RandomState(0).permutation(400)[:300]
        engine.keep(Table(table.rows.select(meant), table.signs[:, :300], table.weights[:300]))
        cells = Cells(X[:20].astype(float))
        homes, sums = engine.homes_and(lambda rows: rows.sum(axis=1), cells, np.arange(1, 21), 1)
        assert np.array_equal(homes, cells.homes(X[meant]))
        assert np.array_equal(sums, X[meant].sum(axis=1))
        placed = engine._placement
        parts = [Part(rows, {}) for _, rows in members_of(homes)]
        results = engine.map(lambda block, message, slot: {"rows": block.rows}, parts)
        assert engine._placement is placed and placed.n_tasks == 8 < len(parts)
        sent = placed.tasks_of[placed.tasks_of >= 0]
        assert placed.n_rows == len(sent) and np.all(placed.tasks_of[np.setdiff1d(np.arange(400), meant)] < 0)
    for part, result in zip(parts, results, strict=True):
        assert np.array_equal(result["rows"], X[meant][part.index])


def test_a_clock_that_is_wrong_changes_nothing(spark):
    def shift_clock(block, message, slot):
        """The first part of a task sets the clock of its process an hour ahead, the second sets it right."""
        if message["part"] % 2 == 0:
            time.right_time = time.time
            time.time = lambda: time.right_time() + 3600
        ahead = time.time() - time.right_time()
        if message["part"] % 2 == 1:
            time.time = time.right_time
        return {"ahead": ahead}

    with engine_with(spark, 80) as (engine, _):
        assert 2 * engine.cluster.slots * 4 == 2 * 8  # two parts a task
        results = engine.map(shift_clock, parts_of(80, 16), time.monotonic() + 300)
    assert None not in results
    assert min(result["ahead"] for result in results) > 3000


def until_stopped():
    """A task that waits to be stopped. Not of this module, which executors may be unable to import."""

    def wait_for_stop(block, message, slot):
        until = time.monotonic() + 120
        while not slot.stop.stopped:
            assert time.monotonic() < until, "the task was not stopped"
            time.sleep(0.01)
        return {"stopped": True}

    return wait_for_stop


@pytest.mark.slow
def test_tasks_that_wait_in_the_queue_get_no_time_of_their_own(spark):
    with engine_with(spark, 80) as (engine, _):
        results = engine.map(until_stopped(), parts_of(80, 8), time.monotonic() + 3)
        assert engine.map(until_stopped(), parts_of(80, 8), time.monotonic()) == [None] * 8
    assert results.count(None) >= 6  # two slots: the tasks in them were stopped, and the others not begun


@pytest.mark.slow
def test_the_driver_does_not_wait_for_tasks_that_do_not_stop(spark, monkeypatch, tmp_path):
    from sodm.spark import engine as module

    monkeypatch.setattr(module, "GRACE", 0.0)
    released = tmp_path / "released"

    def deaf(block, message, slot):
        until = time.monotonic() + 120
        while message["part"] > 0 and not released.exists():
            assert time.monotonic() < until, "the job was not cancelled"
            time.sleep(0.05)
        return {"part": message["part"]}

    with engine_with(spark, 40) as (engine, _):
        try:
            results = engine.map(deaf, parts_of(40, 4), time.monotonic() + 10)
        finally:
            released.touch()
        assert results == [{"part": 0}, None, None, None]
        assert engine.map(deaf, parts_of(40, 4)) == [{"part": k} for k in range(4)]


def test_another_thread_can_stop_a_level(spark):
    from sodm import _core

    stop = _core.StopToken()
    with engine_with(spark, 40) as (engine, _):
        timer = threading.Timer(2.0, stop.stop)
        timer.start()
        with pytest.raises(_core.Interrupted):
            engine.map(until_stopped(), parts_of(40, 4), stop=stop)
        with pytest.raises(_core.Interrupted):
            engine.map(lambda block, message, slot: {}, parts_of(40, 4), stop=stop)


@pytest.mark.slow
def test_no_broadcast_is_left_when_a_job_fails(spark):
    from sodm.spark import TaskFailed

    def broken(*arguments):
        raise ArithmeticError("broken")

    folder = spark.sparkContext._temp_dir  # the files of broadcasts are here
    before = set(os.listdir(folder))
    with engine_with(spark, 60) as (engine, X):
        rows = engine._table.rows
        with pytest.raises(TaskFailed, match="broken"):
            engine.map(broken, parts_of(60, 3))
        for fails in (
            lambda: rows.map_rows(broken, np.zeros(60)),
            lambda: rows.sum_over_rows(broken, np.ones((1, 60))),
        ):
            with pytest.raises(Exception, match="broken"):
                fails()
        assert np.array_equal(rows[np.array([5, 1])], X[[5, 1]])
    assert set(os.listdir(folder)) == before
