"""Models that are saved, loaded elsewhere, searched over, and taken apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from problems import rows_and_labels
from spark_frames import frame, predictions

import sodm

TREE = {"n_partitions": 2, "random_state": 0, "lam": 10.0}
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def rows():
    X, y = rows_and_labels(200, 4)
    return X, y.astype(float)


LOAD = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np
from pyspark.sql import SparkSession
from spark_frames import frame, predictions
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
from sodm.spark import DCClassifierModel, LinearODMClassifierModel, SODMClassifierModel
X = np.load({rows!r})
for name in {names!r}:
    model = globals()[name + "Model"].load({folder!r} + "/" + name)
    np.save({folder!r} + "/" + name + ".npy", predictions(model, frame(spark, X, np.zeros(len(X)))))
spark.stop()
"""


@pytest.mark.slow
def test_saved_and_loaded_in_a_fresh_process(spark, rows, tmp_path):
    import sodm.spark

    X, y = rows
    table = frame(spark, X, y)
    fitted = {}
    for name, parameters in (
        ("SODMClassifier", TREE | {"class_weight": {0.0: 2.0, 1.0: 1.0}}),
        ("DCClassifier", TREE),
        ("LinearODMClassifier", {"lam": 10.0}),
    ):
        estimator = getattr(sodm.spark, name)(**parameters)
        model = estimator.fit(table)
        assert model.uid == estimator.uid
        assert all(param.parent == estimator.uid for param in model.params)
        model.save(str(tmp_path / name))
        again = type(model).load(str(tmp_path / name))
        assert again.uid == model.uid
        assert again.machine_params() == model.machine_params()
        fitted[name] = predictions(model, table)
    np.save(tmp_path / "rows.npy", X)
    program = LOAD.format(
        tests=str(HERE), rows=str(tmp_path / "rows.npy"), folder=str(tmp_path), names=list(fitted)
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=300)
    for name, expected in fitted.items():
        assert np.array_equal(np.load(tmp_path / f"{name}.npy"), expected)


def test_estimators_are_saved_too(spark, tmp_path):
    from sodm.spark import SODMClassifier

    estimator = SODMClassifier(labelCol="y", class_weight={1.0: 3.0}, **TREE)
    estimator.save(str(tmp_path / "estimator"))
    again = SODMClassifier.load(str(tmp_path / "estimator"))
    assert again.machine_params() == estimator.machine_params()
    assert again.getLabelCol() == "y"


def test_to_and_from_the_python_estimator(spark, rows):
    from sodm.spark import LinearODMClassifierModel, SODMClassifierModel

    X, y = rows
    table = frame(spark, X, y)
    machine = sodm.SODMClassifier(**TREE).fit(X, y)
    model = SODMClassifierModel.from_sklearn(machine, predictionCol="prediction")
    assert np.array_equal(predictions(model, table), machine.predict(X))
    assert model.getOrDefault("lam") == 10.0
    assert model.numClasses == 2 and model.numFeatures == 4
    with pytest.raises(TypeError, match=r"made of a sodm\.LinearODMClassifier"):
        LinearODMClassifierModel.from_sklearn(machine)


def test_a_model_takes_the_params_of_its_estimator(spark, rows):
    """As all models of pyspark.ml do: they have the uid of their estimator."""
    from sodm.spark import LinearODMClassifier

    estimator = LinearODMClassifier(lam=10.0)
    model = estimator.fit(frame(spark, *rows), {estimator.lam: 5.0, estimator.predictionCol: "told"})
    assert model.uid == estimator.uid and model.getOrDefault(estimator.lam) == 5.0
    assert model.getPredictionCol() == "told"
    assert "renamed" in model.transform(frame(spark, *rows), {estimator.predictionCol: "renamed"}).columns


@pytest.mark.slow
def test_scaler_pipeline_and_cross_validation(spark, rows, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.feature import StandardScaler
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    from sodm.spark import SODMClassifier

    X, y = rows
    table = frame(spark, X * 100, y).cache()
    classifier = SODMClassifier(featuresCol="scaled", **TREE)
    pipeline = Pipeline(stages=[StandardScaler(inputCol="features", outputCol="scaled"), classifier])
    grid = ParamGridBuilder().addGrid(classifier.lam, [1e-4, 100.0]).build()
    search = CrossValidator(
        estimator=pipeline,
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        seed=1,
    )
    found = search.fit(table)
    best = found.bestModel
    assert best.stages[-1].getOrDefault("lam") == grid[int(np.argmax(found.avgMetrics))][classifier.lam]
    assert np.mean(predictions(best, table) == y) > 0.7
    best.write().overwrite().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    assert np.array_equal(predictions(again, table), predictions(best, table))
