"""How often a fit goes over the rows of a cluster, and what of them is at the driver already."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from problems import rows_and_labels
from scipy import sparse
from spark_frames import frame


def counted(monkeypatch, owner, *names):
    """How often methods of a class are called."""
    calls: Counter[str] = Counter()

    def count(name):
        method = getattr(owner, name)

        def call(*args, **others):
            calls[name] += 1
            return method(*args, **others)

        monkeypatch.setattr(owner, name, call)

    for name in names:
        count(name)
    return calls


@pytest.mark.parametrize(("sent_ahead", "larger"), [(True, False), (False, False), (True, True)])
def test_a_fit_with_regions_takes_few_jobs(spark, monkeypatch, sent_ahead, larger):
    """One fetches the sample of the cells, which landmarks are drawn from, and one what is tried; rows are
    looked at for the trial, and sent to their regions, in one pass unless they are many; and the regions are
    solved, which send their support vectors along. Regions that should be larger are a pass more."""
    import sodm
    import sodm.spark
    from sodm.spark import placement
    from sodm.spark.engine import SparkEngine
    from sodm.spark.rows import ClusterRows
    from sodm.trees import landmarks, trial, two_scale

    monkeypatch.setattr(two_scale, "EXACT_ROWS", 500)
    monkeypatch.setattr(two_scale, "REGION_ROWS", 250)
    monkeypatch.setattr(two_scale, "SENT_AHEAD", 3000 if sent_ahead else 2999)
    monkeypatch.setattr(trial, "REGION_ROWS", 250)
    monkeypatch.setattr(trial, "BASE_ROWS", 100)
    monkeypatch.setattr(trial.Trial, "_still_learn", lambda *args: larger)
    monkeypatch.setattr(landmarks, "POOL", 400)
    monkeypatch.setattr(landmarks, "CARRIES", 0.0)
    rng = np.random.RandomState(0)
    X = rng.rand(3000, 2)
    y = (np.floor(8 * X).astype(int).sum(axis=1) % 2).astype(float)
    parameters = {"lam": 3e3, "gamma": 100.0, "random_state": 0}
    here = sodm.SODMClassifier(**parameters).fit(X, y)
    calls = counted(monkeypatch, ClusterRows, "_fetch", "_in_order")
    maps = counted(monkeypatch, SparkEngine, "map", "map_here", "_send_home")
    moves = counted(monkeypatch, placement, "move")
    model = sodm.spark.SODMClassifier(**parameters).fit(frame(spark, X, y))
    assert model.stop_reason_ == here.stop_reason_ == "regions"
    assert calls["_fetch"] == 2 and calls["_in_order"] == (0 if sent_ahead else 1)
    assert maps["map"] == 1 and maps["map_here"] >= 2
    assert maps["_send_home"] == moves["move"] == (2 if larger else 1)
    there = model.to_sklearn()
    assert np.array_equal(there.support_, here.support_)
    assert np.array_equal(there.support_vectors_, here.support_vectors_)
    assert np.array_equal(there.decision_function(X[:100]), here.decision_function(X[:100]))


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_rows_that_are_all_different_are_told_apart_when_they_are_packed(spark, monkeypatch, form):
    from sodm.problem.array_rows import ArrayRows
    from sodm.spark.cluster import Cluster
    from sodm.spark.columns import find_columns
    from sodm.spark.estimators import packed_rows
    from sodm.spark.rows import ClusterRows

    def compare(X, y):
        X = sparse.csr_matrix(X) if form == "sparse" else X
        table, cluster = frame(spark, X, y.astype(float)), Cluster.of(spark.sparkContext)
        labels = np.unique(y, return_inverse=True)[1].astype(np.int64)
        with packed_rows(table, find_columns(table, "features", None, "label"), cluster, True) as rows:
            calls = counted(monkeypatch, ClusterRows, "_in_order")
            there, here = rows.find_repeats(labels), ArrayRows(X).find_repeats(labels)
        assert all(np.array_equal(*pair) for pair in zip(there, here, strict=True))
        return calls["_in_order"]

    X, y = rows_and_labels(400, 5)
    assert compare(X, y) == 0
    X[3] = X[250]
    y[3] = y[250]
    assert compare(X, y) == 1  # a second hash tells whether they are equal
    assert compare(X, np.repeat([1, 0], 200)) == 1  # blocks have one class each, and number it 0


def test_fetched_rows_come_from_several_fetches():
    pytest.importorskip("pyspark")
    from sodm.spark.fetched import FetchedRows

    X = np.arange(20.0).reshape(10, 2)
    for rows in (X, sparse.csr_matrix(X)):
        held = FetchedRows()
        assert held.get(np.array([1])) is None
        held.add(np.array([1, 4, 7]), rows[[1, 4, 7]])
        held.add(np.array([2, 4]), rows[[2, 4]])
        assert held.missing(np.array([1, 2, 3, 4])).tolist() == [3]
        assert held.get(np.array([1, 3])) is None
        got = held.get(np.array([7, 2, 4, 1]))
        got = got.toarray() if sparse.issparse(got) else got
        assert np.array_equal(got, X[[7, 2, 4, 1]])


def test_processes_of_executors_are_settled(spark):
    """What they have imported is not looked at by Python's collector between two tasks."""
    import sodm.spark

    X, y = rows_and_labels(60, 3)
    sodm.spark.LinearODMClassifier(lam=1.0).fit(frame(spark, X, y.astype(float)))

    def left_alone(_: int) -> int:
        import gc

        return gc.get_freeze_count()

    assert min(spark.sparkContext.parallelize(range(4), 4).map(left_alone).collect()) > 10_000


def test_processes_of_executors_load_no_scikit_learn(spark_package):
    """Of sodm they load what tasks need; all of it takes longer than most tasks together."""
    needed = ("spark.packing", "spark.survey", "spark.rows", "spark.part_worker", "trees.local")
    code = f"import sys, {', '.join(f'sodm.{name}' for name in needed)}; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
