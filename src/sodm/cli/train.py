"""`sodm train`: from a data file to a model file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

import sodm
from sodm.cli.deciding import decide
from sodm.cli.inputs import Source, dense_if_better, make_scaler, split_rows
from sodm.cli.limits import TimeIsUp, peak_memory_mb, time_limit
from sodm.cli.machine import make_machine, why_chosen
from sodm.cli.output import on_terminal, show

ROWS_TO_SCORE = 20_000  # training accuracy and margins are those of at most so many rows
MARGINS_TO_KEEP = 10_000


@dataclass(frozen=True)
class Settings:
    """Everything about a training run but the data and the parameters of the machine."""

    out: Path
    scale: str
    validation: str
    seed: int
    time_limit: float | None
    machine: str
    as_json: bool
    quiet: bool


def train(source: Source, parameters: dict[str, Any], settings: Settings) -> None:
    """Read, scale, train, score, save and say so."""
    if not settings.out.parent.is_dir():
        raise FileNotFoundError(f"{settings.out.parent} does not exist: make the folder first.")
    began = time.perf_counter()
    dataset = source.read()
    X, y = dense_if_better(dataset.X), np.asarray(dataset.y)
    X, y, X_held, y_held = _hold_out(X, y, source, settings)
    read_seconds = time.perf_counter() - began

    watched = on_terminal() and not settings.as_json and not settings.quiet
    more = {"verbose": int(watched), "time_limit": settings.time_limit}
    machine = make_machine(parameters | more, settings.machine, X.shape[0])
    why = why_chosen(machine, X.shape[0])
    if watched:
        print(why)
    scaler = make_scaler(settings.scale, X)
    model = machine if scaler is None else make_pipeline(scaler, machine)
    start = time.perf_counter()
    try:
        # The scalable and the linear machine keep the limit themselves, and give what they have by then.
        with time_limit(None if hasattr(machine, "time_limit") else settings.time_limit):
            model.fit(X, y)
    except TimeIsUp as error:
        raise TimeIsUp(
            f"{str(error).rstrip('.')}, so there is no model: raise --time-limit, or leave out --machine "
            "exact to get the best model so far."
        ) from None
    seconds = time.perf_counter() - start

    facts, margins = _facts(model, machine, X, y, X_held, y_held)
    # Only now: the arrays above carry no names, and scikit-learn would say so.
    if dataset.feature_names is not None:
        (machine if scaler is None else scaler).feature_names_in_ = np.array(
            dataset.feature_names, dtype=object
        )
    facts = {
        "machine": why,
        **facts,
        "scale": "none" if scaler is None else type(scaler).__name__,
        "read_seconds": round(read_seconds, 3),
        "train_seconds": round(seconds, 3),
        "peak_memory_mb": round(peak_memory_mb(), 1),
    }
    sodm.save(model, settings.out, summary={"data": Path(source.path).name, **facts}, margins=margins)
    show(facts | {"out": str(settings.out)}, title="trained", as_json=settings.as_json, quiet=settings.quiet)


def _hold_out(X: Any, y: NDArray[Any], source: Source, settings: Settings) -> tuple[Any, Any, Any, Any]:
    """Rows to train on and to validate with: a share of the rows, or another file."""
    try:
        share = float(settings.validation)
    except ValueError:
        other = Source(**{**vars(source), "path": settings.validation}).read(n_features=X.shape[1])
        return X, y, other.X, np.asarray(other.y)
    if share == 0:
        return X, y, None, None
    train, held = split_rows(y, share, settings.seed)
    return (X[train], y[train], X[held], y[held]) if len(held) else (X, y, None, None)


def _facts(
    model: Any, machine: Any, X: Any, y: NDArray[Any], X_held: Any, y_held: Any
) -> tuple[dict[str, Any], NDArray[np.float64]]:
    rows = np.linspace(0, len(y) - 1, min(len(y), ROWS_TO_SCORE)).astype(np.int64)
    decision = decide(model, X[rows])
    margins = np.sort(decision.margins(y[rows]))
    kept = margins[np.linspace(0, len(margins) - 1, min(len(margins), MARGINS_TO_KEEP)).astype(np.int64)]
    labels, counts = np.unique(y, return_counts=True)
    facts = {
        "rows": len(y),
        "features": int(X.shape[1]),
        "classes": {str(label): int(n) for label, n in zip(labels.tolist(), counts.tolist(), strict=True)},
        "kernel": getattr(machine, "kernel", "linear"),
        "gamma": float(machine._fitted_kernel.gamma) if hasattr(machine, "kernel") else None,
        "lam": float(getattr(machine, "lam_", machine.lam)),
        "upsilon": float(machine.upsilon) if machine.loss == "odm" else None,
        "theta": float(machine.theta) if machine.loss == "odm" else None,
        "support_vectors": len(machine.support_) if hasattr(machine, "support_") else None,
        "gap": float(np.max(machine.dual_gap_)),
        "iterations": int(np.max(machine.n_iter_)),
        "level": machine.history_[-1]["level"] if hasattr(machine, "stop_reason_") else None,
        "stopped_by": getattr(machine, "stop_reason_", None),
        "train_accuracy": float(np.mean(decision.labels == y[rows])),
        "margin_mean": float(margins.mean()),
        "margin_variance": float(margins.var()),
        "validation_rows": None if y_held is None else len(y_held),
        "validation_accuracy": None,
    }
    if y_held is not None:
        facts["validation_accuracy"] = float(np.mean(decide(model, X_held).labels == y_held))
    return facts, kept
