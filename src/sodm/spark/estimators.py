"""pyspark.ml estimators: each trains the Python estimator of its name, on rows that stay on the cluster."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark import StorageLevel
from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from sklearn.utils.multiclass import check_classification_targets

import sodm
from sodm.estimators.linear_labels import need_two_classes
from sodm.estimators.weights import check_sample_weight, class_weights
from sodm.solvers.linear_solver import Start
from sodm.spark import models
from sodm.spark.cluster import Cluster
from sodm.spark.columns import Columns, find_columns
from sodm.spark.engine import SparkEngine
from sodm.spark.linear import ClusterLinearRows
from sodm.spark.packing import pack
from sodm.spark.params import ClassifierParams, MachineParams
from sodm.spark.rows import ClusterRows
from sodm.spark.session import context_of
from sodm.spark.survey import take_survey, with_summaries
from sodm.spark.validation import ValidationRows
from sodm.spark.versions import check_executors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class MachineEstimator(MachineParams, Estimator, DefaultParamsWritable, DefaultParamsReadable):
    """What the estimators share. Takes the columns' names and the Python estimator's parameters by name."""

    _model_class: type
    _labels_at_driver = True
    _classes = True  # whether labels are

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
        context = context_of(dataset)
        cluster = Cluster.of(context)
        machine = self._python_machine(cluster.task_cpus)
        columns = find_columns(
            dataset,
            self.getFeaturesCol(),
            self._optional("featuresCols"),
            self.getLabelCol(),
            self._optional("weightCol"),
            classes=self._classes,
        )
        check_executors(context)
        training, held_out = self._split(dataset)
        began = time.perf_counter()
        with ExitStack() as stack:
            stack.enter_context(cluster.errors("the rows"))
            rows = stack.enter_context(
                packed_rows(training, columns, cluster, self._labels_at_driver, classes=self._classes)
            )
            packed, validation = [rows], None
            if held_out is not None:
                others = stack.enter_context(packed_rows(held_out, columns, cluster, False, "to look at"))
                _check_width(others, rows)
                packed, validation = [rows, others], ValidationRows(others, rows.sparse)
            packing = time.perf_counter() - began
            timings = self._train(machine, rows, validation, cluster)
        machine.n_features_in_ = rows.shape[1]
        machine.set_params(n_jobs=None)
        passes = sum(each.passes.seconds for each in packed)
        timings = {"packing": packing, "passes": passes, **timings}
        model = self._model_class(machine, timings)
        model._resetUid(self.uid)  # a model is known by the name of its estimator, as all of pyspark.ml's are
        return self._copyValues(model)

    def _python_machine(self, n_threads: int) -> Any:
        """The Python estimator, its parameters checked."""
        machine = self._machine_class(**self.machine_params(), n_jobs=n_threads)
        if getattr(machine, "kernel", None) == "precomputed":
            raise ValueError(
                "kernel='precomputed' is a matrix of all rows with all rows, which no cluster shares: "
                "use a kernel by name."
            )
        machine._check_parameters()
        return machine

    def _split(self, dataset: DataFrame) -> tuple[DataFrame, DataFrame | None]:
        """Rows to train on, and rows to look at."""
        name = self._optional("validationIndicatorCol") if self.hasParam("validationIndicatorCol") else None
        if name is None:
            return dataset, None
        from pyspark.sql import functions as F
        from pyspark.sql.types import BooleanType

        field = next((field for field in dataset.schema.fields if field.name == name), None)
        if field is None or not isinstance(field.dataType, BooleanType):
            raise TypeError(f"validationIndicatorCol {name!r} must be a column of booleans.")
        held_out = F.coalesce(F.col(f"`{name}`"), F.lit(False))
        return dataset.filter(~held_out), dataset.filter(held_out)

    def _train(
        self, machine: Any, rows: ClusterRows, validation: ValidationRows | None, cluster: Cluster
    ) -> dict[str, float]:
        """Fit the Python estimator; what took how long is returned."""
        engine = SparkEngine(cluster)
        labels = rows.labels()
        if self._classes:
            check_classification_targets(labels)
        weights = check_sample_weight(rows.weights(), len(labels))
        try:
            machine._fit_rows(rows, labels, weights, engine=engine, evaluation=validation)
        finally:
            engine.release()
        return engine.seconds


def _check_width(validation: ClusterRows, training: ClusterRows) -> None:
    """Refuse validation rows that have other features."""
    if validation.shape[1] != training.shape[1]:
        raise ValueError(
            f"The rows of validationIndicatorCol have {validation.shape[1]} features, those to train on "
            f"have {training.shape[1]}."
        )


@contextmanager
def packed_rows(
    frame: DataFrame,
    columns: Columns,
    cluster: Cluster,
    bring_labels: bool,
    purpose: str = "to train on",
    classes: bool = True,
) -> Iterator[ClusterRows]:
    """The rows of a DataFrame, packed and cached as long as they are needed."""
    blocks, summaries = with_summaries(pack(frame, columns), bring_labels, classes)
    blocks.persist(StorageLevel.MEMORY_AND_DISK_DESER)  # as the byte strings that Python takes
    try:
        with cluster.errors("packing the rows"):
            survey = take_survey(blocks, summaries, purpose)
        yield ClusterRows(blocks, survey)
    finally:
        blocks.unpersist()


class ClassifierEstimator(ClassifierParams, MachineEstimator):
    """What the classifiers share."""


class SODMClassifier(ClassifierEstimator, machine=sodm.SODMClassifier, model=models.SODMClassifierModel):
    """:class:`sodm.SODMClassifier` on a cluster.

    Examples
    --------
    >>> from sodm.spark import SODMClassifier
    >>> SODMClassifier(lam=100.0, n_partitions=8).getOrDefault("lam")
    100.0
    """


class CascadeClassifier(
    ClassifierEstimator, machine=sodm.CascadeClassifier, model=models.CascadeClassifierModel
):
    """:class:`sodm.CascadeClassifier` on a cluster."""


class DiPClassifier(ClassifierEstimator, machine=sodm.DiPClassifier, model=models.DiPClassifierModel):
    """:class:`sodm.DiPClassifier` on a cluster."""


class DCClassifier(ClassifierEstimator, machine=sodm.DCClassifier, model=models.DCClassifierModel):
    """:class:`sodm.DCClassifier` on a cluster."""


class LinearODMClassifier(
    ClassifierEstimator, machine=sodm.LinearODMClassifier, model=models.LinearODMClassifierModel
):
    """:class:`sodm.LinearODMClassifier` on a cluster: solver "newton", which is "auto", or "dsvrg"."""

    _labels_at_driver = False

    def _python_machine(self, n_threads: int) -> Any:
        machine = super()._python_machine(n_threads)
        if machine.loss == "hinge":
            raise ValueError(
                "The linear machine with loss='hinge' is solved by coordinate descent, which goes row by row "
                "and not on a cluster: use SODMClassifier(kernel='linear', loss='hinge')."
            )
        if machine.solver not in ("auto", "newton", "dsvrg"):
            raise ValueError(f"solver={machine.solver!r} does not run on a cluster: use 'newton' or 'dsvrg'.")
        return machine

    def _train(
        self, machine: Any, rows: ClusterRows, validation: ValidationRows | None, cluster: Cluster
    ) -> dict[str, float]:
        totals = rows.survey.totals
        classes = np.array(list(totals))
        check_classification_targets(classes)
        need_two_classes(type(machine).__name__, classes, rows.survey.weighted)
        factors = None
        if machine.class_weight is not None:
            weights = np.array(list(totals.values()))
            factors = class_weights(machine.class_weight, classes, np.arange(len(classes)), weights)
        maker = machine._maker(classes, factors)
        source = ClusterLinearRows(rows, maker, cluster)
        if machine.lam == "auto":
            maker = machine._automatic(maker, source.weight, source.mean_square(), source.width)
            source = ClusterLinearRows(rows, maker, cluster)
        start = Start(np.zeros((len(maker.positive), source.width)))
        accuracy = None if validation is None else partial(validation.accuracy_of_weights, maker)
        try:
            watched = {"accuracy": accuracy, "random_state": machine.random_state}
            trained = machine._run_solver(source, maker.loss, start, machine._settings(), **watched)
        finally:
            source.release()
        machine._set_fitted(trained, maker)
        machine._warn(trained)
        return source.seconds
