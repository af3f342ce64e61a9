"""Regressors on a real cluster: the same machine as on one machine."""

from __future__ import annotations

import numpy as np
import pytest
from problems import weights_for
from scipy import sparse
from spark_frames import frame, predictions

N, D = 900, 5


def data(form: str = "dense", n: int = N, seed: int = 1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    X[np.abs(X) < 0.3] = 0.0
    X[10] = X[11] = X[12]  # equal rows with other targets
    y = 1e-15 * (40 + 10 * np.sin(2 * X[:, 0]) + 5 * X[:, 1] + rng.normal(size=n))
    return (sparse.csr_matrix(X) if form == "sparse" else X), y


def fit_both(spark, name, X, y, weights=None, **parameters):
    import sodm.spark

    columns = {} if weights is None else {"weightCol": "weight"}
    table = frame(spark, X, y, weights, slices=3)
    model = getattr(sodm.spark, name)(**columns, **parameters).fit(table)
    return model, getattr(sodm, name)(**parameters).fit(X, y, weights)


@pytest.mark.parametrize("form", ["dense", pytest.param("sparse", marks=pytest.mark.slow)])
def test_linear_equals_that_of_one_machine(spark, form):
    X, y = data(form)
    weights = np.round(weights_for(N), 2)
    weights[5] = 0.0
    model, here = fit_both(spark, "LinearODMRegressor", X, y, weights, epsilon=2e-15, upsilon=3.0, lam=50.0)
    there = model.to_sklearn()
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6)
    np.testing.assert_allclose(there.intercept_, here.intercept_, rtol=1e-9)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-9)
    np.testing.assert_allclose(predictions(model, frame(spark, X, y)), here.predict(X), rtol=1e-9)


@pytest.mark.parametrize("form", ["dense", pytest.param("sparse", marks=pytest.mark.slow)])
@pytest.mark.parametrize("epsilon", [pytest.param(0.0, marks=pytest.mark.slow), 2e-15])
def test_regions_equal_those_of_one_machine_bit_for_bit(spark, form, epsilon):
    """Targets go with the rows, to the tasks of both regions where a row is on a border."""
    X, y = data(form)
    parameters = {"regions": 6, "epsilon": epsilon, "gamma": 0.3, "lam": 300.0, "random_state": 0}
    model, here = fit_both(spark, "SODMRegressor", X, y, np.round(weights_for(N), 1) + 0.1, **parameters)
    there = model.to_sklearn()
    assert there.stop_reason_ == here.stop_reason_ == "regions"
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    X_new, y_new = data(form, n=200, seed=2)
    np.testing.assert_array_equal(predictions(model, frame(spark, X_new, y_new)), here.predict(X_new))


@pytest.mark.slow
def test_few_rows_models_in_folders_and_refusals(spark, tmp_path):
    import sodm.spark

    X, y = data(n=200)
    model, here = fit_both(spark, "SODMRegressor", X, y, epsilon=1e-15, gamma=0.3)
    np.testing.assert_array_equal(model.to_sklearn().predict(X), here.predict(X))
    model.write().save(str(tmp_path / "model"))
    read = sodm.spark.SODMRegressorModel.load(str(tmp_path / "model"))
    table = frame(spark, X, y)
    np.testing.assert_array_equal(predictions(read, table), here.predict(X))
    assert read.getOrDefault("epsilon") == 1e-15 and not read.hasParam("rawPredictionCol")
    with pytest.raises(TypeError, match="labelCol 'word' must be a column of numbers"):
        sodm.spark.LinearODMRegressor(labelCol="word").fit(table.selectExpr("features", "'a' AS word"))
    with pytest.raises(ValueError, match="weight > 0"):
        sodm.spark.LinearODMRegressor(weightCol="none").fit(table.selectExpr("*", "0.0 AS none"))
