"""One Spark cluster for all tests that need one, in one process of a parallel run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

REQUIRED = os.environ.get("SODM_REQUIRE_SPARK") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name.startswith("test_spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))


def _absent(why: str) -> None:
    if REQUIRED:
        pytest.fail(f"SODM_REQUIRE_SPARK is set, but {why}.")
    pytest.skip(why)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A standalone cluster: a master and two workers of one core each."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        _absent("pyspark is not installed")
    try:
        import sodm.spark  # noqa: F401
    except ImportError as error:
        _absent(str(error).rstrip("."))
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
