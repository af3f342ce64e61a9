"""`sodm inspect`: what is in a model file, and its margins as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sodm
from sodm.cli.output import show
from sodm.cli.score import draw
from sodm.model import describe
from sodm.model.loading import stored_margins
from sodm.model.machines import split


def inspect(model_path: Path, plot: Path | None, as_json: bool) -> None:
    """Show the header, and draw the margins that were stored at training."""
    header = describe(model_path)
    model = sodm.load(model_path)  # checks all that `describe` does not
    if plot is not None:
        margins = stored_margins(model_path)
        if margins is None:
            raise ValueError(
                f"{model_path}: no margins are stored in this model: use `sodm evaluate DATA MODEL "
                f"--plot {plot}`."
            )
        draw(margins, split(model)[1], plot)
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
            k: v for k, v in header["parameters"].items() if k in ("lam", "upsilon", "theta", "loss")
        },
        "classes": header["classes"]["values"],
        "features": header["n_features"],
        "feature_names": header["feature_names"],
        "scaler": header["scaler"] and header["scaler"]["kind"],
        "support_vectors": header["arrays"].get("support", {"shape": [None]})["shape"][0],
        "gap": header["fit"].get("dual_gap_"),
    }
    kept = ("data", "rows", "train_accuracy", "validation_accuracy", "train_seconds")
    facts |= {name: summary[name] for name in kept if name in summary}
    show(facts | {"plot": plot and str(plot)}, title=str(model_path.name), as_json=False)
