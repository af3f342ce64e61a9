"""Which machine trains, in one place."""

from __future__ import annotations

from typing import Any

from sodm import LinearODMClassifier, ODMClassifier, SODMClassifier

SCALABLE_FROM = 50_000  # rows from which the scalable machine trains, unless told otherwise: docs/cli.md
KERNEL_ONLY = ("kernel", "gamma", "degree", "coef0", "cache_size", "checkpoint_dir")
NOT_EXACT = ("time_limit", "checkpoint_dir")


def make_machine(parameters: dict[str, Any], which: str = "auto", n_rows: int = 0) -> Any:
    """The machine for these parameters and this many rows; None stands for the machine's own default.

    The exact machine has nothing to show before it is done. Under a time limit the scalable one takes its
    place: it goes on to the exact solution, and gives its last level if the time is up before that.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if given["kernel"] == "linear" and which == "auto":
        return LinearODMClassifier(**_without(given, KERNEL_ONLY))
    if which == "scalable" or (which == "auto" and n_rows >= SCALABLE_FROM):
        return SODMClassifier(**given)
    if which == "auto" and "time_limit" in given:
        return SODMClassifier(**given, refine=True)
    return ODMClassifier(**_without(given, NOT_EXACT))


def why_chosen(machine: Any, n_rows: int) -> str:
    """A word on which machine it is, and why."""
    kinds = {LinearODMClassifier: "linear kernel", SODMClassifier: "scalable", ODMClassifier: "exact"}
    kind = kinds[type(machine)]
    if getattr(machine, "refine", False):
        kind = "exact if the time allows"
    return f"{type(machine).__name__} ({kind}, {n_rows:,} rows)"


def _without(parameters: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in names}
