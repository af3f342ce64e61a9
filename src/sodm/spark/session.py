"""Classic sessions, which have RDDs; Spark Connect has none, and is told apart here and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession


def context_of(source: DataFrame | SparkSession) -> SparkContext:
    """The SparkContext of a session or DataFrame; refuses those of Spark Connect."""
    session: Any = getattr(source, "sparkSession", source)
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise TypeError(
            "sodm.spark needs a classic Spark session, and this one is of Spark Connect, which has no RDDs: "
            "make it with SparkSession.builder.master(...) instead of remote(...), or train without Spark."
        )
    context: SparkContext = session.sparkContext
    return context
