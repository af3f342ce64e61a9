"""Which machines a model file may hold, and what a fitted one consists of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from sodm.model.scalers import kind_of
from sodm.problem.kernels import Kernel
from sodm.problem.pairs import spread_over_pairs

# The machines by name, and where they are. A file can name nothing else.
MACHINES = {
    "ODMClassifier": "sodm.estimators.odm",
    "LinearODMClassifier": "sodm.estimators.linear",
    "SODMClassifier": "sodm.estimators.sodm",
    "LinearODMRegressor": "sodm.estimators.linear_regressor",
    "SODMRegressor": "sodm.estimators.sodm_regressor",
    "ODMRegressor": "sodm.estimators.odm_regressor",
    "CascadeClassifier": "sodm.estimators.cascade",
    "DiPClassifier": "sodm.estimators.dip",
    "DCClassifier": "sodm.estimators.dc",
}
SEARCHES = {"ODMClassifierCV": "sodm.estimators.odm_cv", "ODMRegressorCV": "sodm.estimators.odm_regressor_cv"}
CALIBRATORS = dict.fromkeys(("Sigmoid", "TwoClasses", "Pairs", "Rest"), "sodm.search.calibrate")
TRUSTED_TYPES = [
    f"{module}.{name}" for part in (MACHINES, SEARCHES, CALIBRATORS) for name, module in part.items()
]
"""All classes of ours in a fitted machine, as skops and MLflow want to be told which types may be loaded."""
NUMBERS_OF_THE_FIT = (
    *("n_iter_", "dual_gap_", "violation_", "objective_", "n_kernel_evaluations_"),
    *("gradient_norm_", "solver_", "stop_reason_", "lam_"),
)


def split(model: Any) -> tuple[Any | None, Any]:
    """What comes before the machine (a scaler, a ColumnTransformer, or None), and the machine."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    steps = [step for step in steps if step is not None and step != "passthrough"]
    if steps and type(steps[-1]).__name__ in SEARCHES:  # the machine that it has fitted
        steps[-1] = getattr(steps[-1], "best_estimator_", steps[-1])
    if not steps or type(steps[-1]).__name__ not in MACHINES:
        raise TypeError(
            f"only {', '.join(MACHINES)} can be saved, alone, behind a scaler or behind a ColumnTransformer; "
            f"got {type(model).__name__}."
        )
    if len(steps) > 2 or (len(steps) == 2 and kind_of(steps[0]) is None and not prepares(steps[0])):
        raise TypeError(
            "only one step may come before the machine, a MinMaxScaler, StandardScaler, MaxAbsScaler or "
            "ColumnTransformer; got "
            + ", ".join(type(step).__name__ for step in steps[:-1])
            + ": pickle such a pipeline instead."
        )
    return (steps[0] if len(steps) == 2 else None), steps[-1]


def prepares(step: Any) -> bool:
    """Whether this step takes the columns of a table, rather than rows of numbers."""
    return type(step).__name__ == "ColumnTransformer"  # by name: to import the class takes a while


def has_kernel(machine: Any) -> bool:
    """Whether the machine is a sum over support vectors, rather than one vector of coefficients."""
    return hasattr(machine, "support_vectors_")


def in_pairs(machine: Any) -> bool:
    """Whether the machine decides by the votes of pairs of classes."""
    return bool(getattr(machine, "_one_against_one", False))


def classes_of_support(machine: Any) -> NDArray[np.int64]:
    """The number of the class of each support vector of a machine of pairs, which has them class by class."""
    return np.repeat(np.arange(len(machine.classes_)), machine.n_support_)


def regions_of(machine: Any) -> Any | None:
    """The clusters of a machine that decides by the nearest one, None for all others."""
    return getattr(machine, "_regions", None)


def machines_of(machine: Any) -> Any | None:
    """The machines of the regions of a machine at two scales, None for all others."""
    return getattr(machine, "_machines", None)


def expansion(machine: Any) -> tuple[Kernel, Any, NDArray[np.float64], NDArray[np.float64]]:
    """A machine as a sum over support vectors: kernel, vectors, coefficients and intercepts.

    A linear decision is one vector per class, its coefficients. Of machines of pairs each pair has a row of
    coefficients, zero for the support vectors of other classes.
    """
    if regions_of(machine) is not None:
        raise ValueError(
            "a DCClassifier with early=True decides each row by the machine of its nearest cluster, which is "
            "no one sum over support vectors: fit it with early=False to convert it."
        )
    if machines_of(machine) is not None:
        raise ValueError(
            "a machine with regions decides each row by the machine of its region, which is no one sum over "
            "support vectors: convert one without (SODMClassifier(regions=None), ODMRegressor)."
        )
    if has_kernel(machine) and machine._fitted_kernel.name != "linear":
        coefficients = machine.dual_coef_
        if in_pairs(machine):
            coefficients = spread_over_pairs(coefficients, classes_of_support(machine))
        return machine._fitted_kernel, machine.support_vectors_, coefficients, machine.intercept_
    coefficients = np.asarray(machine.coef_, dtype=np.float64)
    return Kernel("linear"), coefficients, np.eye(len(coefficients)), machine.intercept_
