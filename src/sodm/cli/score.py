"""`sodm predict` and `sodm evaluate`: a model file on a data file."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

import sodm
from sodm.cli.deciding import Decisions, decide
from sodm.cli.inputs import Source
from sodm.cli.output import show
from sodm.data import DataError, Dataset
from sodm.files import atomic_write
from sodm.model.machines import split
from sodm.plots.margins import MarginDistributionDisplay

VALUES_AT_ONCE = 2**24  # of X made dense at a time


def predict(source: Source, model_path: Path, out: str, decision: bool, as_json: bool, quiet: bool) -> None:
    """Write one label per row, with its decision values if asked for."""
    model, dataset = _load(source, model_path, labels_needed=False)
    decisions = _decisions(model, dataset.X)
    labels, values = decisions.labels, decisions.by_class
    lines: Iterable[str] = map(str, labels.tolist())
    if decision:
        columns = values[:, None] if values.ndim == 1 else values
        numbers = (" ".join(map(repr, row)) for row in columns.tolist())
        lines = (f"{label} {number}" for label, number in zip(lines, numbers, strict=True))
    text = "".join(f"{line}\n" for line in lines)
    if out == "-":
        sys.stdout.write(text)
        return
    with atomic_write(out) as file:
        file.write(text.encode())
    found, counts = np.unique(labels, return_counts=True)
    facts = {
        "rows": len(labels),
        "predicted": {str(k): int(n) for k, n in zip(found.tolist(), counts.tolist(), strict=True)},
        "out": out,
    }
    show(facts, title="predicted", as_json=as_json, quiet=quiet)


def evaluate(source: Source, model_path: Path, plot: Path | None, as_json: bool, quiet: bool) -> None:
    """Compare the model's labels with those of the data."""
    model, dataset = _load(source, model_path, labels_needed=True)
    y = np.asarray(dataset.y)
    classes = split(model)[1].classes_
    unknown = sorted(set(np.unique(y).tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise DataError(
            source.path,
            f"the label {unknown[0]!r} is not one of the model's: {', '.join(map(repr, classes.tolist()))}",
        )
    decisions = _decisions(model, dataset.X)
    predicted, margins = decisions.labels, decisions.margins(y)
    matrix = confusion_matrix(y, predicted, labels=classes)
    found, asked, right = matrix.sum(axis=1), matrix.sum(axis=0), matrix.diagonal()
    names = [str(label) for label in classes.tolist()]
    facts: dict[str, Any] = {
        "rows": len(y),
        "accuracy": float(right.sum() / len(y)),
        "errors": int(len(y) - right.sum()),
        "margin_mean": float(margins.mean()),
        "margin_variance": float(margins.var()),
        "recall": dict(zip(names, _shares(right, found), strict=True)),
        "precision": dict(zip(names, _shares(right, asked), strict=True)),
        "confusion": matrix.tolist() if as_json else None,
    }
    if plot is not None:
        draw(margins, split(model)[1], plot)
        facts["plot"] = str(plot)
    show(facts, title="evaluated", as_json=as_json, quiet=quiet)


def draw(margins: NDArray[np.float64], machine: Any, path: Path) -> None:
    """The distribution of the margins as a picture; the ending of the name tells the format."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"{path}: pictures are .png, .svg or .pdf.")
    theta = machine.theta if machine.loss == "odm" else None
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("pictures need matplotlib: run `pip install sodm[plots]`.") from error
    with matplotlib.rc_context({"backend": "agg", "svg.hashsalt": "sodm"}):
        display = MarginDistributionDisplay(margins, theta=theta, name=type(machine).__name__).plot()
        figure: Any = display.figure_
        with atomic_write(path) as file:
            figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)


def _load(source: Source, model_path: Path, *, labels_needed: bool) -> tuple[Any, Dataset]:
    """The model and data that fits it: as many features, and the same names where both have names."""
    model = sodm.load(model_path)
    scaler, machine = split(model)
    dataset = source.read(n_features=int(machine.n_features_in_), labels_needed=labels_needed)
    first = machine if scaler is None else scaler
    if hasattr(first, "feature_names_in_"):
        names = first.feature_names_in_.tolist()
        if dataset.feature_names is not None and list(dataset.feature_names) != names:
            k = next(
                k
                for k, pair in enumerate(zip(names, dataset.feature_names, strict=True))
                if pair[0] != pair[1]
            )
            raise DataError(
                source.path,
                f"feature {k} is {dataset.feature_names[k]!r} where the model has {names[k]!r}: the "
                f"columns must be "
                "those of the training data, in that order",
            )
        del first.feature_names_in_  # the names are compared; arrays carry none
    return model, dataset


def _decisions(model: Any, X: Any) -> Decisions:
    """Decision values, some rows at a time, so that sparse data is never dense all at once."""
    return decide(model, X, max(1, VALUES_AT_ONCE // X.shape[1]))


def _shares(part: NDArray[Any], whole: NDArray[Any]) -> list[float | None]:
    return [float(p / w) if w else None for p, w in zip(part, whole, strict=True)]
