"""`sodm predict` and `sodm evaluate`: a model file on a data file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from sodm.cli.inputs import Source
from sodm.cli.loaded import load_model, read_for
from sodm.cli.measures import classification, hint_for_rare
from sodm.cli.output import console, note, show, text_of
from sodm.cli.pictures import check_picture, draw_evaluation
from sodm.data import DataError
from sodm.files import atomic_write

MOST_CLASSES_CROSSED = 15  # with more, the confusion matrix is in --json only


def predict(source: Source, model_path: Path, out: str, decision: bool, as_json: bool, quiet: bool) -> None:
    """Write one label per row, with its decision values if asked for."""
    loaded = load_model(model_path)
    rows = read_for(loaded, source, labels_needed=False)
    note(rows.notes, quiet)
    decisions = loaded.decide(rows.X)
    labels, values = decisions.labels, decisions.by_class
    if as_json and out == "-":
        facts: dict[str, Any] = {"rows": len(labels), "labels": labels, "notes": rows.notes}
        show(facts | ({"decision": values} if decision else {}), title="", as_json=True)
        return
    text = _lines(labels, values if decision else None)
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


def _lines(labels: NDArray[Any], values: NDArray[np.float64] | None) -> str:
    lines = map(str, labels.tolist())
    if values is not None:
        columns = values[:, None] if values.ndim == 1 else values
        numbers = (" ".join(map(repr, row)) for row in columns.tolist())
        lines = map(" ".join, zip(lines, numbers, strict=True))
    return "".join(f"{line}\n" for line in lines)


def evaluate(source: Source, model_path: Path, plot: Path | None, as_json: bool, quiet: bool) -> None:
    """Compare the model's labels with those of the data."""
    if plot is not None:
        check_picture(plot)
    loaded = load_model(model_path)
    rows = read_for(loaded, source, labels_needed=True)
    note(rows.notes, quiet)
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
    for name, counts in zip(names, matrix, strict=True):
        table.add_row(escape(name), *(f"{count:,}" for count in counts))
    console().print("\n[bold]confusion[/bold]: a line is a true class, a column a predicted one", table)
