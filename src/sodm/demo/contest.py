"""All machines on the same rows: each side's settings by cross-validation, then one fit each, timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from sodm import (
    CascadeClassifier,
    DCClassifier,
    DiPClassifier,
    ODMClassifier,
    ODMClassifierCV,
    SODMClassifier,
)
from sodm.demo.data import Split
from sodm.plots.margins import margins_of

TUNING_ROWS, FOLDS = 2_000, 3
GAMMA_FACTORS = (0.25, 0.5, 1.0, 2.0)  # times scikit-learn's gamma="scale"
# As many settings for one side as for the other.
ODM_GRID = {"lam": (1e2, 3e2, 1e3, 3e3, 1e4, 3e4)}
SVC_GRID = {"C": (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)}
BOOSTING_GRID = {"learning_rate": (0.05, 0.1, 0.2), "max_leaf_nodes": (7, 31)}
BOOSTING, ONEDAL = "boosting", "SVC (oneDAL)"
TREES = (SODMClassifier, CascadeClassifier, DiPClassifier, DCClassifier)


@dataclass(frozen=True)
class Tuned:
    """What cross-validation chose, on how many rows, and how many of them a fit saw."""

    settings: dict[str, float]
    tried: int
    rows: int
    rows_of_a_fit: int
    seconds: float

    def for_rows(self, rows: int) -> dict[str, float]:
        """The settings with the same weight for a row's loss: C is that weight, lam the sum over all rows."""
        growth = rows / self.rows_of_a_fit
        return {name: value * growth if name == "lam" else value for name, value in self.settings.items()}


@dataclass(frozen=True)
class Level:
    """The machine of one level of a tree: seconds since the fit began, and how often it was right."""

    seconds: float
    accuracy: float
    parts: int


@dataclass(frozen=True)
class Outcome:
    """One fitted machine."""

    name: str
    accuracy: float
    seconds: float
    support_vectors: int | None
    """None where the machine is no sum over rows."""
    gap: float | None
    """Relative duality gap; None where the machine has none."""
    gap_is_estimate: bool
    margins: NDArray[np.float64] | None
    """y f(x) of the test rows; None where f is no distance from a border."""
    levels: list[Level]

    @property
    def margin_mean(self) -> float:
        """Mean of the margins."""
        return float("nan") if self.margins is None else float(self.margins.mean())

    @property
    def margin_variance(self) -> float:
        """Variance of the margins."""
        return float("nan") if self.margins is None else float(self.margins.var())


def tune(machine: Any, grid: dict[str, tuple[float, ...]], data: Split, seed: int) -> Tuned:
    """The best of a small grid, by cross-validation on some of the training rows; kernels get gamma too."""
    began = time.perf_counter()
    rows = min(TUNING_ROWS, len(data.y_train))
    X, y = data.X_train, data.y_train
    if rows < len(y):
        X, _, y, _ = train_test_split(X, y, train_size=rows, random_state=seed, stratify=y)
    scale = 1 / (X.shape[1] * X.var())
    gammas = [factor * scale for factor in GAMMA_FACTORS]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    if hasattr(machine, "gamma"):
        grid = {"gamma": tuple(gammas), **grid}
    search: Any = GridSearchCV(machine, grid, cv=folds)
    if isinstance(machine, ODMClassifier):
        search = ODMClassifierCV(
            gammas=gammas, lams=grid["lam"], intercepts=[False], cv=folds, random_state=seed
        )
    with threadpool_limits(1, "openmp"):  # boosting: on so few rows more threads wait for each other
        search.fit(X, y)
    settings = {name: search.best_params_[name] for name in grid}
    tried = {tuple(params[name] for name in settings) for params in search.cv_results_["params"]}
    of_a_fit = rows * (FOLDS - 1) // FOLDS
    return Tuned(settings, len(tried), rows, of_a_fit, time.perf_counter() - began)


def contestants(
    ours: Tuned, theirs: Tuned, boosting: Tuned, rows: int, seed: int
) -> Iterator[tuple[str, Any]]:
    """The machines, not fitted, by name. Ours solve the same problem, so they share their settings."""
    for machine in (ODMClassifier, *TREES):
        yield machine.__name__, machine(random_state=seed).set_params(**ours.for_rows(rows))
    yield "SVC", SVC().set_params(**theirs.for_rows(rows))
    try:
        from sklearnex.svm import SVC as OneDAL  # scikit-learn-intelex, if it is there
    except ImportError:
        pass
    else:
        yield ONEDAL, OneDAL().set_params(**theirs.for_rows(rows))
    yield BOOSTING, HistGradientBoostingClassifier(random_state=seed).set_params(**boosting.for_rows(rows))


def measure(name: str, machine: Any, data: Split) -> Outcome:
    """Fit, and look at the test rows. Looking at them between levels is not counted as time of the fit."""
    is_tree, is_kernel = isinstance(machine, TREES), hasattr(machine, "kernel")
    watched = {"eval_set": (data.X_test, data.y_test)} if is_tree else {}
    began = time.perf_counter()
    machine.fit(data.X_train, data.y_train, **watched)
    seconds = time.perf_counter() - began
    history = machine.history_ if is_tree else []
    decision = machine.decision_function(data.X_test)
    gap = getattr(machine, "dual_gap_", None)
    return Outcome(
        name=name,
        accuracy=float(np.mean(machine.classes_[(decision > 0).astype(int)] == data.y_test)),
        seconds=seconds - sum(record["seconds"]["evaluate"] for record in history),
        support_vectors=len(machine.support_) if is_kernel else None,
        gap=None if gap is None else max(float(gap), 0.0),
        gap_is_estimate=is_tree and machine.stop_reason_ != "exact",
        margins=margins_of(data.y_test, decision, machine.classes_)[0] if is_kernel else None,
        levels=[Level(r["elapsed"], r["accuracy"], r["n_partitions"]) for r in history],
    )
