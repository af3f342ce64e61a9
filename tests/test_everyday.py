"""What people expect of an estimator beside fit and predict: other tools, text, objects, a quick import."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sodm
from sodm import (
    LinearODMClassifier,
    LinearODMRegressor,
    ODMClassifier,
    ODMClassifierCV,
    ODMRegressor,
    ODMRegressorCV,
    SODMClassifier,
    SODMRegressor,
)
from sodm.model.machines import MACHINES, SEARCHES
from sodm.search.calibrate import Calibrator, Sigmoid
from sodm.training.local_machines import LocalMachines

OPTIONAL = ("matplotlib", "typer", "onnx", "pyspark", "plotly", "sklearn.impute", "sklearn.compose", "pandas")


def test_importing_imports_nothing_that_is_optional() -> None:
    """Beside what scikit-learn imports by itself."""
    code = (
        "import sys, sklearn.base, sklearn.svm, sklearn.pipeline; before = set(sys.modules); import sodm; "
        f"print([m for m in {OPTIONAL} if m in sys.modules and m not in before])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize(
    "machine",
    [
        *(ODMClassifier(), SODMClassifier(), LinearODMClassifier(), ODMRegressor()),
        *(SODMClassifier(regions=40), SODMRegressor(regions=40)),
    ],
)
def test_what_is_stored_of_a_machine_is_plain_but_for_its_class(machine: Any) -> None:
    """So skops, and MLflow with it, need to be told one name: that of the machine."""
    X, y = load_iris(return_X_y=True)
    machine.fit(X, y)
    kinds: set[type] = set()
    _types_in(machine.__getstate__(), kinds)
    assert kinds <= {dict, list, tuple, str, int, float, bool, type(None), np.ndarray}
    if getattr(machine, "regions", None) == 40:
        assert isinstance(machine._machines, LocalMachines)
    assert np.array_equal(pickle.loads(pickle.dumps(machine)).predict(X), machine.predict(X))
    state = {**machine.__getstate__(), "_machines": getattr(machine, "_machines", None)}  # older pickles
    old = type(machine).__new__(type(machine))
    old.__setstate__(state)
    assert np.array_equal(old.predict(X), machine.predict(X))


def _types_in(value: Any, kinds: set[type]) -> None:
    kinds.add(np.ndarray if isinstance(value, np.generic | np.ndarray) else type(value))
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            _types_in(item, kinds)


def test_skops_loads_all_machines_by_the_types_we_declare() -> None:
    io = pytest.importorskip("skops.io")
    X, y = load_iris(return_X_y=True)
    machines = [getattr(sodm, name)() for name in (*MACHINES, *SEARCHES)]
    two = y < 2
    machines += [ODMClassifierCV(refit="scalable"), ODMClassifierCV().fit(X[two], y[two])]
    machines += [SODMClassifier(regions=40), SODMRegressor(regions=40)]
    for machine in machines:
        if not hasattr(machine, "classes_"):
            machine.fit(X, y)
        stored = io.dumps(machine)
        assert set(io.get_untrusted_types(data=stored)) <= set(sodm.model.TRUSTED_TYPES)
        assert np.array_equal(
            io.loads(stored, trusted=sodm.model.TRUSTED_TYPES).predict(X), machine.predict(X)
        )


class Stranger(BaseEstimator):  # type: ignore[misc]
    """A type that nobody has vouched for."""


def test_skops_saves_and_loads_with_no_word_about_types(tmp_path: Path) -> None:
    exceptions = pytest.importorskip("skops.io.exceptions")
    import sodm.skops

    X, y = load_iris(return_X_y=True)
    machine = make_pipeline(StandardScaler(), SODMClassifier(regions=40)).fit(X, y)
    sodm.skops.dump(machine, tmp_path / "machine.skops")
    assert np.array_equal(sodm.skops.load(tmp_path / "machine.skops").predict(X), machine.predict(X))
    assert np.array_equal(sodm.skops.loads(sodm.skops.dumps(machine)).predict(X), machine.predict(X))
    stored = sodm.skops.dumps([machine, Stranger()])
    with pytest.raises(exceptions.UntrustedTypesFoundException, match="Stranger"):
        sodm.skops.loads(stored)
    assert isinstance(sodm.skops.loads(stored, trusted=[Stranger])[1], Stranger)


def test_mlflow_logs_machines_in_pipelines_and_searches_by_itself(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", minversion="3")
    X, y = load_iris(return_X_y=True)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("e", (tmp_path / "files").as_uri()))
    mlflow.sklearn.autolog(silent=True)
    try:
        for made in (
            make_pipeline(StandardScaler(), ODMClassifier()),
            GridSearchCV(ODMClassifier(), {"lam": [10.0]}, cv=2),
        ):
            made.fit(X, y)
            run = mlflow.last_active_run()
            assert run.data.metrics["training_score"] == made.score(X, y)
            assert "ODMClassifier()" in (
                run.data.params.get("odmclassifier"),
                run.data.params.get("estimator"),
            )
            stored = mlflow.search_logged_models(
                filter_string=f"source_run_id = '{run.info.run_id}'", output_format="list"
            )
            assert any(
                np.array_equal(mlflow.sklearn.load_model(one.model_uri).predict(X), made.predict(X))
                for one in stored
            )
    finally:
        mlflow.sklearn.autolog(disable=True)


@pytest.mark.parametrize(
    "machine",
    [
        make_pipeline(StandardScaler(), SODMClassifier(regions=40)),
        ODMClassifierCV(),
        LinearODMClassifier(),
        ODMRegressor(),
    ],
)
def test_mlflow_saves_and_loads_with_no_word_about_types(machine: Any, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", minversion="3")
    pytest.importorskip("skops")
    from sodm.mlflow import save_model

    X, y = load_iris(return_X_y=True)
    machine.fit(X, y)
    save_model(machine, tmp_path / "model", pip_requirements=["sodm"])  # named: MLflow would run to find them
    wanted = machine.predict(X)
    assert np.array_equal(mlflow.sklearn.load_model(str(tmp_path / "model")).predict(X), wanted)
    assert np.array_equal(mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(X), wanted)


def test_all_classes_in_a_search_are_declared() -> None:
    kinds = {Sigmoid, *get_args(Calibrator), ODMClassifierCV, ODMRegressorCV}
    assert {f"{kind.__module__}.{kind.__qualname__}" for kind in kinds} <= set(sodm.model.TRUSTED_TYPES)


@pytest.mark.parametrize("machine", [ODMClassifier(), LinearODMClassifier(), ODMRegressor()])
def test_text_in_a_column_is_named_with_the_remedy(machine: Any) -> None:
    frame = pd.DataFrame({"kg": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    y = [0, 1, 0]
    for X, column in ((frame, "'colour'"), (frame.to_numpy(), "1"), (frame.to_numpy().tolist(), "1")):
        with pytest.raises(ValueError, match=rf"column {column} of X holds text \('red'\).*OneHotEncoder"):
            machine.fit(X, y)
    machine.fit(pd.DataFrame({"kg": ["1.0", "2.0", "3.0"]}), y)  # numbers in quotes are numbers


@pytest.mark.parametrize("machine", [ODMClassifier(), LinearODMRegressor()])
def test_dates_in_a_column_are_named_with_the_remedy(machine: Any) -> None:
    frame = pd.DataFrame({"kg": [1.0, 2.0, 3.0], "day": pd.date_range("2024-02-01", periods=3)})
    forms = [(frame, "'day'"), (frame[["day"]], "'day'"), (frame.to_numpy(), "1")]
    polars = pytest.importorskip("polars")
    forms += [(polars.DataFrame({"kg": [1.0, 2.0, 3.0], "day": frame["day"].tolist()}), "'day'")]
    for X, column in forms:
        with pytest.raises(
            ValueError, match=rf"column {column} of X holds dates or times \(2024-02-01.*weekday"
        ):
            machine.fit(X, [0, 1, 0])


@pytest.mark.parametrize("machine", [ODMRegressor(), SODMRegressor(), LinearODMRegressor(), ODMRegressorCV()])
def test_text_as_targets_is_told_where_classes_go(machine: Any) -> None:
    name = type(machine).__name__.removesuffix("CV")
    with pytest.raises(
        ValueError, match=rf"y holds text \('low'\), and {name}.* learns numbers: .*Classifier"
    ):
        machine.fit(np.eye(4), ["1", "low", "high", "low"])


@pytest.mark.parametrize("machine", [ODMClassifier(), LinearODMClassifier(), SODMClassifier()])
def test_labels_of_two_kinds_are_named(machine: Any) -> None:
    with pytest.raises(ValueError, match=r"y mixes text \('a'\) and other labels \(1\)"):
        machine.fit(np.eye(4), np.array(["a", 1, "a", 1], dtype=object))


@pytest.mark.parametrize("machine", [ODMClassifier(), SODMClassifier(), ODMRegressor(), ODMClassifierCV()])
def test_numbers_too_large_to_be_squared_are_refused(machine: Any) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="too large to be squared: scale it"):
        machine.fit(X * 1e200, y)


def test_regressors_count_their_support_vectors_as_svr_does() -> None:
    X, y = load_iris(return_X_y=True)
    machine = ODMRegressor(epsilon=0.1)
    assert not hasattr(machine, "n_support_")
    machine.fit(X, y)
    assert machine.n_support_.tolist() == [len(machine.support_)] and machine.n_support_.dtype == np.int32


def shared_letters(A: Any, B: Any) -> list[list[float]]:
    return [[float(len(set(a) & set(b))) for b in B] for a in A]


def test_a_kernel_of_anything() -> None:
    words = ["abc", "abd", "xyz", "xyw", "bcd", "wz", "a", "zzz"] * 4
    y = np.array([int(set(word) & set("wxyz") != set()) for word in words])
    machine = ODMClassifier(kernel=shared_letters, lam=100.0).fit(words, y)
    assert np.array_equal(machine.predict(words), y)
    matrix = np.array(shared_letters(words, words))
    same = ODMClassifier(kernel="precomputed", lam=100.0, tol=1e-8).fit(matrix, y)
    exact = ODMClassifier(kernel=shared_letters, lam=100.0, tol=1e-8).fit(words, y)
    new = ["cab", "wxz"]
    assert np.allclose(
        exact.decision_function(new), same.decision_function(shared_letters(new, words)), atol=1e-5
    )
    assert np.array_equal(pickle.loads(pickle.dumps(machine)).predict(new), [0, 1])
    assert cross_val_score(machine, words, y, cv=2).mean() > 0.9  # lists are split as lists
    regressor = ODMRegressor(kernel=shared_letters).fit(words, y.astype(float))
    assert regressor.predict(new).shape == (2,)
    search = sodm.ODMClassifierCV(kernel=shared_letters).fit(words, y)
    assert np.array_equal(search.predict(new), [0, 1])
    numbers = sodm.ODMRegressorCV(kernel=shared_letters).fit(words, y.astype(float))
    assert np.abs(numbers.predict(words) - y).max() < 0.5
