"""From rows as they were read to the numbers a machine takes: scaling, missing values, categories.

What is learnt here (`fit_before`) is stored in the model file; what is applied here (`features`) is what
scikit-learn's own ColumnTransformer does, block by block, without a copy of the table as one array.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from sodm.cli.inputs import dense_if_better, make_scaler
from sodm.data.columns import Table
from sodm.data.survey import rare_below
from sodm.model.preparation import assemble

MISSING_CATEGORY = "(missing)"
MOST_CATEGORIES = 100  # columns that one column of categories may become; the rarest share the last


def fit_before(scale: str, X: Any) -> Any | None:
    """What comes before the machine, fitted: a scaler, a ColumnTransformer for a table, or None."""
    if isinstance(X, Table):
        return _fit_preparation(scale, X)
    scaler = make_scaler(scale, X)
    return None if scaler is None else scaler.fit(X)


def features(before: Any | None, X: Any) -> Any:
    """The numbers that the machine takes."""
    if before is None:
        return X
    if isinstance(before, MinMaxScaler | StandardScaler) and sparse.issparse(X):
        X = X.toarray()  # these move zeros
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        warnings.filterwarnings("ignore", "Found unknown categories")
        if not isinstance(X, Table):
            return before.transform(X)
        parts = [fitted.transform(X.block(columns)) for _, fitted, columns in before.transformers_]
    if any(sparse.issparse(part) for part in parts):
        return dense_if_better(sparse.hstack(parts, format="csr"))
    return np.hstack(parts)


def _fit_preparation(scale: str, table: Table) -> ColumnTransformer:
    at: dict[str, list[int]] = {"number": [], "flag": [], "category": []}
    for k, column in enumerate(table.columns):
        at[column.kind].append(k)
    steps: dict[str, Any] = {
        "number": [SimpleImputer(strategy="median")],
        "flag": [SimpleImputer(strategy="median")],  # no other takes flags of a frame
        "category": [
            SimpleImputer(strategy="constant", fill_value=MISSING_CATEGORY),
            OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=rare_below(table.shape[0]),
                max_categories=MOST_CATEGORIES,
            ),
        ],
    }
    if scale != "none":
        steps["number"].append(make_scaler(scale, np.empty((0, 0))))
    plural = {"number": "numbers", "flag": "flags", "category": "categories"}
    blocks = [
        (plural[kind], _fitted(steps[kind], table.block(columns)), columns)
        for kind, columns in at.items()
        if columns
    ]
    return assemble(blocks, len(table.columns), table.names if table.named else None)


def _fitted(steps: list[Any], block: Any) -> Pipeline | Any:
    return (make_pipeline(*steps) if len(steps) > 1 else steps[0]).fit(block)


def told(before: Any | None, table: Any) -> dict[str, Any]:
    """What was filled in and turned into categories, for the summary."""
    if not isinstance(table, Table) or before is None:
        return {}
    facts: dict[str, Any] = {
        "filled_in": {column.name: column.n_missing for column in table.columns if column.n_missing}
    }
    for name, fitted, columns in before.transformers_:
        if name == "categories":
            encoder = fitted[-1]
            rare = encoder.infrequent_categories_
            facts["categories"] = {
                table.columns[k].name: len(values)
                for k, values in zip(columns, encoder.categories_, strict=True)
            }
            facts["rare_categories"] = {
                table.columns[k].name: len(few)
                for k, few in zip(columns, rare, strict=True)
                if few is not None and len(few)
            }
    return {name: counts for name, counts in facts.items() if counts}
