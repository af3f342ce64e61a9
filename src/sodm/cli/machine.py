"""Which machine trains, in one place."""

from __future__ import annotations

from typing import Any

from sodm import LinearODMClassifier, ODMClassifier

KERNEL_ONLY = ("kernel", "gamma", "degree", "coef0", "cache_size")


def make_machine(parameters: dict[str, Any]) -> Any:
    """The machine for these parameters; None stands for the machine's own default."""
    given = {name: value for name, value in parameters.items() if value is not None}
    if given["kernel"] == "linear":
        return LinearODMClassifier(**{k: v for k, v in given.items() if k not in KERNEL_ONLY})
    return ODMClassifier(**given)


def why_chosen(machine: Any, n_rows: int) -> str:
    """A word on which machine it is, and why."""
    kind = "linear kernel" if isinstance(machine, LinearODMClassifier) else "exact"
    return f"{type(machine).__name__} ({kind}, {n_rows:,} rows)"
