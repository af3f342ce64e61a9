"""The fits behind spark.py: an application on a cluster of its own, and what it measured, as plain values."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
import linear_speed
import numpy as np
import two_scale_fits

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from spark_cluster import StandaloneCluster

WORKERS = 2
FITS = 4  # of the kernel machine: the first of its kind, and later ones


def load(name: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X_train, y_train, X_test, y_test."""
    if name != "susy":
        X, y, X_test, y_test = data.split(name)
        return X[:n], (y[:n] > 0).astype(float), X_test, (y_test > 0).astype(float)
    X, y = linear_speed.susy(n + n // 10)
    return X[:n], y[:n].astype(float), X[n:], y[n:].astype(float)


def as_frame(spark: Any, X: np.ndarray, y: np.ndarray, folder: str, slices: int) -> Any:
    """A cached DataFrame with a column of vectors, from Parquet."""
    import pyarrow as pa
    from pyarrow import parquet
    from pyspark.ml.feature import VectorAssembler

    names = [f"x{k}" for k in range(X.shape[1])]
    columns = {name: X[:, k].astype(np.float64) for k, name in enumerate(names)}
    path = str(Path(folder) / f"{len(y)}.parquet")
    parquet.write_table(pa.table(columns | {"label": y}), path, row_group_size=-(-len(y) // slices))
    table = spark.read.parquet(path).repartition(slices)
    table = VectorAssembler(inputCols=names, outputCol="features").transform(table)
    table = table.select("features", "label").cache()
    table.count()
    return table


def accuracy(model: Any, table: Any) -> float:
    right = model.transform(table).filter("prediction = label").count()
    return right / table.count()


def timed(fit: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    model = fit()
    return time.perf_counter() - began, model


def application(
    name: str, rows: int, tuned: dict[str, Any] | None, memory: str, slices: int, java: str
) -> dict[str, Any]:
    """All that is measured on one set, in a new application.

    Parameters
    ----------
    name : str
    rows : int
        At most.
    tuned : dict or None
        Parameters of the kernel machine; None for those of two_scales.py.
    memory : str
        Of an executor's heap, and of the driver's.
    slices : int
        Partitions of the DataFrame.
    java : str
        Options of the Java machines of driver and executors.
    """
    X, y, X_test, y_test = load(name, rows)
    tuned = two_scale_fits.settings(name, len(y)) if tuned is None else tuned
    settings = {"spark.executor.memory": memory, "spark.driver.memory": memory}
    settings["spark.python.unix.domain.socket.enabled"] = "true"  # 40 ms less a task than TCP
    if java:
        settings |= {f"spark.{side}.extraJavaOptions": java for side in ("driver", "executor")}
    cluster = StandaloneCluster(WORKERS, memory=f"{2 * int(memory[:-1])}{memory[-1]}")
    try:
        spark = cluster.session("sodm bench", **settings)
        with tempfile.TemporaryDirectory() as folder:
            table = as_frame(spark, X, y, folder, slices)
            test = as_frame(spark, X_test, y_test, folder, slices)
            found = measure(table, test, tuned)
        spark.stop()
    finally:
        cluster.stop()
    return found | {"rows": len(y), "features": X.shape[1], "tuned": tuned}


def measure(table: Any, test: Any, tuned: dict[str, Any]) -> dict[str, Any]:
    """Both linear machines, and fits of the kernel machine, after one small fit each."""
    from pyspark.ml.classification import LinearSVC

    from sodm.spark import LinearODMClassifier, SODMClassifier

    few = test.limit(1000).cache()
    LinearODMClassifier().fit(few)
    LinearSVC(maxIter=2).fit(few)
    kernel = SODMClassifier(**{"random_state": 0, **tuned})
    kernel.copy({kernel.n_partitions: 2}).fit(few)
    packing = pack(table)
    mine, ours = timed(lambda: LinearODMClassifier().fit(table))
    theirs, svc = timed(lambda: LinearSVC().fit(table))
    linear = {
        "ours": [mine, accuracy(ours, test)],
        "theirs": [theirs, accuracy(svc, test)],
        "timings": dict(ours.timings),
    }
    fits = []
    for _ in range(FITS):
        seconds, model = timed(lambda: kernel.fit(table))
        fits.append({"seconds": seconds, "timings": dict(model.timings)})
    return {
        "packing": packing,
        "linear": linear,
        "fits": fits,
        "accuracy": accuracy(model, test),
        "levels": [record["part_seconds"] for record in model.history_],
        "pilot": model.history_[0]["seconds"]["pilot"],
        "stop": model.stop_reason_,
    }


def pack(table: Any) -> float:
    """Seconds from the cached DataFrame to cached blocks, the shortest of three."""
    from sodm.spark.cluster import Cluster
    from sodm.spark.columns import find_columns
    from sodm.spark.estimators import packed_rows

    columns = find_columns(table, "features", None, "label")
    cluster = Cluster.of(table.sparkSession.sparkContext)
    seconds = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        with packed_rows(table, columns, cluster, bring_labels=False):
            seconds = min(seconds, time.perf_counter() - began)
    return seconds
