"""Tests whose packages are missing are left out, by name; one Spark cluster serves all that need one."""

from __future__ import annotations

import ast
import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

REQUIRED = os.environ.get("SODM_REQUIRE_SPARK") == "1"
HERE = Path(__file__).parent
OURS = (HERE, HERE.parent / "fuzz")  # helpers of the tests


@cache
def missing(file: Path) -> frozenset[str]:
    """Packages that a file of tests, or a helper of it here, imports at its head and that are missing."""
    names: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    ours = {
        name: folder / f"{name}.py" for name in names for folder in OURS if (folder / f"{name}.py").exists()
    }
    absent = {name for name in names - set(ours) if importlib.util.find_spec(name) is None}
    return frozenset(absent).union(*(missing(helper) for helper in ours.values()))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """With the light extra `test`, leave out tests of what it does not bring; CI has `test-all`, and all."""
    if collection_path.suffix != ".py" or os.environ.get("SODM_REQUIRE_ALL") == "1":
        return None
    return True if missing(collection_path) else None


def pytest_report_header() -> str | None:
    """Say what is left out, and why."""
    out = {file.name: missing(file) for file in sorted(HERE.glob("test_*.py"))}
    lines = [f"{name} ({', '.join(sorted(packages))})" for name, packages in out.items() if packages]
    return f"left out, as packages are missing: {', '.join(lines)}" if lines else None


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
