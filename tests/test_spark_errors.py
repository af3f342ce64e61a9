"""What cannot be trained on is refused in one sentence; what fails on an executor is told."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import pytest
from problems import rows_and_labels
from spark_frames import frame

TREE = {"n_partitions": 2, "random_state": 0}


def estimator(**parameters):
    from sodm.spark import SODMClassifier

    return SODMClassifier(**TREE | parameters)


def small(spark, change=lambda X, y: None):
    X, y = rows_and_labels(60, 3)
    y = y.astype(float)
    change(X, y)
    return frame(spark, X, y)


def put(value):
    def change(X, y):
        X[7, 1] = value

    return change


def relabel(value):
    def change(X, y):
        y[:] = value(y)

    return change


@pytest.mark.parametrize("name", ["SODMClassifier", "LinearODMClassifier"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(np.nan), "featuresCol 'features' has values that are NaN or infinite"),
        (put(np.inf), "featuresCol 'features' has values that are NaN or infinite"),
        (relabel(lambda y: 1.0), "needs two or more classes: y has one class only"),
        (relabel(lambda y: y + np.linspace(0, 0.5, len(y))), "continuous"),
        (relabel(lambda y: np.where(y > 0, np.nan, 0)), "labelCol 'label' has values that are NaN"),
    ],
)
def test_bad_values(spark, name, change, message):
    import sodm.spark

    with pytest.raises(ValueError, match=message):
        getattr(sodm.spark, name)().fit(small(spark, change))


def test_nulls_and_types_and_names(spark):
    from pyspark.sql import functions as F

    good = small(spark)
    nulls = good.withColumn("label", F.when(F.col("label") > 0, F.col("label")))
    with pytest.raises(ValueError, match="labelCol 'label' has nulls"):
        estimator().fit(nulls)
    no_vector = good.withColumn("features", F.when(F.col("label") > 0, F.col("features")))
    with pytest.raises(ValueError, match="featuresCol 'features' has nulls"):
        estimator().fit(no_vector)
    holes = good.select(F.array(F.lit(1.0), F.when(F.col("label") > 0, 2.0)).alias("features"), "label")
    with pytest.raises(ValueError, match="nulls inside of arrays"):
        estimator().fit(holes)
    weights = good.withColumn("weight", F.lit(-1.0))
    with pytest.raises(ValueError, match="weightCol 'weight' has negative values"):
        estimator(weightCol="weight").fit(weights)
    with pytest.raises(TypeError, match="featuresCol 'label' must be a column of vectors"):
        estimator(featuresCol="label").fit(good)
    with pytest.raises(TypeError, match="labelCol 'features' must be a column of numbers"):
        estimator(labelCol="features").fit(good)
    with pytest.raises(ValueError, match="labelCol names the column 'target', which is not there"):
        estimator(labelCol="target").fit(good)
    with pytest.raises(ValueError, match="no rows to train on"):
        estimator().fit(good.limit(0))


def test_vectors_of_several_lengths(spark):
    from pyspark.ml.linalg import Vectors

    table = spark.createDataFrame([(Vectors.dense([1.0, 2.0]), 0.0), (Vectors.dense([1.0]), 1.0)] * 4)
    with pytest.raises(ValueError, match="rows with 1 features and others with 2"):
        estimator(featuresCol="_1", labelCol="_2").fit(table)


def test_parameters_are_checked_before_any_work(spark):
    import sodm.spark

    table = small(spark)
    with pytest.raises(ValueError, match="lam must be a number > 0"):
        estimator(lam=-1.0).fit(table)
    with pytest.raises(ValueError, match="precomputed"):
        estimator(kernel="precomputed").fit(table)
    with pytest.raises(ValueError, match="solver='svrg' does not run on a cluster"):
        sodm.spark.LinearODMClassifier(solver="svrg").fit(table)
    with pytest.raises(ValueError, match="loss='hinge'"):
        sodm.spark.LinearODMClassifier(loss="hinge").fit(table)


def on_executors(action):
    """A kernel that is linear at the driver, and something else on the executors."""

    def kernel(A, B):
        if "pyspark.worker" in sys.modules:
            action()
        return A @ B.T

    return kernel


def test_the_traceback_of_a_task_reaches_the_user(spark):
    from sodm.spark import TaskFailed

    def broken():
        raise ArithmeticError("this kernel is broken")

    with pytest.raises(TaskFailed, match=r"Traceback(.|\n)*ArithmeticError: this kernel is broken"):
        estimator(kernel=on_executors(broken)).fit(small(spark))


@pytest.mark.slow
def test_a_killed_task_is_told_with_what_to_change(spark):
    from sodm.spark import OutOfMemory

    def killed():  # as the system does when memory runs out
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(OutOfMemory, match="raise n_partitions, lower cache_size"):
        estimator(kernel=on_executors(killed)).fit(small(spark))


@pytest.mark.slow
def test_memory_that_runs_out_is_told_with_what_to_change(spark):
    from sodm.spark import OutOfMemory

    def greedy():
        np.empty(2**55, dtype=np.uint8)

    with pytest.raises(OutOfMemory, match=r"ran out of memory .* raise n_partitions"):
        estimator(kernel=on_executors(greedy)).fit(small(spark))


@pytest.mark.slow
def test_a_part_that_does_not_fit_is_refused_with_the_number_that_does(spark, monkeypatch):
    from sodm.spark.cluster import COPIES, USABLE, Cluster

    X, y = rows_and_labels(600, 3)
    table = frame(spark, X, y.astype(float))
    room = COPIES * 3 * 8 * 201 / USABLE  # for 201 rows of three values
    monkeypatch.setattr(Cluster, "of", classmethod(lambda cls, context: Cluster(2, 1, room)))
    with pytest.raises(ValueError, match="set n_partitions to 3 or more"):
        estimator().fit(table)
    fitted = estimator(n_partitions=3, branching=3).fit(table)
    assert fitted.history_[0]["n_rows"] == 600


def test_scoring_names_what_is_wrong(spark):
    table = small(spark)
    model = estimator().fit(table)
    with pytest.raises(Exception, match="values that are NaN or infinite"):
        model.transform(small(spark, put(np.nan))).collect()
    with pytest.raises(ValueError, match="has a column 'rawPrediction' already"):
        model.transform(model.transform(table))
