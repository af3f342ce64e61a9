"""Fitted machines as pyspark.ml models: a Python machine, and the columns it works on."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray
from pyspark import SparkContext
from pyspark.ml import Model
from pyspark.ml.util import MLReadable, MLReader, MLWritable, MLWriter

import sodm
from sodm.spark.columns import find_columns
from sodm.spark.files import MachineReader, MachineWriter
from sodm.spark.params import ClassifierParams, MachineParams
from sodm.spark.scoring import ClassScores, NumberScores, Scores, SentMachine, score, send_machine
from sodm.spark.session import context_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class MachineModel(MachineParams, Model, MLWritable, MLReadable[Any]):
    """What the models share.

    Parameters
    ----------
    machine : fitted Python estimator
    timings : dict, optional
        Seconds of the fit by what they were spent on: packing; passes over the packed rows (samples,
        hashes, strata, probes); solve; shuffle; schedule. What is missing was spent at the driver.
    """

    def __init__(self, machine: Any, timings: dict[str, float] | None = None) -> None:
        super().__init__()
        self.machine = machine
        self.timings = timings or {}
        self._sent: tuple[SparkContext, SentMachine] | None = None

    def to_sklearn(self) -> Any:
        """The Python estimator, fitted: it serves where there is no Spark."""
        return self.machine

    @classmethod
    def from_sklearn(cls, machine: Any, **columns: Any) -> Self:
        """A model from a fitted Python estimator, and the names of columns.

        Parameters
        ----------
        machine : fitted estimator of the kind that this model is made of
        **columns
            featuresCol, featuresCols, predictionCol, rawPredictionCol.
        """
        if not isinstance(machine, cls._machine_class):
            raise TypeError(
                f"{cls.__name__} is made of a sodm.{cls._machine_class.__name__}, not of "
                f"{type(machine).__name__}."
            )
        model = cls(machine)
        own = machine.get_params(deep=False).items()
        given = {name: value for name, value in own if model.hasParam(name)}
        return model.setParams(**given, **columns)

    @property
    def numFeatures(self) -> int:
        """How many features a row has."""
        return int(self.machine.n_features_in_)

    @property
    def history_(self) -> list[dict[str, Any]]:
        """One record for each level, epoch or step of the fit, as the Python estimator keeps it."""
        return getattr(self.machine, "history_", [])

    @property
    def stop_reason_(self) -> str | None:
        """Which rule ended the training of a tree."""
        return getattr(self.machine, "stop_reason_", None)

    @abstractmethod
    def _scores(self) -> Scores:
        """What is written beside rows."""

    def _transform(self, dataset: DataFrame) -> DataFrame:
        context = context_of(dataset)
        columns = find_columns(dataset, self.getFeaturesCol(), self._optional("featuresCols"))
        return score(dataset, columns, self._sent_machine(context), self._scores())

    def _sent_machine(self, context: SparkContext) -> SentMachine:
        """The machine on the executors; it is sent once for each application."""
        if self._sent is None or self._sent[0] is not context:
            threads = int(context.getConf().get("spark.task.cpus", "1"))
            self._sent = context, send_machine(context, slim(self.machine, threads))
        return self._sent[1]

    def copy(self, extra: Any = None) -> Any:
        """A copy with these params changed; the machine is shared."""
        return super().copy(extra)

    def write(self) -> MLWriter:
        """Saves the params as JSON and the machine as a `.sodm` file."""
        return MachineWriter(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """Loads what `write` saved, anywhere."""
        return MachineReader(cls)


def slim(machine: Any, n_threads: int) -> Any:
    """A copy for deciding only."""
    from copy import copy

    lean = copy(machine)
    lean.n_jobs = n_threads
    if hasattr(lean, "decision_function_shape"):
        lean.decision_function_shape = "ovr"  # one raw value per class
    for name in ("history_", "_past", "_duals"):
        lean.__dict__.pop(name, None)
    return lean


class ClassifierModel(ClassifierParams, MachineModel):
    """What the models of classifiers share."""

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted."""
        return self.machine.classes_

    @property
    def numClasses(self) -> int:
        """How many classes there are."""
        return len(self.machine.classes_)

    def _scores(self) -> ClassScores:
        is_text = self.classes.dtype.kind not in "iufb"
        return ClassScores(self.getRawPredictionCol(), self.getPredictionCol(), is_text)


class RegressorModel(MachineModel):
    """What the models of regressors share."""

    def _scores(self) -> NumberScores:
        return NumberScores(self.getPredictionCol())


class SODMClassifierModel(ClassifierModel, machine=sodm.SODMClassifier):
    """A trained :class:`sodm.spark.SODMClassifier`."""


class CascadeClassifierModel(ClassifierModel, machine=sodm.CascadeClassifier):
    """A trained :class:`sodm.spark.CascadeClassifier`."""


class DiPClassifierModel(ClassifierModel, machine=sodm.DiPClassifier):
    """A trained :class:`sodm.spark.DiPClassifier`."""


class DCClassifierModel(ClassifierModel, machine=sodm.DCClassifier):
    """A trained :class:`sodm.spark.DCClassifier`."""


class LinearODMClassifierModel(ClassifierModel, machine=sodm.LinearODMClassifier):
    """A trained :class:`sodm.spark.LinearODMClassifier`."""


class SODMRegressorModel(RegressorModel, machine=sodm.SODMRegressor):
    """A trained :class:`sodm.spark.SODMRegressor`."""


class LinearODMRegressorModel(RegressorModel, machine=sodm.LinearODMRegressor):
    """A trained :class:`sodm.spark.LinearODMRegressor`."""
