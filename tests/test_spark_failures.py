"""A worker that dies, and executors that are not as they should be."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from problems import rows_and_labels
from spark_frames import frame

import sodm

LANDMARKS = 5
TREE = {"n_partitions": 4, "n_landmarks": LANDMARKS, "start": "zero", "stop_tol": 0.0, "random_state": 0}
HERE = Path(__file__).parent


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_level(cluster, spark, tmp_path):
    from sodm.spark import SODMClassifier

    X, y = rows_and_labels(400, 4)
    y = y.astype(float)
    running, killed = tmp_path / "running", tmp_path / "killed"

    def kernel(A, B):
        # On an executor, and not to find the nearest landmark: this is a part of the first level.
        if "pyspark.worker" in sys.modules and B.shape[0] > LANDMARKS:
            running.touch()
            until = time.monotonic() + 60
            while not killed.exists() and time.monotonic() < until:
                time.sleep(0.02)
        return A @ B.T

    def kill():
        while not running.exists():
            time.sleep(0.02)
        cluster.kill_worker()
        killed.touch()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        model = SODMClassifier(kernel=kernel, lam=10.0, **TREE).fit(frame(spark, X, y, slices=4))
    finally:
        running.touch()
        killer.join()
        cluster.add_worker()
    here = sodm.SODMClassifier(kernel=kernel, lam=10.0, **TREE).fit(X, y)
    assert np.array_equal(model.to_sklearn().support_, here.support_)
    assert np.allclose(model.to_sklearn().dual_coef_, here.dual_coef_, rtol=1e-6)
    assert [r["n_partitions"] for r in model.history_] == [4, 2]


OLD_SODM = """
import sys
sys.path.insert(0, {tests!r})
from spark_cluster import StandaloneCluster
cluster = object.__new__(StandaloneCluster)
cluster.url = {url!r}
settings = {{"spark.executorEnv.PYTHONPATH": {folder!r}, "spark.cores.max": "1"}}
spark = cluster.session("old", **settings)
from sodm.spark.versions import check_executors
try:
    check_executors(spark.sparkContext)
finally:
    spark.stop()
"""


@pytest.mark.slow
def test_an_executor_with_another_sodm_is_named(cluster, spark, tmp_path):
    folder = tmp_path / "sodm-0.0.1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: sodm\nVersion: 0.0.1\n")
    extra = cluster.add_worker()  # the session of the other tests holds the cores of the others
    program = OLD_SODM.format(tests=str(HERE), url=cluster.url, folder=str(tmp_path))
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    finally:
        cluster.workers.remove(extra)
        extra.terminate()
        extra.wait()
    last = done.stderr.strip().splitlines()[-1]
    assert "has sodm 0.0.1, the driver has" in last and "install sodm" in last
