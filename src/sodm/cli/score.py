"""`sodm predict` and `sodm evaluate`: a model file on a data file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table
from sklearn.base import is_regressor

from sodm.cli.check import refuse_too_large
from sodm.cli.facts import counts, spread
from sodm.cli.inputs import Rows, Source
from sodm.cli.loaded import Loaded, load_model, read_for
from sodm.cli.measures import classification, hint_for_rare, regression
from sodm.cli.output import console, note, show, text_of
from sodm.cli.pictures import check_picture, draw_evaluation, draw_numbers
from sodm.cli.targets import check_target
from sodm.cli.task import numbers
from sodm.data import DataError
from sodm.files import atomic_write

MOST_CLASSES_CROSSED = 15  # with more, the confusion matrix is in --json only


def predict(source: Source, model_path: Path, out: str, decision: bool, as_json: bool, quiet: bool) -> None:
    """Write one label or number per row, with decision values if asked for."""
    if out != "-":
        check_target(out, source.path, model_path)
    loaded = load_model(model_path)
    of_numbers = is_regressor(loaded.machine)
    if of_numbers and decision:
        raise ValueError(
            f"--decision is for classification, and {model_path} predicts numbers: leave it out."
        )
    rows = read_for(loaded, source, labels_needed=False)
    refuse_too_large(source.path, rows, loaded.names)
    note(rows.notes, quiet)
    if of_numbers:
        labels, values = loaded.values(rows.X), None
    else:
        decisions = loaded.decide(rows.X)
        labels, values = decisions.labels, decisions.by_class
    if as_json and out == "-":
        name = "values" if of_numbers else "labels"
        facts: dict[str, Any] = {"rows": len(labels), name: labels, "notes": rows.notes}
        show(facts | ({"decision": values} if decision else {}), title="", as_json=True)
        return
    text = _lines(labels, values if decision else None)
    if out == "-":
        sys.stdout.write(text)
        return
    with atomic_write(out) as file:
        file.write(text.encode())
    predicted = spread(labels) if of_numbers else counts(labels)
    facts = {"rows": len(labels), "predicted": predicted, "out": out}
    show(facts, title="predicted", as_json=as_json, quiet=quiet)


def _lines(labels: NDArray[Any], values: NDArray[np.float64] | None) -> str:
    many = labels.ndim == 2  # targets
    lines = (" ".join(map(str, row)) for row in labels.tolist()) if many else map(str, labels.tolist())
    if values is not None:
        columns = values[:, None] if values.ndim == 1 else values
        numbers = (" ".join(map(repr, row)) for row in columns.tolist())
        lines = map(" ".join, zip(lines, numbers, strict=True))
    return "".join(f"{line}\n" for line in lines)


def evaluate(source: Source, model_path: Path, plot: Path | None, as_json: bool, quiet: bool) -> None:
    """Compare the model's labels or numbers with those of the data."""
    if plot is not None:
        check_picture(plot)
    loaded = load_model(model_path)
    rows = read_for(loaded, source, labels_needed=True)
    refuse_too_large(source.path, rows, loaded.names)
    note(rows.notes, quiet)
    if is_regressor(loaded.machine):
        facts = _measure_numbers(loaded, rows, source.path, plot)
        show(
            facts | ({"notes": rows.notes} if as_json else {}),
            title="evaluated",
            as_json=as_json,
            quiet=quiet,
        )
        return
    machine, y = loaded.machine, np.asarray(rows.y)
    classes = machine.classes_
    unknown = sorted(set(np.unique(y).tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise DataError(
            source.path,
            f"the label {unknown[0]!r} is not one of the model's: {', '.join(map(repr, classes.tolist()))}",
        )
    decisions = loaded.decide(rows.X)
    predicted, values, margins = decisions.labels, decisions.by_class, decisions.margins(y)
    facts = classification(y, values, predicted, classes, loaded.probabilities(rows.X))
    facts |= {"margin_mean": float(margins.mean()), "margin_variance": float(margins.var())}
    if plot is not None:
        draw_evaluation(y, values, predicted, margins, machine, plot)
        facts["plot"] = str(plot)
    hint = hint_for_rare(y, machine.class_weight)
    if as_json:
        show(facts | {"notes": [*rows.notes, *hint]}, title="", as_json=True)
        return
    tables = ("per_class", "recall", "precision", "confusion")
    short = {name: value for name, value in facts.items() if name not in tables}
    show(short, title="evaluated", as_json=False, quiet=quiet)
    if not quiet:
        _print_classes(facts["per_class"])
        if len(classes) <= MOST_CLASSES_CROSSED:
            _print_confusion(facts["confusion"], [entry["class"] for entry in facts["per_class"]])
    note(hint, quiet)


def _measure_numbers(loaded: Loaded, rows: Rows, path: str, plot: Path | None) -> dict[str, Any]:
    """R^2 and errors, drawn if asked for."""
    y, predicted = numbers(path, np.asarray(rows.y)), loaded.values(rows.X)
    if predicted.ndim == 2:
        raise ValueError(
            f"the model predicts {predicted.shape[1]} targets, and a file has one label column: use "
            "`sodm predict`, or measure it in Python."
        )
    facts = regression(y, predicted)
    if plot is not None:
        draw_numbers(y, predicted, plot)
        facts["plot"] = str(plot)
    return facts


def _print_classes(per_class: list[dict[str, Any]]) -> None:
    table = Table(title="\nclasses", title_justify="left", title_style="bold", box=None)
    names = {"class": "class", "rows": "rows", "predicted": "predicted", "precision": "precision"}
    names |= {"recall": "recall", "f1": "F1", "roc_auc": "ROC AUC"}
    for name in names.values():
        table.add_column(name, justify="left" if name == "class" else "right")
    for entry in per_class:
        cells = ["-" if entry[key] is None else text_of("", entry[key]) for key in names if key != "class"]
        table.add_row(escape(entry["class"]), *cells)
    console().print(table)


def _print_confusion(matrix: list[list[int]], names: list[str]) -> None:
    table = Table(box=None)
    table.add_column("")
    for name in names:
        table.add_column(escape(name), justify="right")
    for name, line in zip(names, matrix, strict=True):
        table.add_row(escape(name), *(f"{count:,}" for count in line))
    console().print("\n[bold]confusion[/bold]: a line is a true class, a column a predicted one", table)
