"""A model file, and rows that fit it: columns are found by name, in any order, among any others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder

import sodm
from sodm.cli.deciding import Decisions, decide
from sodm.cli.inputs import COLUMNS, TABLES, Rows, Source, take_rows
from sodm.cli.prepare import features
from sodm.data import DataError, Dataset
from sodm.data.columns import MISSING, Kind, Reading, Table
from sodm.data.tables import label_column
from sodm.model import describe
from sodm.model.machines import prepares, split
from sodm.model.preparation import pieces

VALUES_AT_ONCE = 2**24  # of X made dense at a time
NAMES_SHOWN = 6


@dataclass(frozen=True)
class Loaded:
    """A model and what it knows of its data.

    Attributes
    ----------
    model : machine or Pipeline
    before : scaler, ColumnTransformer or None
    machine : the machine itself
    names : list of str, or None
        Of the columns that it takes.
    kinds : list of str
        What these columns are.
    known : dict
        The label column and how text was read at training; empty for models that Python saved.
    """

    model: Any
    before: Any
    machine: Any
    names: list[str] | None
    kinds: list[Kind]
    known: dict[str, Any]

    def batches(self, X: Any) -> Iterator[Any]:
        """The numbers for the machine, some rows at a time, so that not all is dense at once."""
        step = max(1, VALUES_AT_ONCE // max(int(self.machine.n_features_in_), 1))
        for k in range(0, X.shape[0], step):
            yield features(self.before, take_rows(X, slice(k, k + step)))

    def decide(self, X: Any) -> Decisions:
        """The decision values of all rows."""
        return decide(self.machine, self.batches(X))

    def values(self, X: Any) -> NDArray[np.float64]:
        """The numbers that a regressor says of all rows."""
        return np.concatenate([self.machine.predict(part) for part in self.batches(X)])

    def probabilities(self, X: Any) -> NDArray[np.float64] | None:
        """A probability per row and class, None if the machine has none."""
        if not hasattr(self.machine, "predict_proba"):
            return None
        return np.concatenate([self.machine.predict_proba(part) for part in self.batches(X)])


def is_model_file(path: str | Path) -> bool:
    """Whether a file begins as model files do, with its header; data files never do."""
    try:
        with open(path, "rb") as file:
            start = file.read(64)
    except OSError:
        return False
    return start.startswith(b"PK\x03\x04") and start[30:41] == b"header.json"


def load_model(path: Path) -> Loaded:
    """Load a model, with what is stored of its data."""
    header = describe(path)
    model = sodm.load(path)
    before, machine = split(model)
    first = machine if before is None else before
    names = [str(name) for name in first.feature_names_in_] if hasattr(first, "feature_names_in_") else None
    if hasattr(first, "feature_names_in_") and not prepares(before):
        del first.feature_names_in_  # names are compared here; the arrays below carry none
    summary = header.get("summary")
    known = summary.get("table") if isinstance(summary, dict) else None
    known = known if isinstance(known, dict) else {}
    return Loaded(model, before, machine, names, _kinds(before, machine, known), known)


def read_for(loaded: Loaded, source: Source, *, labels_needed: bool) -> Rows:
    """The rows of a file as the model takes them; with labels if they are needed and there."""
    if source.known_set or source.kind not in TABLES:
        dataset = source.read(n_features=len(loaded.kinds), labels_needed=labels_needed)
        if prepares(loaded.before):
            raise DataError(
                source.path, "the model takes a table of columns, such as a CSV file, which this is not"
            )
        return _of_numbers(loaded, source, dataset)
    if source.kind == "npy":
        label = _label_by_number(loaded, source, source.read_as(None).X.shape[1], labels_needed)
        dataset = source.read_as(label, len(loaded.kinds))
        return Rows(dataset.X, dataset.y)
    reading = _reading(loaded, source)
    source = _with_names(loaded, source, reading)
    file_names, n_columns = source.names(reading)
    if file_names is not None and loaded.names is not None:
        return _by_name(loaded, source, reading, file_names, labels_needed)
    label = _label_by_number(loaded, source, n_columns, labels_needed)
    rest = [k for k in range(n_columns) if k != label]
    if len(rest) != len(loaded.kinds):
        remedy = "give it the columns that the model was trained on, in their order"
        if loaded.names is not None:
            remedy = f"put the names of its columns into a first line, among them {_listed(loaded.names)}"
        raise DataError(
            source.path,
            f"there are {len(rest)} columns without the label where the model takes {len(loaded.kinds)}, and "
            f"no names to find them by: {remedy}",
        )
    columns = [str(k) for k in rest] if file_names is None else [file_names[k] for k in rest]
    return _read(loaded, source, reading, columns, label)


def _with_names(loaded: Loaded, source: Source, reading: Reading) -> Source:
    """The source, sure that its first line has names if all that the model takes are there."""
    if source.header is None and loaded.names:
        sure = replace(source, header=True)
        if set(loaded.names) <= set(sure.names(reading)[0] or ()):
            return sure
    return source


def _by_name(
    loaded: Loaded, source: Source, reading: Reading, file_names: list[str], labels_needed: bool
) -> Rows:
    assert loaded.names is not None
    absent = [name for name in loaded.names if name not in file_names]
    if absent:
        near = get_close_matches(absent[0], [n for n in file_names if n not in loaded.names], n=1)
        hint = f"; is it {near[0]!r} here?" if near else f"; its columns are {_listed(file_names)}"
        raise DataError(source.path, f"there is no column {_listed(absent)}, which the model needs{hint}")
    label: str | int | None = None
    stored = loaded.known.get("label")
    if source.label != "auto":
        label = file_names[label_column(source.path, source.label_column, file_names, len(file_names))]
    elif isinstance(stored, str) and stored in file_names:
        label = stored
    elif labels_needed and isinstance(stored, str):
        raise DataError(
            source.path,
            f"there is no column {stored!r}, which had the labels at training: say which one has them, with "
            f"label=NAME; its columns are {_listed(file_names)}",
        )
    elif labels_needed:
        rest = [name for name in file_names if name not in loaded.names]
        label = rest[label_column(source.path, "auto", rest, len(rest))]
    if not labels_needed:
        label = None
    extra = [name for name in file_names if name not in loaded.names and name != label]
    rows = _read(loaded, source, reading, loaded.names, label)
    if extra:
        many = "columns that the model does" if len(extra) > 1 else "a column that the model does"
        rows = replace(rows, notes=(f"left aside {many} not take: {_listed(extra)}", *rows.notes))
    return rows


def _read(
    loaded: Loaded, source: Source, reading: Reading, columns: list[str], label: str | int | None
) -> Rows:
    """Read these columns of the file, in the order of the model."""
    if not prepares(loaded.before) and reading == Reading():
        try:
            dataset = source.read_as(label)
        except DataError:
            pass  # text in a column that is not needed; or in one that is, which the table will tell
        else:
            if dataset.feature_names is None:
                return Rows(dataset.X, dataset.y)
            place = {name: k for k, name in enumerate(dataset.feature_names)}
            at = [place[name] for name in columns]
            same = at == list(range(dataset.X.shape[1]))
            return Rows(dataset.X if same else np.ascontiguousarray(dataset.X[:, at]), dataset.y)
    kinds = dict(zip(columns, loaded.kinds, strict=True))
    table = source.table(replace(reading, kinds=kinds), label)
    place = {name: k for k, name in enumerate(table.names)}
    gone = [name for name in columns if name not in place]
    if gone:
        raise DataError(
            source.path, f"there is no value in any row of column {gone[0]!r}, which the model needs"
        )
    table = replace(table, columns=tuple(table.columns[place[name]] for name in columns))
    if prepares(loaded.before):
        return Rows(table, table.y, notes=_unseen(loaded, table))
    holes = next((column for column in table.columns if column.n_missing), None)
    if holes is not None:
        raise DataError(
            source.path,
            f"column {holes.name!r} has no value in {holes.n_missing:,} rows, and the model learnt from rows "
            "without a gap: fill them in, or train it on rows that have some",
        )
    return Rows(table.block(range(len(columns))), table.y)


def _unseen(loaded: Loaded, table: Table) -> tuple[str, ...]:
    """Categories that were not there at training."""
    notes = []
    for _, fitted, columns in loaded.before.transformers_:
        encoder = pieces(fitted)[-1] if pieces(fitted) else None
        if not isinstance(encoder, OneHotEncoder):
            continue
        for k, values in zip(columns, encoder.categories_, strict=True):
            if table.columns[k].kind == "category":
                found = {v for v in set(table.columns[k].values.tolist()) if v == v} - set(values.tolist())
                if found:
                    notes.append(
                        f"column {table.columns[k].name!r} has {_listed(sorted(found))}, unseen at training: "
                        "taken for none of the known categories"
                    )
    return tuple(notes)


def _of_numbers(loaded: Loaded, source: Source, dataset: Dataset) -> Rows:
    """Rows of a file without columns to choose from; where both have names, they must be the same."""
    names = dataset.feature_names
    if names is None or loaded.names is None or list(names) == loaded.names:
        return Rows(dataset.X, dataset.y)
    absent = [name for name in loaded.names if name not in names]
    if absent:
        raise DataError(source.path, f"there is no column {_listed(absent)}, which the model needs")
    place = {name: k for k, name in enumerate(names)}
    at = [place[name] for name in loaded.names]
    X = dataset.X[:, at]
    return Rows(X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X), dataset.y)


def _label_by_number(loaded: Loaded, source: Source, n_columns: int, labels_needed: bool) -> int | None:
    """The label column of a file whose columns are told apart by their place; None if it has none."""
    stored = loaded.known.get("label_at")
    if source.label != "auto":
        if isinstance(source.label_column, int):
            return label_column(source.path, source.label_column, None, n_columns)
        return label_column(
            source.path, source.label_column, source.names(_reading(loaded, source))[0], n_columns
        )
    if n_columns == len(loaded.kinds) and not labels_needed:
        return None
    if isinstance(stored, int) and 0 <= stored < n_columns and n_columns == len(loaded.kinds) + 1:
        return stored
    if labels_needed:
        names = source.names(_reading(loaded, source))[0] if source.kind in COLUMNS else None
        return label_column(source.path, "auto", names, n_columns)
    return None


def _reading(loaded: Loaded, source: Source) -> Reading:
    """How to read text: as the options say, else as at training."""
    known = loaded.known
    missing = [text for text in known.get("missing") or [] if isinstance(text, str)]
    decimal = source.decimal or ("," if known.get("decimal") == "," else ".")
    encoding = source.encoding or known.get("encoding") or "utf-8"
    return Reading(decimal, str(encoding), frozenset(MISSING) | {*missing, *source.missing})


def _kinds(before: Any, machine: Any, known: dict[str, Any]) -> list[Kind]:
    """What each column is that the model takes."""
    if not prepares(before):
        return ["number"] * int(machine.n_features_in_)
    kinds: list[Kind] = ["number"] * int(before.n_features_in_)
    for _, fitted, columns in before.transformers_:
        encoder = pieces(fitted)[-1] if pieces(fitted) else None
        if isinstance(encoder, OneHotEncoder):
            for k, values in zip(columns, encoder.categories_, strict=True):
                kinds[k] = "category" if values.dtype.kind in "OUS" else "number"
    flags = known.get("flags")
    for k in flags if isinstance(flags, list) else []:
        if isinstance(k, int) and 0 <= k < len(kinds) and kinds[k] == "number":
            kinds[k] = "flag"
    return kinds


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) if name else "one without a name" for name in names[:NAMES_SHOWN])
    return shown if len(names) <= NAMES_SHOWN else f"{shown} and {len(names) - NAMES_SHOWN} more"
