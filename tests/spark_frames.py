"""DataFrames for the tests, their rows in a known order."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def vectors(X: Any) -> list[Any]:
    """Dense or sparse vectors of Spark."""
    from pyspark.ml.linalg import Vectors

    if sparse.issparse(X):
        return [Vectors.sparse(X.shape[1], row.indices, row.data) for row in X]
    return [Vectors.dense(row) for row in X]


def frame(spark: Any, X: Any, y: np.ndarray, weights: np.ndarray | None = None, slices: int = 2) -> Any:
    """Columns features, label and, if given, weight."""
    columns = [vectors(X), y.tolist()] + ([] if weights is None else [weights.tolist()])
    names = ["features", "label", "weight"][: len(columns)]
    rows = list(zip(*columns, strict=True))
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, slices), names)


def predictions(model: Any, table: Any) -> np.ndarray:
    """The prediction for each row."""
    return np.array([row.prediction for row in model.transform(table).select("prediction").collect()])
