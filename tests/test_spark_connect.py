"""Sessions of Spark Connect, which have no RDDs, are refused in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[1]").getOrCreate()
from sodm.spark import SODMClassifier
table = spark.createDataFrame([([0.0], 0.0), ([1.0], 1.0)], "features array<double>, label double")
try:
    SODMClassifier().fit(table)
except TypeError as error:
    print("refused:", error)
finally:
    spark.stop()
"""


def test_a_session_of_spark_connect_is_refused(spark_package, tmp_path):
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
    pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPARK")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env=environment | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable},
    )
    assert "refused: sodm.spark needs a classic Spark session" in done.stdout, done.stderr[-2000:]


def test_what_is_of_spark_connect_is_told_by_its_module(spark_package):
    """The test above needs packages that most do not have; this one does without."""
    from sodm.spark.session import context_of

    of_connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    frame = type("DataFrame", (), {"sparkSession": of_connect})()
    for source in (of_connect, frame):
        with pytest.raises(
            TypeError, match="needs a classic Spark session, and this one is of Spark Connect"
        ):
            context_of(source)
