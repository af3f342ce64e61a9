"""What was done to the columns of a table before a machine, as plain data: written, and read.

A preparation is scikit-learn's own ColumnTransformer of these pieces, in blocks of columns:

    SimpleImputer    its strategy, and what it fills in for each column
    OneHotEncoder    the categories of each column, and which of them are rare and share one
    MinMaxScaler, StandardScaler, MaxAbsScaler

What is read are names of these pieces, numbers and texts; from them the pieces are made anew, each by its own
`fit` on rows that give just these numbers, or by its public attributes. No code of the file is run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from sodm.model.scalers import SCALERS, kind_of, put_together, take_apart

Block = tuple[str, Any, list[int]]  # its name, a fitted transformer, the numbers of its columns

STRATEGIES = ("mean", "median", "most_frequent", "constant")
UNKNOWN = ("error", "ignore", "infrequent_if_exist")
MOST_CELLS = 10**7  # of the rows that an encoder is made anew with
_PICKLE = ": pickle such a pipeline instead"


def assemble(blocks: Sequence[Block], n_columns: int, names: Sequence[str] | None) -> ColumnTransformer:
    """A fitted ColumnTransformer of fitted blocks; columns that are in none of them are dropped."""
    example = np.zeros((1, n_columns), dtype=object)
    for _, fitted, columns in blocks:
        example[0, columns] = _example(fitted, len(columns))
    whole = ColumnTransformer([(name, FrozenEstimator(fitted), columns) for name, fitted, columns in blocks])
    whole.fit(example)
    if names is not None:
        whole.feature_names_in_ = np.array(names, dtype=object)
        for _, fitted, columns in blocks:
            first = fitted[0] if isinstance(fitted, Pipeline) else fitted
            first.feature_names_in_ = whole.feature_names_in_[columns]
    whole.transformers = [(name, clone(fitted), columns) for name, fitted, columns in blocks]
    whole.transformers_ = [(name, fitted, columns) for name, fitted, columns in blocks]
    return whole


def preparation_out(whole: ColumnTransformer) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A header entry and arrays from which `preparation_in` makes the same; TypeError if there is no such."""
    if whole.transformer_weights:
        raise TypeError(f"a ColumnTransformer with weights cannot be saved{_PICKLE}.")
    arrays: dict[str, NDArray[Any]] = {}
    blocks: list[dict[str, Any]] = []
    for name, fitted, columns in whole.transformers_:
        if isinstance(fitted, str) and fitted == "drop":
            continue
        numbers = _column_numbers(whole, columns)
        if not numbers:
            continue
        steps = []
        for k, step in enumerate(pieces(fitted)):
            entry, values = _step_out(step)
            steps.append(entry)
            arrays |= {f"prepare.{len(blocks)}.{k}.{part}": array for part, array in values.items()}
        told = "rest" if name == "remainder" else str(name)  # which ColumnTransformer keeps for itself
        blocks.append({"name": told, "columns": numbers, "steps": steps})
    if not blocks:
        raise TypeError("a ColumnTransformer that drops all columns cannot be saved.")
    return {
        "n_columns": int(whole.n_features_in_),
        "sparse": bool(whole.sparse_output_),
        "blocks": blocks,
    }, arrays


def preparation_in(
    entry: Any, array: Callable[[str], NDArray[Any]], held: set[str], names: list[str] | None
) -> ColumnTransformer:
    """The ColumnTransformer of a header entry; ValueError with a reason if the entry makes no sense."""
    if not isinstance(entry, dict) or not isinstance(entry.get("blocks"), list) or not entry["blocks"]:
        raise ValueError("the preparation has no blocks")
    n_columns: Any = entry.get("n_columns")
    if not _is_count(n_columns) or not 1 <= n_columns < 2**24:
        raise ValueError("the preparation has no proper number of columns")
    blocks = []
    for b, block in enumerate(entry["blocks"]):
        columns, steps = block["columns"], block["steps"]
        if (
            not (isinstance(columns, list) and columns and all(_is_count(k) for k in columns))
            or len(set(columns)) < len(columns)
            or max(columns) >= n_columns
        ):
            raise ValueError("a block of the preparation has no proper columns")
        if not isinstance(block["name"], str) or not (isinstance(steps, list) and len(steps) <= 4):
            raise ValueError("a block of the preparation has no proper steps")
        made = []
        for k, step in enumerate(steps):
            prefix = f"prepare.{b}.{k}."
            parts = {name.removeprefix(prefix) for name in held if name.startswith(prefix)}
            made.append(_step_in(step, _Prefixed(array, prefix), parts, len(columns)))
        if any(isinstance(piece, OneHotEncoder) for piece in made[:-1]):
            raise ValueError("categories can only be the last step of a block")
        passed = FunctionTransformer(feature_names_out="one-to-one").fit(np.zeros((1, len(columns))))
        fitted = passed if not made else made[0] if len(made) == 1 else make_pipeline(*made)
        blocks.append((block["name"], fitted, columns))
    if len({name for name, _, _ in blocks}) < len(blocks):
        raise ValueError("two blocks of the preparation have the same name")
    whole = assemble(blocks, n_columns, names)
    whole.sparse_output_ = entry.get("sparse") is True
    return whole


class _Prefixed:
    """Arrays by the part of their names after a prefix."""

    def __init__(self, array: Callable[[str], NDArray[Any]], prefix: str) -> None:
        self._array, self._prefix = array, prefix

    def __call__(self, part: str) -> NDArray[Any]:
        return self._array(self._prefix + part)


def pieces(fitted: Any) -> list[Any]:
    """The pieces of a block, in order; none if its columns pass as they are."""
    if isinstance(fitted, Pipeline):
        return [piece for _, step in fitted.steps for piece in pieces(step)]
    if fitted is None or (isinstance(fitted, str) and fitted == "passthrough"):
        return []
    if isinstance(fitted, FunctionTransformer) and fitted.func is None:
        return []
    return [fitted]


def _column_numbers(whole: ColumnTransformer, columns: Any) -> list[int]:
    """The numbers of columns that may be given by number, name, slice or mask."""
    everything = np.arange(whole.n_features_in_)
    if callable(columns):
        raise TypeError(f"columns that a function chooses cannot be saved{_PICKLE}.")
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, slice):
        return everything[columns].tolist()
    chosen = np.asarray(columns)
    if chosen.dtype.kind in "UO":
        place = {name: k for k, name in enumerate(whole.feature_names_in_)}
        return [place[name] for name in chosen.tolist()]
    return [] if chosen.size == 0 else np.atleast_1d(everything[chosen]).tolist()


def _step_out(step: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if kind_of(step) is not None:
        entry, arrays = take_apart(step)
        return entry, {name.removeprefix("scaler."): values for name, values in arrays.items()}
    if type(step) is SimpleImputer:
        return _imputer_out(step)
    if type(step) is OneHotEncoder:
        return _encoder_out(step), {}
    raise TypeError(
        f"{type(step).__name__} cannot be saved in a model file, only SimpleImputer, OneHotEncoder, "
        f"MinMaxScaler, StandardScaler and MaxAbsScaler{_PICKLE}."
    )


def _step_in(step: Any, array: Callable[[str], NDArray[Any]], held: set[str], n_columns: int) -> Any:
    kind = step.get("kind") if isinstance(step, dict) else None
    if kind in SCALERS:
        return put_together(step, lambda name: array(name.removeprefix("scaler.")), _named(held), n_columns)
    if kind == "imputer":
        return _imputer_in(step, array, n_columns)
    if kind == "onehot":
        return _encoder_in(step, n_columns)
    raise ValueError("a step of the preparation is of no known kind")


def _named(parts: set[str]) -> set[str]:
    return {f"scaler.{part}" for part in parts}


# ------------------------------------------------------------------------------------------------- imputer


def _imputer_out(imputer: SimpleImputer) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    missing = imputer.missing_values
    if imputer.add_indicator or not (isinstance(missing, float) and math.isnan(missing)):
        raise TypeError(
            "a SimpleImputer with add_indicator or with missing_values other than NaN cannot be saved"
            + _PICKLE
        )
    filled = np.asarray(imputer.statistics_)
    entry: dict[str, Any] = {"kind": "imputer", "strategy": imputer.strategy}
    if filled.dtype.kind in "fiub":
        values = filled.astype(np.float64)
        if not np.isfinite(values).all():
            raise TypeError(
                "a SimpleImputer for a column without any value cannot be saved: drop that column."
            )
        return entry, {"filled": values}
    texts = filled.tolist()
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a SimpleImputer for columns of both text and numbers cannot be saved: use two.")
    return entry | {"texts": texts}, {}


def _imputer_in(entry: dict[str, Any], array: Callable[[str], NDArray[Any]], n_columns: int) -> SimpleImputer:
    strategy = entry.get("strategy")
    if strategy not in STRATEGIES:
        raise ValueError("an imputer is of no known strategy")
    if "texts" in entry:
        values: list[Any] = entry["texts"]
        if not (isinstance(values, list) and all(isinstance(text, str) for text in values)):
            raise ValueError("an imputer fills in what is no text")
        row = np.array([values], dtype=object)
    else:
        row = array("filled")[None, :]
        if row.dtype != np.float64 or not np.isfinite(row).all():
            raise ValueError("an imputer fills in what is no number")
        values = row[0].tolist()
    if row.shape != (1, n_columns):
        raise ValueError("an imputer does not fill in one value per column")
    if strategy == "constant":
        if len(set(values)) > 1:
            raise ValueError("an imputer has several constants")
        return SimpleImputer(strategy=strategy, fill_value=values[0]).fit(row)
    if strategy in ("mean", "median") and row.dtype == object:
        raise ValueError("an imputer takes the mean of texts")
    return SimpleImputer(strategy=strategy).fit(row)  # of one row, each value is mean, median and mode


# ------------------------------------------------------------------------------------------------- encoder


def _encoder_out(encoder: OneHotEncoder) -> dict[str, Any]:
    if encoder.drop is not None or encoder.handle_unknown not in UNKNOWN:
        raise TypeError(f"a OneHotEncoder with drop or with warnings cannot be saved{_PICKLE}.")
    rare = getattr(encoder, "infrequent_categories_", None) or [None] * len(encoder.categories_)
    columns = []
    for categories, few in zip(encoder.categories_, rare, strict=True):
        values = categories.tolist()
        text = all(isinstance(value, str) for value in values)
        if not text and (categories.dtype.kind not in "fiub" or not np.isfinite(categories).all()):
            raise TypeError("categories other than text and numbers cannot be saved" + _PICKLE)
        entry = {"values": values, "rare": [] if few is None else few.tolist()}
        if len(entry["rare"]) == len(values):
            raise TypeError(
                "a column whose categories are all rare cannot be saved: drop it, it says nothing."
            )
        columns.append(entry | ({} if text else {"dtype": categories.dtype.newbyteorder("<").str}))
    return {
        "kind": "onehot",
        "handle_unknown": encoder.handle_unknown,
        "sparse_output": bool(encoder.sparse_output),
        "columns": columns,
    }


def _encoder_in(entry: dict[str, Any], n_columns: int) -> OneHotEncoder:
    """An encoder with these categories: fitted to rows in which the rare ones occur once, others twice."""
    columns = entry.get("columns")
    if entry.get("handle_unknown") not in UNKNOWN or not isinstance(entry.get("sparse_output"), bool):
        raise ValueError("an encoder has parameters that are not its own")
    if not isinstance(columns, list) or len(columns) != n_columns:
        raise ValueError("an encoder does not have the columns it should have")
    categories = [_categories_in(column) for column in columns]
    n_rows = 2 * max(len(values) for values, _ in categories)
    if n_rows * n_columns > MOST_CELLS:
        raise ValueError("an encoder has more categories than a model file may have")
    types = {values.dtype for values, _ in categories}
    rows = np.empty((n_rows, n_columns), dtype=types.pop() if len(types) == 1 else object)
    for j, (values, rare) in enumerate(categories):
        few = set(rare)
        common = [value for value in values.tolist() if value not in few]
        shown = [*rare, *common, *common]
        rows[:, j] = shown + [common[0]] * (n_rows - len(shown))
    encoder = OneHotEncoder(
        categories=[values for values, _ in categories],
        handle_unknown=entry["handle_unknown"],
        sparse_output=entry["sparse_output"],
        min_frequency=2 if any(rare for _, rare in categories) else None,
    )
    return encoder.fit(rows)


def _categories_in(column: Any) -> tuple[NDArray[Any], list[Any]]:
    values, rare = column["values"], column["rare"]
    if not (isinstance(values, list) and isinstance(rare, list)) or not values:
        raise ValueError("a column has no categories")
    if "dtype" in column:
        if column["dtype"] not in ("<f8", "<f4", "<i8", "<i4", "|b1") or not all(
            isinstance(value, int | float) and math.isfinite(value) for value in values
        ):
            raise ValueError("categories are not of their type")
        categories = np.array(values, dtype=column["dtype"])
    else:
        if not all(isinstance(value, str) for value in values):
            raise ValueError("categories are not of their type")
        categories = np.array(values, dtype=object)
    if len(set(values)) < len(values) or len(set(rare)) < len(rare) or not set(rare) < set(values):
        raise ValueError("the categories of a column are not different ones, some but not all of them rare")
    return categories, rare


def _example(fitted: Any, n_columns: int) -> list[Any]:
    """A row that the block takes."""
    last = pieces(fitted)[-1:]
    if last and isinstance(last[0], OneHotEncoder):
        return [values[0] for values in last[0].categories_]
    return [0.0] * n_columns


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
