"""How well labels were told: numbers for the whole, and for each class; how well numbers were."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    confusion_matrix,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

RARE_SHARE = 0.1  # a class of fewer rows than this share is rare


def classification(
    y: NDArray[Any],
    values: NDArray[np.float64],
    predicted: NDArray[Any],
    classes: NDArray[Any],
    probabilities: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Measures of decision values against the true labels.

    Classes that do not occur in y have no part in the averages. The area under the ROC curve of a class is
    that of its decision values, the class against the rest; with several classes theirs are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> y, values = np.array([0, 0, 0, 1]), np.array([-1.0, -2.0, 0.5, 0.7])
    >>> found = classification(y, values, (values > 0).astype(int), np.array([0, 1]))
    >>> found["accuracy"], round(found["balanced_accuracy"], 3), found["roc_auc"]
    (0.75, 0.833, 1.0)
    """
    matrix = confusion_matrix(y, predicted, labels=classes)
    found, asked, right = matrix.sum(axis=1), matrix.sum(axis=0), matrix.diagonal()
    names = [str(label) for label in classes.tolist()]
    recall, precision, f1 = _shares(right, found), _shares(right, asked), _shares(2 * right, found + asked)
    areas = _areas(y, values, classes)
    there = [k for k, n in enumerate(found) if n]
    per_class = [
        {
            "class": names[k],
            "rows": int(found[k]),
            "predicted": int(asked[k]),
            "precision": precision[k],
            "recall": recall[k],
            "f1": f1[k],
            "roc_auc": areas[k],
        }
        for k in range(len(classes))
    ]
    return {
        "rows": len(y),
        "accuracy": float(right.sum() / len(y)),
        "errors": int(len(y) - right.sum()),
        "balanced_accuracy": _mean([recall[k] for k in there]),
        "macro_f1": _mean([f1[k] for k in there]),
        "roc_auc": _mean([area for area in areas if area is not None]),
        "log_loss": None if probabilities is None else float(log_loss(y, probabilities, labels=classes)),
        "per_class": per_class,
        "recall": dict(zip(names, recall, strict=True)),
        "precision": dict(zip(names, precision, strict=True)),
        "confusion": matrix.tolist(),
    }


def regression(y: NDArray[np.float64], predicted: NDArray[np.float64]) -> dict[str, Any]:
    """Measures of predicted numbers against the true ones; one row has no R^2.

    Examples
    --------
    >>> import numpy as np
    >>> found = regression(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    >>> found["r2"], round(found["rmse"], 3), round(found["mae"], 3)
    (0.5, 0.577, 0.333)
    """
    return {
        "rows": len(y),
        "r2": float(r2_score(y, predicted)) if len(y) > 1 else None,
        "rmse": float(root_mean_squared_error(y, predicted)),
        "mae": float(mean_absolute_error(y, predicted)),
    }


def rare_class(y: NDArray[Any]) -> tuple[Any, float] | None:
    """The rarest class and its share of the rows, if that is small for the number of classes."""
    labels, counts = np.unique(y, return_counts=True)
    k = int(counts.argmin())
    share = float(counts[k] / len(y))
    return (labels.tolist()[k], share) if share < min(RARE_SHARE, 0.5 / len(labels)) else None


def hint_for_rare(y: NDArray[Any], class_weight: Any) -> tuple[str, ...]:
    """A word on --balanced where a class is rare and the machine does not know."""
    rare = rare_class(y) if class_weight is None else None
    if rare is None:
        return ()
    return (
        f"class {rare[0]!r} is {rare[1]:.1%} of the rows, so accuracy says little about it: look at balanced "
        "accuracy and recall, and train with --balanced if it matters as much as the others",
    )


def _areas(y: NDArray[Any], values: NDArray[np.float64], classes: NDArray[Any]) -> list[float | None]:
    """The area under the ROC curve, class by class; None where only one side occurs."""
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    areas: list[float | None] = []
    for k, label in enumerate(classes):
        of_class = y == label
        both = of_class.any() and not of_class.all()
        areas.append(float(roc_auc_score(of_class, values[:, k])) if both else None)
    return areas


def _shares(part: NDArray[Any], whole: NDArray[Any]) -> list[float | None]:
    return [float(p / w) if w else None for p, w in zip(part, whole, strict=True)]


def _mean(values: list[Any]) -> float | None:
    return float(np.mean(values)) if values else None
