"""One Spark cluster for all tests that need one, in one process of a parallel run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

REQUIRED = os.environ.get("SODM_REQUIRE_SPARK") == "1"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests on any process as it becomes free, but all that share the cluster on one, and those first."""
    from xdist.scheduler import LoadScopeScheduling

    class OneCluster(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if "/test_spark_" in nodeid else nodeid

    return OneCluster(config, log)


def _absent(why: str) -> None:
    if REQUIRED:
        pytest.fail(f"SODM_REQUIRE_SPARK is set, but {why}.")
    pytest.skip(why)


@pytest.fixture(scope="session")
def spark_package() -> Any:
    """`sodm.spark`, where pyspark and Java are to be had."""
    try:
        import sodm.spark
    except ImportError as error:
        _absent(str(error).rstrip("."))
    return sodm.spark


@pytest.fixture(scope="session")
def cluster(spark_package: Any) -> Iterator[Any]:
    """A standalone cluster: a master and two workers of one core each."""
    from spark_cluster import StandaloneCluster

    started = StandaloneCluster(n_workers=2)
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="session")
def spark(cluster: Any) -> Iterator[Any]:
    """A session on the cluster."""
    session = cluster.session()
    try:
        yield session
    finally:
        session.stop()
