"""pyspark.ml estimators: each trains the Python estimator of its name, on rows that stay on the cluster."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark import StorageLevel
from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from sklearn.utils.multiclass import check_classification_targets

import sodm
from sodm.engines.spark import SparkEngine
from sodm.estimators.linear_labels import need_two_classes
from sodm.estimators.weights import check_sample_weight, class_weights
from sodm.spark import models
from sodm.spark.cluster import Cluster, check_executors
from sodm.spark.linear import ClusterLinearRows
from sodm.spark.packing import find_columns, pack
from sodm.spark.params import MachineParams
from sodm.spark.rows import ClusterRows, survey, watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class MachineEstimator(MachineParams, Estimator, DefaultParamsWritable, DefaultParamsReadable):
    """What the estimators share. Takes the columns' names and the Python estimator's parameters by name."""

    _model_class: type
    _labels_at_driver = True

    def __init_subclass__(cls, machine: type | None = None, model: type | None = None, **others: Any) -> None:
        super().__init_subclass__(machine=machine, **others)
        if machine is not None and model is not None:
            cls._model_class = model
            columns = [name for name in dir(cls) if name.endswith(("Col", "Cols")) and name[0].islower()]
            columns = [name for name in columns if not callable(getattr(cls, name))]
            names = [*columns, *inspect.signature(machine).parameters]
            cls.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
                [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]
            )

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        self.setParams(**parameters)

    def _fit(self, dataset: DataFrame) -> Any:
        machine = self._python_machine()
        columns = find_columns(
            dataset,
            self.getFeaturesCol(),
            self._optional("featuresCols"),
            self.getLabelCol(),
            self._optional("weightCol"),
        )
        context = dataset.sparkSession.sparkContext
        check_executors(context)
        training, validation = self._split(dataset)
        cluster = Cluster.of(context)
        machine.n_jobs = cluster.task_cpus
        began = time.perf_counter()
        packed = packed_rows(training, columns, cluster, self._labels_at_driver)
        with cluster.errors("the rows"), packed as rows:
            packing = time.perf_counter() - began
            held_out = None
            if validation is not None:
                with packed_rows(validation, columns, cluster, True) as others:
                    held_out = others[np.arange(others.shape[0])], others.labels()
            machine.n_features_in_ = rows.shape[1]
            timings = self._train(machine, rows, held_out, cluster)
        machine.n_jobs = None
        timings = {"packing": packing, "passes": rows.clock.seconds, **timings}
        model = self._model_class(machine, timings)
        return self._copyValues(model)

    def _python_machine(self) -> Any:
        machine = self._machine_class(**self.machine_params())
        if getattr(machine, "kernel", None) == "precomputed":
            raise ValueError(
                "kernel='precomputed' is a matrix of all rows with all rows, which no cluster shares: "
                "use a kernel by name."
            )
        machine._check_parameters()
        return machine

    def _split(self, dataset: DataFrame) -> tuple[DataFrame, DataFrame | None]:
        """Rows to train on, and rows to look at."""
        name = self._optional("validationIndicatorCol")
        if name is None:
            return dataset, None
        from pyspark.sql import functions as F
        from pyspark.sql.types import BooleanType

        field = next((field for field in dataset.schema.fields if field.name == name), None)
        if field is None or not isinstance(field.dataType, BooleanType):
            raise TypeError(f"validationIndicatorCol {name!r} must be a column of booleans.")
        apart = F.coalesce(F.col(f"`{name}`"), F.lit(False))
        return dataset.filter(~apart), dataset.filter(apart)

    def _train(self, machine: Any, rows: ClusterRows, held_out: Any, cluster: Cluster) -> dict[str, float]:
        """Fit the Python estimator; what took how long is returned."""
        engine = SparkEngine(cluster)
        labels, weights = rows.labels(), rows.weights()
        check_classification_targets(labels)
        weights = check_sample_weight(weights, len(labels))
        evaluation = machine._check_eval_set(held_out)
        try:
            machine._fit_rows(rows, labels, weights, engine=engine, evaluation=evaluation)
        finally:
            engine.release()
        return engine.seconds


@contextmanager
def packed_rows(
    frame: DataFrame, columns: Any, cluster: Cluster, bring_labels: bool
) -> Iterator[ClusterRows]:
    """The rows of a DataFrame, packed and cached as long as they are needed."""
    blocks, watcher = watched(pack(frame, columns), bring_labels)
    blocks.persist(StorageLevel.MEMORY_AND_DISK_DESER)  # as the byte strings that Python takes
    try:
        with cluster.errors("packing the rows"):
            found = survey(blocks, watcher)
        yield ClusterRows(blocks, found)
    finally:
        blocks.unpersist()


class SODMClassifier(MachineEstimator, machine=sodm.SODMClassifier, model=models.SODMClassifierModel):
    """:class:`sodm.SODMClassifier` on a cluster.

    Examples
    --------
    >>> from sodm.spark import SODMClassifier
    >>> SODMClassifier(lam=100.0, n_partitions=8).getOrDefault("lam")
    100.0
    """


class CascadeClassifier(
    MachineEstimator, machine=sodm.CascadeClassifier, model=models.CascadeClassifierModel
):
    """:class:`sodm.CascadeClassifier` on a cluster."""


class DiPClassifier(MachineEstimator, machine=sodm.DiPClassifier, model=models.DiPClassifierModel):
    """:class:`sodm.DiPClassifier` on a cluster."""


class DCClassifier(MachineEstimator, machine=sodm.DCClassifier, model=models.DCClassifierModel):
    """:class:`sodm.DCClassifier` on a cluster."""


class LinearODMClassifier(
    MachineEstimator, machine=sodm.LinearODMClassifier, model=models.LinearODMClassifierModel
):
    """:class:`sodm.LinearODMClassifier` on a cluster: solver "newton", which is "auto", or "dsvrg"."""

    _labels_at_driver = False

    def _python_machine(self) -> Any:
        machine = super()._python_machine()
        if machine.loss == "hinge":
            raise ValueError(
                "The linear machine with loss='hinge' is solved by coordinate descent, which goes row by row "
                "and not on a cluster: use SODMClassifier(kernel='linear', loss='hinge')."
            )
        if machine.solver not in ("auto", "newton", "dsvrg"):
            raise ValueError(f"solver={machine.solver!r} does not run on a cluster: use 'newton' or 'dsvrg'.")
        return machine

    def _train(self, machine: Any, rows: ClusterRows, held_out: Any, cluster: Cluster) -> dict[str, float]:
        classes, totals = np.array(list(rows.found.totals)), np.array(list(rows.found.totals.values()))
        check_classification_targets(classes)
        need_two_classes(type(machine).__name__, classes, rows.found.weighted)
        factors = class_weights(machine.class_weight, classes, np.arange(len(classes)), totals)
        maker = machine._maker(classes, None if machine.class_weight is None else factors)
        source = ClusterLinearRows.of(maker, rows, cluster)
        try:
            machine._train(source, maker, machine._zero(maker), held_out)
        finally:
            source.release()
        return source.seconds
