"""Which machine trains, in one place."""

from __future__ import annotations

from typing import Any

from sodm import ODMClassifier


def choose_machine(n_rows: int, parameters: dict[str, Any]) -> tuple[Any, str]:
    """The machine for this many rows, with its parameters, and a word on why."""
    return ODMClassifier(**parameters), f"exact, {n_rows:,} rows"
