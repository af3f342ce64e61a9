"""What a search looks at: scorers of scikit-learn's by name, and whether one fits the labels at hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer, get_scorer_names

USUAL = {"classification": "accuracy", "regression": "r2"}
_NUMBERS = ("error", "deviance", "r2", "explained_variance", "absolute", "pinball")
_CLUSTERS = ("rand_score", "mutual_info", "homogeneity", "completeness", "v_measure", "fowlkes_mallows")


def names_of(task: str) -> list[str]:
    """The scorers for classes or for numbers; those for clusterings are for neither."""
    names = [n for n in get_scorer_names() if not any(word in n for word in (*_CLUSTERS, "samples"))]
    of_numbers = [name for name in names if any(word in name for word in _NUMBERS)]
    return of_numbers if task == "regression" else [name for name in names if name not in of_numbers]


def check_fits(metric: str, task: str, y: NDArray[Any]) -> None:
    """Refuse a metric that these labels cannot be scored by, before anything is trained."""
    known = names_of(task)
    if metric not in known:
        raise ValueError(f"--metric {metric} is not for {task}, which this is: {', '.join(known)} are.")
    X = np.zeros((len(y), 1))
    guess: Any = (
        DummyRegressor() if task == "regression" else DummyClassifier(strategy="stratified", random_state=0)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            score = get_scorer(metric)(guess.fit(X, y), X, y)
        except ValueError as error:
            other = [name for name in (f"{metric}_macro", f"{metric}_ovr") if name in known]
            advice = f"{other[0]} does" if other else "choose another"
            raise ValueError(
                f"--metric {metric} does not fit these labels ({_first(error)}): {advice}."
            ) from None
    if np.isnan(score):
        raise ValueError(f"--metric {metric} has no value for these labels: choose another.")


def shown(metric: str, value: float, error: float) -> str:
    """A score and its standard error as people read them."""
    if metric == "accuracy":
        return f"{value:.2%} ± {error:.2%} right"
    return f"{metric} {value:.4f} ± {error:.4f}"


def _first(error: Exception) -> str:
    return str(error).split(". ")[0].rstrip(".")
