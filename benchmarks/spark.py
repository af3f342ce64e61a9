"""The machines on a Spark cluster: what a fit is spent on, and LinearSVC of MLlib beside the linear machine.

    python benchmarks/spark.py                        # ijcnn1, a million rows of SUSY's shape, covtype
    python benchmarks/spark.py --rows 20000 --sets susy

The cluster is a standalone one, started here: a master and two workers of one core each, all on this machine.
Both sides fit the same cached DataFrame, after one small fit each to warm the executors up. The kernel
machine has the parameters that are best on 4,000 rows, as in trees.py; on covtype, where it has regions,
those of two_scales.py.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import data
import linear_speed
import numpy as np
import two_scale_fits
from spark_simulation import Pieces, time_on
from table import Log, Row, machine, print_header, print_row
from timing import isolated
from tree_figures import tune

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from spark_cluster import StandaloneCluster

WORKERS = 2
CORES = (1, 2, 4, 8, 16, 32, 96)
ALREADY_TUNED = ("covtype",)
PAPER = {32: "over 9 (RBF), over 5 (linear)"}


def load(name: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X_train, y_train, X_test, y_test."""
    if name != "susy":
        X, y, X_test, y_test = data.split(name)
        return X[:n], (y[:n] > 0).astype(float), X_test, (y_test > 0).astype(float)
    X, y = linear_speed.susy(n + n // 10)
    return X[:n], y[:n].astype(float), X[n:], y[n:].astype(float)


def parameters(name: str, n: int) -> dict[str, Any]:
    """Of the kernel machine."""
    if name in ALREADY_TUNED:
        return two_scale_fits.settings(name, n)
    return isolated(tune, WORKERS, side="ours", name="susy-subset" if name == "susy" else name)


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


def timed(fit: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    model = fit()
    return time.perf_counter() - began, model


def tree_rows(name: str, table: Any, test: Any, seconds: float, model: Any) -> list[Row]:
    """What the fit of the kernel machine was spent on."""
    spent = dict(model.timings)
    driver = max(0.0, seconds - sum(spent.values()))
    others = 1 - spent["solve"] / seconds
    parts = ", ".join(f"{what} {value:.1f} s" for what, value in (*spent.items(), ("driver", driver)))
    levels = [record["part_seconds"] for record in model.history_]
    print(f"\nSODM on {name}: {seconds:.1f} s: {parts}; accuracy {accuracy(model, test):.4f}; levels of")
    print("  " + ", ".join(f"{len(level)} parts" for level in levels) + f"; {model.stop_reason_}")
    pieces = Pieces(
        packing=(spent["packing"] + spent["passes"] + spent["probe"]) * WORKERS,
        shuffle=spent["shuffle"] * WORKERS,
        schedule=spent["schedule"],
        pilot=model.history_[0]["seconds"]["pilot"],
        driver=driver,
        levels=levels,
    )
    one = time_on(pieces, 1)
    gains = [f"{c}: {one / time_on(pieces, c):.1f}{f' ({PAPER[c]})' if c in PAPER else ''}" for c in CORES]
    print(f"  simulated, cores: speed-up (in the paper's Figure 3): {', '.join(gains)}")
    bar = 40.0 if name in ("susy", "covtype") else None
    return [
        Row(
            f"SODM, {name}, {len(levels[0])} parts",
            "all of the fit",
            f"{others * seconds:.1f} s not solving",
            f"{seconds:.1f} s",
            ratio=100 * others,
            bar=bar,
            unit=" %",
            at_most=True,
        )
    ]


def linear_rows(name: str, table: Any, test: Any) -> list[Row]:
    """The linear machine and LinearSVC on the same DataFrame."""
    from pyspark.ml.classification import LinearSVC

    from sodm.spark import LinearODMClassifier

    mine, ours = timed(lambda: LinearODMClassifier().fit(table))
    theirs, svc = timed(lambda: LinearSVC().fit(table))
    spent = ", ".join(f"{what} {value:.1f} s" for what, value in ours.timings.items())
    return [
        Row(
            f"linear, newton, {name}",
            "MLlib LinearSVC",
            f"{mine:.1f} s ({accuracy(ours, test):.4f})",
            f"{theirs:.1f} s ({accuracy(svc, test):.4f})",
            ratio=theirs / mine,
            bar=5.0,
            note=spent,
        )
    ]


def packing_row(table: Any, n: int, d: int) -> Row:
    """Bytes of features packed per second and core, from the cached DataFrame into cached blocks."""
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
    rate = n * d * 8 / 1e6 / seconds / WORKERS
    bar = 50.0 if n >= 10**6 else None  # what a small table takes is the cost of jobs
    cells = f"packing, {n:,} vectors to blocks", "–", f"{seconds:.2f} s", "–"
    return Row(*cells, rate, bar, " MB/s per core", 0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default="ijcnn1,susy,covtype")
    parser.add_argument("--rows", type=int, default=1_000_000, help="most rows of a set")
    parser.add_argument("--memory", default="3g", help="of an executor's heap")
    parser.add_argument("--slices", type=int, default=2 * WORKERS, help="partitions of the DataFrame")
    options = parser.parse_args()
    log, shown = Log("spark", WORKERS), []
    print(f"{machine()}, {WORKERS} workers of one core, load {os.getloadavg()[0]:.1f}")
    cluster = StandaloneCluster(WORKERS, memory=f"{2 * int(options.memory[:-1])}{options.memory[-1]}")
    try:
        settings = {"spark.executor.memory": options.memory, "spark.driver.memory": options.memory}
        settings["spark.python.unix.domain.socket.enabled"] = "true"  # 40 ms less a task than TCP
        spark = cluster.session("sodm bench", **settings)
        from pyspark.ml.classification import LinearSVC

        from sodm.spark import LinearODMClassifier, SODMClassifier

        with tempfile.TemporaryDirectory() as folder:
            for name in options.sets.split(","):
                X, y, X_test, y_test = load(name, options.rows)
                table = as_frame(spark, X, y, folder, options.slices)
                test = as_frame(spark, X_test, y_test, folder, options.slices)
                few = test.limit(1000).cache()
                LinearODMClassifier().fit(few)
                LinearSVC(maxIter=2).fit(few)
                tuned = parameters(name, len(y))
                kernel = SODMClassifier(**{"random_state": 0, **tuned})
                print(f"<!-- {name}: {tuned} -->", flush=True)
                kernel.copy({kernel.n_partitions: 2}).fit(few)
                shown.append(packing_row(table, *X.shape))
                shown += linear_rows(name, table, test)
                seconds, model = timed(lambda kernel=kernel, table=table: kernel.fit(table))
                shown += tree_rows(name, table, test, seconds, model)
        spark.stop()
    finally:
        cluster.stop()
    print()
    print_header()
    for row in shown:
        print_row(row)
        log.add(row)


if __name__ == "__main__":
    main()
