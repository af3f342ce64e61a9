"""What is private of pyspark: it is all in one file, and does what it did when it was written.

When pyspark changes, these tests fail before the others, and say where.
"""

from __future__ import annotations

import ast
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

PACKAGE = Path(__file__).parent.parent / "src" / "sodm" / "spark"
MODULES = ("pyspark.serializers", "pyspark.sql.pandas", "pyspark.core", "pyspark.sql.classic", "py4j")
FOR_SUBCLASSES = {"_dummy", "_resetUid"}  # of pyspark.ml, see private.py
# Of estimators.
OUR_OWN = {
    *("_automatic", "_check_parameters", "_fit_rows", "_maker"),
    *("_run_solver", "_settings", "_set_fitted", "_warn"),
}


def private_parts(file: Path) -> list[str]:
    """Names with an underscore of other objects, and private modules."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls", "super()") and node.attr not in FOR_SUBCLASSES | OUR_OWN:
                found.append(f"{file.name}:{node.lineno} {node.attr}")
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(MODULES):
            found.append(f"{file.name}:{node.lineno} {node.module}")
    return found


def test_private_parts_are_in_one_file() -> None:
    assert len(private_parts(PACKAGE / "private.py")) > 10
    assert [
        part for file in PACKAGE.glob("*.py") if file.name != "private.py" for part in private_parts(file)
    ] == []


def test_the_version_is_capped_and_this_one_was_tried() -> None:
    wanted = [Requirement(line) for line in metadata.requires("sodm") or []]
    (pyspark,) = [requirement for requirement in wanted if requirement.name == "pyspark"]
    assert any(limit.operator == "<" for limit in pyspark.specifier)
    assert pyspark.specifier.contains(metadata.version("pyspark"))


def test_a_dataframe_as_arrow_batches(spark):
    import pyarrow as pa

    from sodm.spark.private import arrow_batches, arrow_schema

    frame = spark.createDataFrame([(1, "a"), (2, "b"), (3, "c")], "x int, y string").repartition(1)
    schema = arrow_schema(frame)
    (batch,) = arrow_batches(frame).collect()
    table = pa.ipc.read_record_batch(pa.py_buffer(batch), schema)
    assert sorted(table.to_pylist(), key=str) == sorted(
        ({"x": row.x, "y": row.y} for row in frame.collect()), key=str
    )


def test_computing_fills_the_cache_without_python(spark):
    from sodm.spark.accumulators import ListAccumulator
    from sodm.spark.private import compute

    computed = ListAccumulator(spark.sparkContext)

    def note(x):
        computed.add(x)
        return x

    rdd = spark.sparkContext.parallelize(range(4), 2).map(note).cache()
    compute(rdd)
    assert sorted(computed.take()) == [0, 1, 2, 3]
    assert sorted(rdd.collect()) == [0, 1, 2, 3]
    assert computed.take() == []  # it came from the cache
    rdd.unpersist()


def test_items_are_brought_together_by_task(spark):
    from sodm.spark.private import joined_by_task, keyed_by_task, persist_pairs

    context = spark.sparkContext
    arrays = context.parallelize([(k % 3, np.full(2, k)) for k in range(9)], 2)
    words = context.parallelize([(0, "zero"), (2, "two")], 1)
    pairs = keyed_by_task(arrays, 3)
    persist_pairs(context, pairs)
    joined = joined_by_task(context, keyed_by_task(words, 3), pairs)
    assert joined.getNumPartitions() == 3  # placed by equal partitioners, so joined as they are
    for _ in range(2):  # the second time from the cache
        tasks = joined.glom().collect()
        numbers = [sorted(int(item[0]) for item in task if not isinstance(item, str)) for task in tasks]
        assert numbers == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
        assert [[item for item in task if isinstance(item, str)] for task in tasks] == [["zero"], [], ["two"]]
    pairs.unpersist()


def test_items_are_moved_without_kryo(spark):
    from sodm.spark.private import keyed_by_task

    pairs = keyed_by_task(spark.sparkContext.parallelize([(0, 0), (1, 1)], 2), 3)
    serializer = pairs.rdd().dependencies().head().serializer()
    assert serializer.getClass().getSimpleName() == "JavaSerializer"


@pytest.mark.parametrize("n_slices", [1, 2, 3])
def test_items_of_the_driver_are_sent_to_tasks(spark, n_slices):
    from sodm.spark.private import joined_by_task, keyed_by_task, sent_to_tasks

    context = spark.sparkContext
    sent = sent_to_tasks(context, [(2, "a"), (0, "b"), (2, "c"), (1, "d")], 3, n_slices)
    pairs = keyed_by_task(context.parallelize([(0, 0), (1, 1)], 1), 3)
    tasks = joined_by_task(context, sent, pairs).glom().collect()
    assert [sorted(task, key=str) for task in tasks] == [[0, "b"], [1, "d"], ["a", "c"]]


def test_items_are_moved_before_tasks_take_them(spark):
    from sodm.spark.accumulators import ListAccumulator
    from sodm.spark.private import joined_by_task, keyed_by_task, move

    context = spark.sparkContext
    made = ListAccumulator(context)

    def make(k):
        made.add(k)
        return k % 2, k

    pairs = keyed_by_task(context.parallelize(range(6), 2).map(make), 2)
    move(context, pairs)
    assert sorted(made.take()) == list(range(6))
    tasks = joined_by_task(context, pairs).glom().collect()
    assert [sorted(task) for task in tasks] == [[0, 2, 4], [1, 3, 5]]
    assert made.take() == []  # they were there


def test_an_error_on_the_way_is_raised(spark):
    from sodm.spark.private import keyed_by_task, move

    def broken(_):
        raise ArithmeticError("broken")

    with pytest.raises(Exception, match="broken"):
        move(spark.sparkContext, keyed_by_task(spark.sparkContext.parallelize([1]).map(broken), 1))


def test_the_application_and_its_executors(spark):
    from sodm.spark.private import count_executors, is_running

    assert is_running()
    spark.sparkContext.parallelize(range(4), 4).count()  # all executors are there now
    assert count_executors(spark.sparkContext) in (1, 2)


def test_files_there_and_back(spark, tmp_path):
    from sodm.spark.private import download, upload

    (tmp_path / "here").write_bytes(b"machine")
    upload(spark.sparkContext, tmp_path / "here", f"{(tmp_path / 'there').as_uri()}")
    assert (tmp_path / "there").read_bytes() == b"machine"
    download(spark.sparkContext, str(tmp_path / "there"), tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"machine"


def test_what_subclasses_of_params_use(spark):
    from pyspark.ml.param import Param, Params

    class One(Params):
        size = Param(Params._dummy(), "size", "how large")

    one, two = One(), One()
    one._setDefault(size=1)
    one._set(size=None)
    assert one._copyValues(two).getOrDefault("size") is None
    two._resetUid("another")
    assert two.uid == two.size.parent == "another" and two.getOrDefault("size") is None


def test_jobs_are_cancelled_by_tag(spark):
    from sodm.spark.clock import cancelled_when

    def sleep(_):
        time.sleep(120)

    with cancelled_when(spark.sparkContext, time.monotonic() + 1.0):
        spark.sparkContext.parallelize(range(2), 2).foreach(sleep)
        pytest.fail("the job was not cancelled")
