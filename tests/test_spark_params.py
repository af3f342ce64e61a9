"""Params come from the Python estimators; Java is asked for in one sentence. No cluster needed."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import pytest

import sodm

pytest.importorskip("pyspark")

NAMES = ["SODMClassifier", "CascadeClassifier", "DiPClassifier", "DCClassifier", "LinearODMClassifier"]
NAMES += ["SODMRegressor", "LinearODMRegressor"]


@pytest.fixture(scope="module")
def package(spark_package):
    return spark_package


@pytest.mark.parametrize("name", NAMES)
def test_params_are_those_of_the_python_estimator(package, name):
    machine, estimator = getattr(sodm, name), getattr(package, name)()
    signature = inspect.signature(machine).parameters
    for parameter, entry in signature.items():
        if parameter in ("n_jobs", "warm_start"):
            assert not estimator.hasParam(parameter)
            continue
        assert estimator.getOrDefault(parameter) == entry.default
        assert len(estimator.getParam(parameter).doc) > len(parameter), f"{parameter} has no description"
    assert estimator.machine_params().keys() == signature.keys() - {"n_jobs", "warm_start"}


def test_unknown_params_are_refused(package):
    with pytest.raises(ValueError, match="n_jobs is no parameter on a cluster"):
        package.SODMClassifier(n_jobs=2)
    with pytest.raises(ValueError, match="has no parameter 'gama'"):
        package.SODMClassifier(gama=1.0)


@pytest.mark.parametrize(
    ("version", "message"),
    [("11.0.2", "is version 11"), ("1.8.0_292", "is version 8"), (None, "none was found")],
)
def test_a_missing_or_old_java(tmp_path, version, message):
    folder = tmp_path / "bin"
    folder.mkdir()
    if version is not None:
        java = folder / "java"
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
        java.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if k != "JAVA_HOME"} | {"PATH": str(folder)}
    program = "import sodm.spark"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120
    )
    last = done.stderr.strip().splitlines()[-1]
    assert "sodm.spark needs Java 17 or newer" in last and message in last and "apt-get install" in last


def test_sizes_as_spark_writes_them(package):
    from sodm.spark.cluster import size_in_bytes

    assert size_in_bytes("1g") == 2**30
    with pytest.raises(ValueError, match="no size that Spark knows"):
        size_in_bytes("much")
