"""Whether Java and the executors will do: asked once, answered in one sentence."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from weakref import WeakKeyDictionary

from pyspark import SparkContext, TaskContext

from sodm.spark.private import count_executors, is_running

OLDEST_JAVA = 17

# How many executors an application had when they were asked.
_checked: WeakKeyDictionary[SparkContext, int] = WeakKeyDictionary()


def check_executors(context: SparkContext) -> None:
    """A tiny job: whether all executors have the sodm and NumPy that the driver has."""

    def versions(_: object) -> list[tuple[str, ...]]:
        # Nothing of sodm may be needed here: it may be missing, and that is to be said.
        import os
        import platform
        import time
        from importlib import metadata

        def version_of(name: str) -> str:
            try:
                return metadata.version(name)
            except metadata.PackageNotFoundError:
                return "none"

        time.sleep(0.05)  # so that tasks go to all executors, not all of them to the quickest
        python = ".".join(platform.python_version_tuple()[:2])
        where = f"{platform.node()}, {os.environ.get('SPARK_EXECUTOR_DIRS', os.getcwd())}"
        return [(where, version_of("sodm"), version_of("numpy"), python)]

    executors = count_executors(context)
    if _checked.get(context, 0) >= executors:
        return  # all of these have been asked before
    here = versions(None)[0]
    count = 2 * max(context.defaultParallelism, executors)
    found = set(context.parallelize(range(count), count).mapPartitions(versions).collect())
    for where, *there in sorted(found):
        for name, ours, theirs in zip(("sodm", "NumPy", "Python"), here[1:], there, strict=True):
            if ours != theirs:
                have = f"has no {name}" if theirs == "none" else f"has {name} {theirs}"
                raise RuntimeError(
                    f"The executor on {where} {have}, the driver has {ours}: install {name} {ours} on all "
                    "machines (PYSPARK_PYTHON names the interpreter that executors use)."
                )
    _checked[context] = executors


def check_java() -> None:
    """Refuse to start without a Java that Spark can use, saying what to install."""
    if is_running() or TaskContext.get() is not None:
        return  # there is one, of this process or of the executor that this is
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    found = None if java is None else _java_version(java)
    if found is not None and found >= OLDEST_JAVA:
        return
    what = "none was found" if found is None else f"the one found ({java}) is version {found}"
    raise ImportError(
        f"sodm.spark needs Java {OLDEST_JAVA} or newer, and {what}: install it (Debian: apt-get install "
        f"openjdk-17-jre-headless), or set JAVA_HOME to where it is."
    )


def _java_version(java: str) -> int | None:
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', told)
    if match is None:
        return None
    first = int(match[1])
    return int(match[2] or 0) if first == 1 else first
