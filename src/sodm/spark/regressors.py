"""pyspark.ml estimators of the regressors: the column of the labels is the target."""

from __future__ import annotations

from typing import Any

import numpy as np

import sodm
from sodm.solvers.linear_solver import Start
from sodm.spark import models
from sodm.spark.cluster import Cluster
from sodm.spark.estimators import MachineEstimator
from sodm.spark.linear import ClusterSums, TargetBlockMaker, sums_of_targets
from sodm.spark.rows import ClusterRows
from sodm.spark.sums import sum_over_blocks
from sodm.spark.validation import ValidationRows


class RegressorEstimator(MachineEstimator):
    """What the regressors share."""

    _classes = False


class SODMRegressor(RegressorEstimator, machine=sodm.SODMRegressor, model=models.SODMRegressorModel):
    """:class:`sodm.SODMRegressor` on a cluster: regions are solved by its tasks.

    Examples
    --------
    >>> from sodm.spark import SODMRegressor
    >>> SODMRegressor(epsilon=0.5, regions=8).getOrDefault("epsilon")
    0.5
    """


class LinearODMRegressor(
    RegressorEstimator, machine=sodm.LinearODMRegressor, model=models.LinearODMRegressorModel
):
    """:class:`sodm.LinearODMRegressor` on a cluster."""

    _labels_at_driver = False

    def _train(
        self, machine: Any, rows: ClusterRows, validation: ValidationRows | None, cluster: Cluster
    ) -> dict[str, float]:
        with cluster.errors("a pass over the targets"):
            summed = sum_over_blocks(rows.blocks, sums_of_targets)
        assert summed is not None
        if not summed.weight > 0:
            raise ValueError("The DataFrame has no rows with a weight > 0.")
        maker = machine._maker(summed)
        source = ClusterSums(rows, TargetBlockMaker(maker, rows.sparse), summed.weight, cluster)
        start = Start(np.zeros((len(maker.centre), source.width)))
        trained = machine._run_solver(source, maker.loss, start, machine._settings())
        machine._set_fitted(trained, maker, flat=True)
        machine._warn(trained)
        return source.seconds
