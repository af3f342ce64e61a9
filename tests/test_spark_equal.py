"""On a real cluster: the same machine as on one machine."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from problems import rows_and_labels, weights_for
from scipy import sparse
from spark_frames import frame, predictions

N, D = 700, 6
TREES = ["SODMClassifier", "CascadeClassifier", "DiPClassifier", "DCClassifier"]
TREE = {"n_partitions": 4, "lam": 100.0, "gamma": 0.5, "random_state": 0}


def data(form: str = "dense", n: int = N, seed: int = 1):
    X, y = rows_and_labels(n, D, seed=seed)
    X[np.abs(X) < 0.3] = 0.0
    X[10] = X[11] = X[12]  # repeats are folded
    y[10:13] = 1
    return (sparse.csr_matrix(X) if form == "sparse" else X), y.astype(float)


def fit_both(spark, name, X, y, weights=None, slices=2, **parameters):
    """The machine trained on the cluster, and the one trained here."""
    import sodm.spark

    table = frame(spark, X, y, weights, slices)
    columns = {} if weights is None else {"weightCol": "weight"}
    model = getattr(sodm.spark, name)(**columns, **parameters).fit(table)
    here = getattr(sodm, name)(**parameters).fit(X, y, weights)
    return model, here


def assert_equal_machines(there, here):
    """Duals to 1e-6 of the largest."""
    assert np.array_equal(there.support_, here.support_)
    assert np.array_equal(there.classes_, here.classes_)
    scale = np.abs(here.dual_coef_).max()
    assert np.abs(there.dual_coef_ - here.dual_coef_).max() <= 1e-6 * scale
    assert there.stop_reason_ == here.stop_reason_
    assert [r["n_partitions"] for r in there.history_] == [r["n_partitions"] for r in here.history_]
    assert [r["n_iter"] for r in there.history_] == [r["n_iter"] for r in here.history_]


# Each machine, loss and form is met once here; the other combinations are for those with more time.
QUICK = {("SODMClassifier", "odm", "dense"), ("SODMClassifier", "hinge", "sparse")}
QUICK |= {("CascadeClassifier", "hinge", "dense"), ("DiPClassifier", "odm", "sparse")}
QUICK |= {("DCClassifier", "odm", "dense")}


@pytest.mark.parametrize(
    ("name", "loss", "form"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in product(TREES, ("odm", "hinge"), ("dense", "sparse"))
    ],
)
def test_trees_equal_those_of_one_machine(spark, name, loss, form):
    X, y = data(form)
    model, here = fit_both(spark, name, X, y, loss=loss, **TREE)
    assert_equal_machines(model.to_sklearn(), here)
    X_test, y_test = data(form, n=300, seed=2)
    assert np.array_equal(predictions(model, frame(spark, X_test, y_test)), here.predict(X_test))


@pytest.mark.parametrize("form", [pytest.param("dense", marks=pytest.mark.slow), "sparse"])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"solver": "dsvrg", "epochs": 2, "n_partitions": 3, "tol": 1e-2, "random_state": 0}],
    ids=["newton", "dsvrg"],
)
def test_linear_equals_that_of_one_machine(spark, parameters, form):
    X, y = data(form)
    model, here = fit_both(spark, "LinearODMClassifier", X, y, lam=10.0, **parameters)
    there = model.to_sklearn()
    assert there.solver_ == parameters.get("solver", "newton")
    assert np.abs(there.coef_ - here.coef_).max() <= 1e-6 * np.abs(here.coef_).max()
    assert np.allclose(there.intercept_, here.intercept_, rtol=1e-6)
    assert np.array_equal(predictions(model, frame(spark, X, y)), here.predict(X))


@pytest.mark.slow
def test_linear_with_many_partitions_adds_up_on_the_executors(spark):
    X, y = data()
    model, here = fit_both(spark, "LinearODMClassifier", X, y, slices=40)
    assert np.allclose(model.to_sklearn().coef_, here.coef_, rtol=1e-6)


@pytest.mark.slow
def test_three_classes_weights_and_class_weights(spark):
    X, y = data()
    y[X[:, 2] > 0.5] = 2.0
    weights = np.round(weights_for(N), 2)
    weights[5] = 0.0
    parameters = TREE | {"gamma": "scale", "class_weight": {0.0: 2.0}}
    model, here = fit_both(spark, "SODMClassifier", X, y, weights, **parameters)
    assert_equal_machines(model.to_sklearn(), here)
    table = frame(spark, X, y)
    raw = np.array([row.rawPrediction.toArray() for row in model.transform(table).collect()])
    assert np.allclose(raw, here.decision_function(X), atol=1e-9)
    linear, line = fit_both(spark, "LinearODMClassifier", X, y, weights, class_weight="balanced")
    assert np.allclose(linear.to_sklearn().coef_, line.coef_, rtol=1e-6, atol=1e-9)


def four_classes(n: int = N, seed: int = 1):
    X, y = data(n=n, seed=seed)
    y[X[:, 2] > 0.5] += 2.0
    return X, y


# With four parts a tree; with one the exact machine of all rows; with `refine` a tree that ends with it.
@pytest.mark.parametrize(
    ("name", "multi_class", "parameters"),
    [
        ("CascadeClassifier", "auto", {}),
        ("SODMClassifier", "ovo", {}),
        ("SODMClassifier", "ovo", {"n_partitions": 1}),
        ("CascadeClassifier", "auto", {"n_partitions": 1, "loss": "hinge"}),
        pytest.param("SODMClassifier", "auto", {}, marks=pytest.mark.slow),
        pytest.param("DiPClassifier", "ovo", {"refine": True}, marks=pytest.mark.slow),
        pytest.param("DCClassifier", "auto", {"early": True}, marks=pytest.mark.slow),
    ],
)
def test_many_classes_one_against_one(spark, name, multi_class, parameters):
    X, y = four_classes()
    X_test, y_test = four_classes(n=300, seed=2)
    parameters = TREE | {"multi_class": multi_class, "decision_function_shape": "ovr"} | parameters
    model, here = fit_both(spark, name, X, y, **parameters)
    there = model.to_sklearn()
    assert len(here.dual_coef_) == 3
    assert_equal_machines(there, here)
    expected = here.decision_function(X_test)
    assert expected.shape == (300, 4)
    rows = model.transform(frame(spark, X_test, y_test)).collect()
    raw = np.array([row.rawPrediction.toArray() for row in rows])
    assert np.allclose(raw, expected, atol=1e-9)
    assert np.array_equal([row.prediction for row in rows], here.predict(X_test))
    assert here.score(X_test, y_test) > 0.6
    pairs = [m.set_params(decision_function_shape="ovo").decision_function(X_test) for m in (there, here)]
    assert pairs[0].shape == (300, 6)
    assert np.allclose(*pairs, atol=1e-9)


def test_raw_predictions_are_by_class_whatever_the_shape_asked_for(spark):
    X, y = four_classes()
    parameters = TREE | {"multi_class": "ovo", "decision_function_shape": "ovo"}
    model, here = fit_both(spark, "CascadeClassifier", X, y, **parameters)
    rows = model.transform(frame(spark, X, y)).collect()
    assert here.decision_function(X).shape == (N, 6)
    assert {len(row.rawPrediction) for row in rows} == {4}
    assert np.array_equal([row.prediction for row in rows], here.predict(X))


@pytest.mark.slow
def test_two_runs_give_the_same_bits(spark):
    import sodm.spark

    X, y = data()
    table = frame(spark, X, y)
    for estimator in (sodm.spark.SODMClassifier(**TREE), sodm.spark.LinearODMClassifier()):
        first, second = (estimator.fit(table).to_sklearn() for _ in range(2))
        for name in ("dual_coef_", "support_", "coef_", "intercept_"):
            if hasattr(first, name):
                assert np.array_equal(getattr(first, name), getattr(second, name)), name


@pytest.mark.slow
def test_features_as_arrays_or_columns_and_text_labels(spark):
    import sodm.spark

    X, y = data()
    X = X.astype(np.float32)
    names = np.array(["no", "yes"])[y.astype(int)]
    rows = [(*map(float, x), x.tolist(), label) for x, label in zip(X, names, strict=True)]
    cells = [f"x{k}" for k in range(D)]
    types = ", ".join(f"{cell} float" for cell in cells)
    table = spark.createDataFrame(rows, f"{types}, all array<float>, label string")
    here = sodm.SODMClassifier(**TREE).fit(X, names)
    for columns in ({"featuresCols": cells}, {"featuresCol": "all"}):
        model = sodm.spark.SODMClassifier(**columns, **TREE).fit(table)
        assert model.to_sklearn().support_vectors_.dtype == np.float32
        assert_equal_machines(model.to_sklearn(), here)
        assert np.array_equal(predictions(model, table), here.predict(X))


@pytest.mark.slow
def test_partitions_of_the_frame_may_be_empty(spark):
    X, y = data(n=16)
    model, here = fit_both(spark, "SODMClassifier", X, y, slices=20, **TREE | {"n_partitions": 2})
    assert_equal_machines(model.to_sklearn(), here)


def with_validation(spark, X, y, X_held, y_held):
    """One DataFrame of rows to train on and rows to look at."""
    from pyspark.sql import functions as F

    table = frame(spark, X, y).withColumn("held", F.lit(False))
    return table.union(frame(spark, X_held, y_held).withColumn("held", F.lit(True)))


@pytest.mark.parametrize(
    ("name", "form", "parameters"),
    [
        ("SODMClassifier", "dense", TREE),
        pytest.param("DCClassifier", "sparse", TREE, marks=pytest.mark.slow),
        pytest.param("LinearODMClassifier", "sparse", {"lam": 10.0}, marks=pytest.mark.slow),
    ],
)
def test_validation_rows_are_looked_at_where_they_are(spark, monkeypatch, name, form, parameters):
    import sodm.spark
    from sodm.spark import validation
    from sodm.spark.rows import ClusterRows

    monkeypatch.setattr(validation, "PIECE_BYTES", 8 * 1024)  # so that machines come in pieces
    fetch, fetched = ClusterRows._fetch, []
    monkeypatch.setattr(
        ClusterRows,
        "_fetch",
        lambda self, numbers: (fetched.append((self.survey.n, len(numbers))), fetch(self, numbers))[1],
    )
    X, y = data(form)
    X_held, y_held = data(form, n=200, seed=2)
    y_held[:10] = 7.0  # a class that is not trained on: these are wrong, whatever the machine says
    table = with_validation(spark, X, y, X_held, y_held)
    model = getattr(sodm.spark, name)(validationIndicatorCol="held", **parameters).fit(table)
    here = getattr(sodm, name)(**parameters).fit(X, y, eval_set=(X_held, y_held))
    assert [r["accuracy"] for r in model.history_] == [r["accuracy"] for r in here.history_]
    assert 0.5 < here.history_[-1]["accuracy"] <= 0.95
    assert {n for n, _ in fetched} <= {N}  # none of the 200
    if name != "LinearODMClassifier":
        assert_equal_machines(model.to_sklearn(), here)


def test_validation_rows_that_will_not_do_are_refused(spark):
    import sodm.spark

    X, y = data(n=60)
    estimator = sodm.spark.SODMClassifier(validationIndicatorCol="held", **TREE)
    with pytest.raises(ValueError, match="validationIndicatorCol have 4 features, those to train on have 6"):
        estimator.fit(with_validation(spark, X, y, X[:20, :4], y[:20]))
    with pytest.raises(ValueError, match="no rows to look at"):
        estimator.fit(with_validation(spark, X, y, X, y).filter("not held"))


def test_history_has_the_overhead_apart(spark, capsys):
    X, y = data()
    model, _ = fit_both(spark, "SODMClassifier", X, y, verbose=1, **TREE)
    for record in model.history_:
        seconds = record["seconds"]
        assert 0 < seconds["engine"] <= seconds["solve"]
        assert sum(record["part_seconds"]) > 0
    assert set(model.timings) == {"packing", "passes", "solve", "probe", "shuffle", "schedule"}
    shown = capsys.readouterr().out
    assert "level 0: 4 parts" in shown and "overhead" in shown


def test_a_time_limit_ends_the_fit(spark):
    import sodm.spark

    X, y = data()
    model = sodm.spark.SODMClassifier(time_limit=0.0, **TREE).fit(frame(spark, X, y))
    assert model.stop_reason_ == "time limit"
    assert model.to_sklearn().score(X, y) > 0.6


@pytest.mark.slow
def test_rows_are_moved_once_for_several_levels(spark, monkeypatch):
    from sodm.spark.placement import Placement

    moved = []
    make = Placement.of
    monkeypatch.setattr(
        Placement,
        "of",
        lambda rows, numbers, cluster: (moved.append(len(numbers)), make(rows, numbers, cluster))[1],
    )
    X, y = data()
    model, here = fit_both(spark, "SODMClassifier", X, y, **TREE | {"n_partitions": 64, "stop_tol": 0.0})
    assert [record["n_partitions"] for record in here.history_][:2] == [64, 32]
    assert moved[:2] == [1, 64] and 32 not in moved  # the pilot, and the first level
    assert_equal_machines(model.to_sklearn(), here)


@pytest.mark.parametrize("form", ["dense", pytest.param("sparse", marks=pytest.mark.slow)])
def test_regions_equal_those_of_one_machine_bit_for_bit(spark, form):
    """Rows on borders go to the tasks of two regions; accuracy is looked at where the rows are."""
    import sodm.spark

    X, y = data(form, n=900)
    y[X[:, 2].toarray().ravel() > 0.5 if form == "sparse" else X[:, 2] > 0.5] = 2.0
    X_held, y_held = data(form, n=200, seed=2)
    parameters = {"regions": 9, "lam": 300.0, "gamma": 0.5, "random_state": 0}
    table = with_validation(spark, X, y, X_held, y_held)
    model = sodm.spark.SODMClassifier(validationIndicatorCol="held", **parameters).fit(table)
    there = model.to_sklearn()
    here = sodm.SODMClassifier(**parameters).fit(X, y, eval_set=(X_held, y_held))
    assert there.stop_reason_ == here.stop_reason_ == "regions"
    assert there.history_[0]["n_rows"] == here.history_[0]["n_rows"] > len(np.unique(there.support_))
    assert there.history_[0]["accuracy"] == here.history_[0]["accuracy"]
    assert np.array_equal(there.decision_function(X_held), here.decision_function(X_held))
    raw = np.array(
        [row.rawPrediction.toArray() for row in model.transform(frame(spark, X_held, y_held)).collect()]
    )
    assert np.array_equal(raw, here.decision_function(X_held))


@pytest.mark.parametrize("kept", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["kept", "passes"])
def test_landmarks_on_a_cluster_are_those_of_one_machine(spark, monkeypatch, kept):
    """Features of all rows, and passes over rows that have none, which are made by tasks."""
    from sodm.trees import span, trial, two_scale

    monkeypatch.setattr(two_scale, "EXACT_ROWS", 500)
    monkeypatch.setattr(trial, "REGION_ROWS", 300)
    if not kept:
        monkeypatch.setattr(span, "KEPT", 4 * 2000 * 150)
        monkeypatch.setattr(span, "PASS_ROWS", 1500)
    rng = np.random.RandomState(0)
    X = rng.randn(6000, 3)
    y = (X[:, 0] + 2 * rng.randn(len(X)) > 0).astype(float)
    model, here = fit_both(spark, "SODMClassifier", X, y, lam=1e4, gamma=0.1, random_state=0)
    assert model.stop_reason_ == here.stop_reason_ == "landmarks"
    query = rng.randn(200, 3)
    assert np.array_equal(model.to_sklearn().decision_function(query), here.decision_function(query))
