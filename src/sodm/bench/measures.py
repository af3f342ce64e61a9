"""What a fitted machine tells of itself, whichever it is; what it does not know is left out."""

from __future__ import annotations

from typing import Any

import numpy as np


def measures(machine: Any) -> dict[str, Any]:
    """Objective, relative duality gap, support vectors and iterations as plain numbers."""
    found: dict[str, Any] = {}
    if hasattr(machine, "objective_"):
        found["objective"] = float(np.max(machine.objective_))
    if hasattr(machine, "dual_gap_"):
        found["gap"] = float(np.max(machine.dual_gap_))
        found["gap_estimated"] = _estimated(machine)
    if hasattr(machine, "support_"):
        found["n_support"] = len(machine.support_)
    if hasattr(machine, "n_iter_"):
        found["n_iter"] = int(np.max(machine.n_iter_))
    if hasattr(machine, "stop_reason_"):
        found["stop_reason"] = machine.stop_reason_
    return found


def _estimated(machine: Any) -> bool:
    """Trees that stop before the exact problem know their objective from a sample of the rows."""
    history = getattr(machine, "history_", None) or [{}]
    return bool(history[-1].get("estimated", False)) and getattr(machine, "stop_reason_", "") != "exact"


SHAPE = ("n_partitions", "n_rows", "n_iter")
LEVEL = (*SHAPE, "n_support", "objective", "gap", "accuracy", "elapsed")
MOST_RECORDS = 16  # enough for a curve
EPOCH = ("epoch", "seconds", "objective", "gap", "accuracy", "passes")


def history(machine: Any, *, parts: bool = False, curve: bool = True) -> list[dict[str, Any]]:
    """What was written down on the way: one record a level or an epoch, few digits.

    With `parts`, also the seconds of each part, and those between, when no part was being solved. Without
    `curve`, only the shape of the levels, and the last of the epochs.
    """
    written = getattr(machine, "history_", None) or []
    if not curve and written and "n_partitions" not in written[0]:
        written = written[-1:]
    records = []
    for record in thinned(written):
        names = (LEVEL if curve else SHAPE) if "n_partitions" in record else EPOCH
        kept = {name: short(record[name]) for name in names if record.get(name) is not None}
        if parts and "part_seconds" in record:
            spent = record["seconds"]
            kept["part_seconds"] = [short(seconds, 3) for seconds in record["part_seconds"]]
            alone = ("pilot", "partition", "merge", "probe")
            kept["between_seconds"] = short(sum(spent[name] for name in alone))
        records.append(kept)
    return records


def thinned(records: list[Any]) -> list[Any]:
    """At most about MOST_RECORDS of them, evenly, the first and the last included.

    Examples
    --------
    >>> thinned(list(range(50)))
    [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 49]
    """
    step = -(-len(records) // MOST_RECORDS)
    return records if step <= 1 else [*records[:-1:step], records[-1]]


def training_seconds(machine: Any, wall: float) -> float:
    """Seconds of a fit without those in which the test rows were watched, which the machines count apart."""
    records = getattr(machine, "history_", None)
    if not records:
        return wall
    if "n_partitions" in records[0]:
        return wall - float(sum(record["seconds"]["evaluate"] for record in records))
    return float(records[-1]["seconds"])


def short(value: Any, digits: int = 5) -> Any:
    """A number with few digits, for files that people keep; anything else as it is."""
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value
