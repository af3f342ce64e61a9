"""What `sodm train` tells of a fitted machine, and remembers in the model file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from sodm.cli.deciding import Decisions
from sodm.cli.measures import regression
from sodm.data.columns import Table

MARGINS_TO_KEEP = 10_000
HELD = {
    "classification": ("accuracy", "balanced_accuracy", "roc_auc"),
    "regression": ("r2", "rmse", "mae"),
}


def of_machine(machine: Any, X: Any, y: NDArray[Any]) -> dict[str, Any]:
    """Its data, its parameters, and how far its solver came."""
    return {
        "rows": len(y),
        "features": int(machine.n_features_in_),
        "columns": int(X.shape[1]) if isinstance(X, Table) else None,
        **({"numbers": spread(y)} if is_regressor(machine) else {"classes": counts(y)}),
        "kernel": getattr(machine, "kernel", "linear"),
        "gamma": float(machine._fitted_kernel.gamma) if hasattr(machine, "kernel") else None,
        "lam": float(getattr(machine, "lam_", machine.lam)),
        **_zone(machine),
        "support_vectors": len(machine.support_) if hasattr(machine, "support_") else None,
        "gap": float(np.max(machine.dual_gap_)),
        "iterations": int(np.max(machine.n_iter_)),
        "level": _level(machine),
        "stopped_by": getattr(machine, "stop_reason_", None),
    }


def of_classes(decisions: Decisions, y: NDArray[Any]) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """Accuracy and margins of training rows; and the margins themselves, some of them if they are many."""
    margins = np.sort(decisions.margins(y))
    kept = margins[np.linspace(0, len(margins) - 1, min(len(margins), MARGINS_TO_KEEP)).astype(np.int64)]
    facts = {
        "train_accuracy": float(np.mean(decisions.labels == y)),
        "margin_mean": float(margins.mean()),
        "margin_variance": float(margins.var()),
    }
    return facts, kept


def of_numbers(predicted: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, Any]:
    """R^2 and error of training rows."""
    found = regression(y, predicted)
    return {f"train_{name}": found[name] for name in ("r2", "rmse")}


def of_validation(task: str, rows: int | None, found: dict[str, Any]) -> dict[str, Any]:
    """What was measured on rows held out; None where nothing was."""
    return {"validation_rows": rows, **{f"validation_{name}": found.get(name) for name in HELD[task]}}


def counts(labels: NDArray[Any]) -> dict[str, int]:
    """How many rows each class has."""
    found, n = np.unique(labels, return_counts=True)
    return {str(label): int(k) for label, k in zip(found.tolist(), n.tolist(), strict=True)}


def spread(values: NDArray[np.float64]) -> dict[str, float]:
    """Where numbers lie."""
    return {"lowest": float(values.min()), "mean": float(values.mean()), "highest": float(values.max())}


def _zone(machine: Any) -> dict[str, float | None]:
    if is_regressor(machine):
        return {"upsilon": float(machine.upsilon), "epsilon": float(machine.epsilon)}
    odm = machine.loss == "odm"
    return {
        "upsilon": float(machine.upsilon) if odm else None,
        "theta": float(machine.theta) if odm else None,
    }


def _level(machine: Any) -> int | None:
    """The last level of a tree."""
    levels = hasattr(machine, "stop_reason_") and getattr(machine, "history_", None)
    return levels[-1]["level"] if levels else None
