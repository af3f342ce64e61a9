"""What the paper prints: `printed.json`, by table, data set and system."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def printed() -> dict[str, Any]:
    """All of it."""
    text = resources.files("sodm.bench").joinpath("printed.json").read_text()
    content: dict[str, Any] = json.loads(text)
    return content


def printed_value(table: str, dataset: str, system: str, what: str) -> float | None:
    """The accuracy or the seconds of a system on a data set; None where the paper has none.

    Examples
    --------
    >>> printed_value("2", "a7a", "SODM", "accuracy")
    0.838
    """
    value = printed()["tables"][table].get(dataset, {}).get(system, {}).get(what)
    return None if value is None else float(value)
