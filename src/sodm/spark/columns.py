"""Which columns of a DataFrame are features, label and weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Columns:
    """Which columns of a DataFrame are what.

    Attributes
    ----------
    features : tuple of str
        One column of vectors or arrays, or several of numbers.
    kind : {"vector", "array", "numbers"}
    single : bool
        Whether they are all of single precision.
    label, weight : str or None
    """

    features: tuple[str, ...]
    kind: str
    single: bool
    label: str | None = None
    weight: str | None = None

    @property
    def dtype(self) -> type:
        """Of the packed features."""
        return np.float32 if self.single else np.float64


def find_columns(
    frame: DataFrame,
    features: str,
    several: list[str] | None,
    label: str | None = None,
    weight: str | None = None,
    classes: bool = True,
) -> Columns:
    """The columns by name, their types checked; labels that are no `classes` must be numbers."""
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import types

    known = {field.name: field.dataType for field in frame.schema.fields}

    def type_of(name: str, role: str) -> types.DataType:
        if name not in known:
            raise ValueError(f"{role} names the column {name!r}, which is not there: {', '.join(known)}.")
        return known[name]

    def refuse(name: str, role: str, must_be: str) -> None:
        raise TypeError(
            f"{role} {name!r} must be {must_be}; it is of type {known[name].simpleString()}: cast it."
        )

    if label is not None and not isinstance(type_of(label, "labelCol"), types.NumericType):
        if not classes:
            refuse(label, "labelCol", "a column of numbers")
        if not isinstance(known[label], types.StringType | types.BooleanType):
            refuse(label, "labelCol", "a column of numbers, booleans or text")
    if weight is not None and not isinstance(type_of(weight, "weightCol"), types.NumericType):
        refuse(weight, "weightCol", "a column of numbers")
    if several:
        for name in several:
            if not isinstance(type_of(name, "featuresCols"), types.NumericType):
                refuse(name, "featuresCols", "a column of numbers")
        single = all(isinstance(known[name], types.FloatType) for name in several)
        return Columns(tuple(several), "numbers", single, label, weight)
    kind = type_of(features, "featuresCol")
    if isinstance(kind, VectorUDT):
        return Columns((features,), "vector", False, label, weight)
    if isinstance(kind, types.ArrayType) and isinstance(kind.elementType, types.NumericType):
        return Columns((features,), "array", isinstance(kind.elementType, types.FloatType), label, weight)
    refuse(features, "featuresCol", "a column of vectors or of arrays of numbers")
    raise AssertionError


def feature_columns(columns: Columns) -> list[Column]:
    """The columns of the features as `features_of` takes them."""
    from pyspark.sql import functions as F

    number = "float" if columns.single else "double"
    wanted = []
    for k, name in enumerate(columns.features):
        column = F.col(quoted(name))
        if columns.kind == "vector":
            column = F.unwrap_udt(column)
        else:
            column = column.cast(number if columns.kind == "numbers" else f"array<{number}>")
        wanted.append(column.alias(feature_name(k)))
    return wanted


def feature_name(k: int) -> str:
    """What the k-th column of features is called on its way."""
    return f"__sodm_feature_{k}"


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
