"""`sodm inspect`: what is in a model file, and its margins as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sodm
from sodm.cli.output import show
from sodm.cli.pictures import check_picture, draw_margins
from sodm.model import describe
from sodm.model.loading import stored_margins
from sodm.model.machines import prepares, split
from sodm.model.preparation import pieces

NAMES_SHOWN = 8


def inspect(model_path: Path, plot: Path | None, as_json: bool) -> None:
    """Show the header, and draw the margins that were stored at training."""
    if plot is not None:
        check_picture(plot)
    header = describe(model_path)
    model = sodm.load(model_path)  # checks all that `describe` does not
    before, machine = split(model)
    if plot is not None:
        margins = stored_margins(model_path)
        if margins is None:
            raise ValueError(
                f"{model_path}: no margins are stored in this model: use `sodm evaluate DATA MODEL "
                f"--plot {plot}`."
            )
        draw_margins(margins, machine, plot)
    if as_json:
        show(header, title="", as_json=True)
        return
    summary = header["summary"]
    facts: dict[str, Any] = {
        "file": f"{model_path}, {model_path.stat().st_size:,} bytes, version {header['version']}",
        "written_by": f"sodm {header['library']}",
        "machine": header["machine"],
        "kernel": header["kernel"] or "linear",
        "parameters": {
            k: v
            for k, v in header["parameters"].items()
            if k in ("lam", "upsilon", "theta", "epsilon", "loss")
        },
        "classes": header["classes"] and header["classes"]["values"],
        "features": header["n_features"],
        "feature_names": header["feature_names"],
        "scaler": header["scaler"] and header["scaler"]["kind"],
        **(_told(before) if prepares(before) else {}),
        "support_vectors": header["arrays"].get("support", {"shape": [None]})["shape"][0],
        "gap": header["fit"].get("dual_gap_"),
    }
    table = summary.get("table")
    if isinstance(table, dict):
        facts["label"] = table.get("label", table.get("label_at"))
    kept = (
        *("data", "task", "trained_on", "rows", "numbers", "train_accuracy", "validation_accuracy"),
        *("train_r2", "validation_r2", "validation_rmse", "train_seconds"),
    )
    facts |= {name: summary[name] for name in kept if name in summary}
    show(facts | {"plot": plot and str(plot)}, title=str(model_path.name), as_json=False)


def _told(before: Any) -> dict[str, str]:
    """What is done to the columns, block by block."""
    names = [str(name) for name in getattr(before, "feature_names_in_", range(before.n_features_in_))]
    lines = {}
    for block, fitted, columns in before.transformers_:
        steps = []
        for piece in pieces(fitted):
            kind = type(piece).__name__
            if kind == "SimpleImputer":
                filled = [f"{names[k]} {_short(v)}" for k, v in zip(columns, piece.statistics_, strict=True)]
                same = len(set(piece.statistics_.tolist())) == 1
                what = _short(piece.statistics_[0]) if same else f"the {piece.strategy}: {_some(filled)}"
                steps.append(f"missing values become {what}")
            elif kind == "OneHotEncoder":
                steps.append(_categories(piece, [names[k] for k in columns]))
            else:
                steps.append(kind)
        own = _some([names[k] for k in columns])
        lines[f"prepared_{block}"] = f"{own}: {'; '.join(steps) if steps else 'as they are'}"
    return lines


def _categories(encoder: Any, names: list[str]) -> str:
    rare = getattr(encoder, "infrequent_categories_", [None] * len(names))
    told = []
    for name, values, few in zip(names, encoder.categories_, rare, strict=True):
        less = 0 if few is None else len(few)
        common = [_short(v) for v in values.tolist() if few is None or v not in few]
        told.append(f"{name} = {_some(common)}" + (f" or one of {less} rare ones" if less else ""))
    return "one column each for " + "; ".join(told)


def _some(words: list[str]) -> str:
    shown = ", ".join(words[:NAMES_SHOWN])
    return shown if len(words) <= NAMES_SHOWN else f"{shown} and {len(words) - NAMES_SHOWN} more"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
