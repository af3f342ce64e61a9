"""Params of the Spark estimators: those of the Python estimators, taken from their signatures."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, Self

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasRawPredictionCol,
    HasValidationIndicatorCol,
    HasWeightCol,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# What has another meaning on a cluster, and where it went.
ELSEWHERE = {
    "n_jobs": "the threads of a task are spark.task.cpus",
    "warm_start": "a fit on a cluster starts anew",
}


def derived(machine: type) -> dict[str, Param[Any]]:
    """A Param for each parameter of a Python estimator."""
    about = _descriptions(machine)
    convert = {"class_weight": _pairs}
    return {
        name: Param(Params._dummy(), name, about.get(name, name), convert.get(name, TypeConverters.identity))
        for name in inspect.signature(machine).parameters
        if name not in ELSEWHERE
    }


def defaults_of(machine: type) -> dict[str, Any]:
    """Their defaults."""
    parameters = inspect.signature(machine).parameters
    return {name: p.default for name, p in parameters.items() if name not in ELSEWHERE}


def _pairs(class_weight: Any) -> Any:
    """A dictionary as pairs, which can be saved: JSON has no keys but text."""
    if not hasattr(class_weight, "items"):
        return class_weight
    return [
        [getattr(label, "item", lambda label=label: label)(), float(w)] for label, w in class_weight.items()
    ]


def _descriptions(machine: type) -> dict[str, str]:
    """What the docstring says of each parameter."""
    from sodm import ODMClassifier, SODMClassifier  # the others refer to these

    about: dict[str, str] = {}
    for source in (ODMClassifier, SODMClassifier, machine):
        text = inspect.getdoc(source) or ""
        section = re.search(r"Parameters\n-+\n(.*?)\n\n?[A-Z]\w+\n-+\n", text, re.DOTALL)
        for entry in re.split(r"\n(?=\S)", section[1] if section else ""):
            head, _, body = entry.partition("\n")
            if " : " in head:
                name, _, kind = head.partition(" : ")
                about[name] = f"{' '.join(body.split())} ({kind})"
    return about


class MachineParams(HasFeaturesCol, HasLabelCol, HasWeightCol, HasPredictionCol):
    """Columns and the parameters of one Python estimator; a subclass names it: `machine=SODMClassifier`."""

    _machine_class: type[BaseEstimator]

    featuresCols: Param[list[str]] = Param(
        Params._dummy(),
        "featuresCols",
        "columns of numbers that are the features, instead of featuresCol",
        TypeConverters.toListString,
    )

    def __init_subclass__(cls, machine: type | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if machine is None:
            return
        cls._machine_class = machine
        for name, param in derived(machine).items():
            setattr(cls, name, param)

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(**defaults_of(self._machine_class))

    def setParams(self, **values: Any) -> Self:
        """Set params by name; those that are None by default may be set to None."""
        for name, value in values.items():
            if name in ELSEWHERE:
                raise ValueError(f"{name} is no parameter on a cluster: {ELSEWHERE[name]}.")
            if not self.hasParam(name):
                known = ", ".join(sorted(param.name for param in self.params))
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {known}.")
            self._set(**{name: value})
        return self

    def machine_params(self) -> dict[str, Any]:
        """The parameters of the Python estimator, as they are set."""
        values = {name: self.getOrDefault(name) for name in defaults_of(self._machine_class)}
        if isinstance(values.get("class_weight"), list):
            values["class_weight"] = dict(values["class_weight"])
        return values

    def _optional(self, name: str) -> Any:
        return self.getOrDefault(name) if self.isDefined(self.getParam(name)) else None

    def setFeaturesCol(self, value: str) -> Self:
        """A column of vectors or arrays."""
        return self.setParams(featuresCol=value)

    def setFeaturesCols(self, value: list[str]) -> Self:
        """Several columns of numbers, instead of featuresCol."""
        return self.setParams(featuresCols=value)

    def setLabelCol(self, value: str) -> Self:
        """The column of the labels."""
        return self.setParams(labelCol=value)

    def setWeightCol(self, value: str) -> Self:
        """The column of the weights."""
        return self.setParams(weightCol=value)

    def setPredictionCol(self, value: str) -> Self:
        """The column to write predictions into."""
        return self.setParams(predictionCol=value)


class ClassifierParams(MachineParams, HasRawPredictionCol, HasValidationIndicatorCol):
    """Those of a classifier."""

    def setRawPredictionCol(self, value: str) -> Self:
        """The column to write the values of f into."""
        return self.setParams(rawPredictionCol=value)

    def setValidationIndicatorCol(self, value: str) -> Self:
        """A column of booleans: rows that are not trained on, but evaluated after each level."""
        return self.setParams(validationIndicatorCol=value)
