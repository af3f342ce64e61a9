"""Pictures that commands write: the ending of the name tells the format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.cli.targets import check_target
from sodm.files import atomic_write
from sodm.plots.margins import MarginDistributionDisplay

MOST_CLASSES_NUMBERED = 12  # with more, the confusion matrix has colours only
MOST_CURVES = 8


def check_picture(path: Path) -> None:
    """Refuse formats that are none, and files that cannot be written, before anything is computed."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"{path}: pictures are .png, .svg or .pdf.")
    check_target(path)
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("pictures need matplotlib: run `pip install 'sodm[plots]'`.") from error


def draw_margins(margins: NDArray[np.float64], machine: Any, path: Path) -> None:
    """The distribution of the margins."""
    check_picture(path)
    with _drawing():
        display = MarginDistributionDisplay(margins, theta=_zone(machine), name=type(machine).__name__).plot()
        _save(display.figure_, path)


def draw_evaluation(
    y: NDArray[Any],
    values: NDArray[np.float64],
    predicted: NDArray[Any],
    margins: NDArray[np.float64],
    machine: Any,
    path: Path,
) -> None:
    """Confusion matrix, ROC curves and margins, side by side."""
    from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay

    classes = machine.classes_
    with _drawing():
        import matplotlib.pyplot as plt

        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(16, 4.8), layout="constrained")
        few = len(classes) <= MOST_CLASSES_NUMBERED
        ConfusionMatrixDisplay.from_predictions(
            y, predicted, labels=classes, include_values=few, cmap="Blues", colorbar=False, ax=left
        )
        if max(len(str(label)) for label in classes) > 4:
            left.tick_params(axis="x", rotation=45)
        left.set_title("confusion", loc="left")
        columns = values[:, None] if values.ndim == 1 else values
        shown = classes[1:] if values.ndim == 1 else classes
        drawn = [k for k, label in enumerate(shown) if 0 < np.count_nonzero(y == label) < len(y)]
        for k in drawn[:MOST_CURVES]:
            RocCurveDisplay.from_predictions(y == shown[k], columns[:, k], name=str(shown[k]), ax=middle)
        more = f", first {MOST_CURVES} of {len(drawn)} classes" if len(drawn) > MOST_CURVES else ""
        middle.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, zorder=0)
        middle.set(xlabel="false positive rate", ylabel="true positive rate")
        middle.set_title(f"ROC{more}", loc="left")
        MarginDistributionDisplay(margins, theta=_zone(machine)).plot(ax=right)
        _save(figure, path)


def draw_numbers(y: NDArray[np.float64], predicted: NDArray[np.float64], path: Path) -> None:
    """True numbers and residuals over the predicted ones, side by side."""
    from sklearn.metrics import PredictionErrorDisplay

    with _drawing():
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
        for ax, kind in zip(axes, ("actual_vs_predicted", "residual_vs_predicted"), strict=True):
            PredictionErrorDisplay.from_predictions(y, predicted, kind=kind, ax=ax, random_state=0)
        _save(figure, path)


@contextmanager
def _drawing() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context({"backend": "agg", "svg.hashsalt": "sodm"}):
        yield


def _save(figure: Any, path: Path) -> None:
    with atomic_write(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)


def _zone(machine: Any) -> float | None:
    return machine.theta if machine.loss == "odm" else None
