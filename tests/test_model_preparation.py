"""Pipelines that prepare tables, saved as plain data and loaded again."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, QuantileTransformer, StandardScaler

import sodm
from sodm.model import ModelFileError, container, to_onnx


def frame() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "c": rng.choice(["x", "y", "z", "rare", "odd"], n, p=[0.4, 0.3, 0.28, 0.01, 0.01]),
            "b": rng.normal(size=n),
            "k": rng.integers(0, 3, n),
            "t": rng.random(n) < 0.5,
        }
    )
    table.loc[::7, "a"] = np.nan
    table.loc[::9, "c"] = np.nan
    table.loc[1, "c"] = "rare"
    return table, np.where(table.b + table.k > 1, "yes", "no")


def pipeline() -> Any:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    names = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10),
    )
    columns = [("n", numbers, ["a", "b"]), ("c", names, ["c"]), ("k", OneHotEncoder(), ["k"])]
    return make_pipeline(ColumnTransformer(columns, remainder="passthrough"), sodm.ODMClassifier())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    table, y = frame()
    path = tmp_path_factory.mktemp("prepared") / "m.sodm"
    model = pipeline().fit(table, y)
    sodm.save(model, path)
    return model, path


def test_the_same_decisions_for_columns_in_any_order(saved: Any, tmp_path: Path) -> None:
    model, path = saved
    table, _ = frame()
    table.loc[3, "c"] = "never seen"
    loaded = sodm.load(path)
    expected = model.decision_function(table)
    assert np.array_equal(loaded.decision_function(table), expected)
    assert np.array_equal(loaded.decision_function(table[["t", "k", "c", "b", "a"]].assign(id=1)), expected)
    names = [name.replace("rest__", "remainder__") for name in loaded[0].get_feature_names_out()]
    assert names == model[0].get_feature_names_out().tolist()
    sodm.save(loaded, tmp_path / "again.sodm")
    assert (tmp_path / "again.sodm").read_bytes() == path.read_bytes()
    with pytest.raises(ValueError, match="columns are missing"):
        loaded.predict(table.drop(columns="b"))
    with pytest.raises(ValueError, match="convert the machine alone"):
        to_onnx(loaded, tmp_path / "m.onnx")


def test_the_file_is_plain_data_of_a_version_that_old_readers_refuse(saved: Any) -> None:
    header = json.loads(zipfile.ZipFile(saved[1]).read("header.json"))
    blocks = header["preparation"]["blocks"]
    assert header["version"] == 2 and [block["name"] for block in blocks] == ["n", "c", "k", "rest"]
    names = blocks[1]["steps"][1]["columns"][0]
    assert names == {"values": ["none", "odd", "rare", "x", "y", "z"], "rare": ["odd", "rare"]}


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.update(blocks=[]),
        lambda p: p.update(n_columns=4),
        lambda p: p["blocks"][0].update(columns=[0, 99]),
        lambda p: p["blocks"][0].update(columns=[0, 0]),
        lambda p: p["blocks"][0]["steps"].append({"kind": "os.system"}),
        lambda p: p["blocks"][0]["steps"][0].update(strategy="constant"),
        lambda p: p["blocks"][0]["steps"].reverse(),
        lambda p: p["blocks"][1]["steps"][0].update(texts=[1]),
        lambda p: p["blocks"][1]["steps"][1].update(handle_unknown="run"),
        lambda p: p["blocks"][1]["steps"][1]["columns"][0].update(
            rare=["none", "odd", "rare", "x", "y", "z"]
        ),
        lambda p: p["blocks"][1]["steps"][1]["columns"][0].update(values=["x", "x"]),
        lambda p: p["blocks"][2]["steps"][0]["columns"][0].update(values=[0, "1", 2]),
        lambda p: p["blocks"][2].update(name="n"),
    ],
)
def test_headers_that_make_no_sense_are_refused(saved: Any, tmp_path: Path, change: Any) -> None:
    with container.Reader(saved[1]) as reader:
        header = {k: v for k, v in reader.header.items() if k not in ("arrays", "format")}
        arrays = {name: reader.array(name) for name in reader.header["arrays"]}
    change(header["preparation"])
    container.write(tmp_path / "bad.sodm", header, arrays)
    with pytest.raises(ModelFileError, match="makes no sense"):
        sodm.load(tmp_path / "bad.sodm")


@pytest.mark.parametrize(
    ("piece", "says"),
    [
        (QuantileTransformer(n_quantiles=10), "QuantileTransformer cannot be saved"),
        (SimpleImputer(add_indicator=True), "add_indicator"),
        (make_pipeline(MinMaxScaler(), OneHotEncoder(drop="first")), "with drop"),
        (OneHotEncoder(min_frequency=1000), "all rare"),
    ],
)
def test_what_cannot_be_saved_says_so(tmp_path: Path, piece: Any, says: str) -> None:
    table, y = frame()
    model = make_pipeline(
        make_column_transformer((piece, ["k"]), (MinMaxScaler(), ["b"])), sodm.LinearODMClassifier()
    )
    with pytest.raises(TypeError, match=says):
        sodm.save(model.fit(table, y), tmp_path / "m.sodm")
    assert not (tmp_path / "m.sodm").exists()
