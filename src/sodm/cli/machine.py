"""Which machine trains, in one place."""

from __future__ import annotations

from typing import Any

from sodm import (
    LinearODMClassifier,
    LinearODMRegressor,
    ODMClassifier,
    ODMRegressor,
    SODMClassifier,
    SODMRegressor,
)

SCALABLE_FROM = 50_000  # rows from which the scalable machine trains, unless told otherwise: docs/cli.md
KERNEL_ONLY = ("kernel", "gamma", "degree", "coef0", "cache_size", "checkpoint_dir")
NOT_EXACT = ("time_limit", "checkpoint_dir")
KINDS: dict[type, str] = {
    LinearODMClassifier: "linear kernel",
    LinearODMRegressor: "linear kernel",
    SODMClassifier: "scalable",
    SODMRegressor: "scalable",
    ODMClassifier: "exact",
    ODMRegressor: "exact",
}
# Parameters that only one task has, and their options.
OF_TASK = {
    "classification": {
        "theta": "--theta",
        "class_weight": "--balanced",
        "loss": "--loss hinge",
        "checkpoint_dir": "--checkpoint",
    },
    "regression": {"epsilon": "--epsilon"},
}


def make_machine(
    parameters: dict[str, Any], which: str = "auto", n_rows: int = 0, task: str = "classification"
) -> Any:
    """The machine for these parameters and this many rows; None stands for the machine's own default.

    The exact machine has nothing to show before it is done. Under a time limit the scalable one takes its
    place: of classes, it goes on to the exact solution, and gives its last level if the time is up before
    that; of numbers, it gives the regions that are done.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    limited = "time_limit" in given
    linear = given["kernel"] == "linear" and which == "auto"
    scalable = which == "scalable" or (which == "auto" and n_rows >= SCALABLE_FROM)
    if task == "regression":
        given = _for_numbers(given)
        if linear:
            return LinearODMRegressor(**_without(given, (*KERNEL_ONLY, "random_state")))
        if scalable or (which == "auto" and limited):
            return SODMRegressor(**given)
        return ODMRegressor(**_without(given, NOT_EXACT))
    _refuse(given, "regression", task)
    if linear:
        return LinearODMClassifier(**_without(given, KERNEL_ONLY))
    if scalable:
        return SODMClassifier(**given)
    if which == "auto" and limited:
        return SODMClassifier(**given, refine=True)
    return ODMClassifier(**_without(given, NOT_EXACT))


def why_chosen(machine: Any, n_rows: int) -> str:
    """A word on which machine it is, and why."""
    kind = "exact if the time allows" if getattr(machine, "refine", False) else KINDS[type(machine)]
    return f"{type(machine).__name__} ({kind}, {n_rows:,} rows)"


def _for_numbers(given: dict[str, Any]) -> dict[str, Any]:
    """What regressors take; their loss is that of `odm`."""
    if given.get("loss") == "odm":
        given = _without(given, ("loss",))
    _refuse(given, "classification", "regression")
    return given


def _refuse(given: dict[str, Any], other: str, task: str) -> None:
    for name, option in OF_TASK[other].items():
        if name in given:
            raise ValueError(
                f"{option} is for {other}, and this is {task}: leave it out, or say --task {other}."
            )


def _without(parameters: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in names}
