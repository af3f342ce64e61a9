"""The base classes of the files in `paper/`: benchopt's where benchopt has loaded them, else these.

benchopt (https://benchopt.github.io) runs a folder of one objective, several data sets and several solvers.
Our own runner uses the same files, with all it needs of the convention here: a class has `parameters`, names
with lists of values, and an instance has one value of each.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class Parametrised:
    """An instance has an attribute for each of the class's `parameters`: the value given, or the first."""

    name = ""
    parameters: dict[str, list[Any]] = {}  # noqa: RUF012 - benchopt's convention

    def __init__(self, **values: Any) -> None:
        unknown = sorted(set(values) - set(self.parameters))
        if unknown:
            known = ", ".join(self.parameters) or "none"
            raise ValueError(f"{self.name} has no parameter {', '.join(unknown)}; it has: {known}.")
        for name, choices in self.parameters.items():
            setattr(self, name, values.get(name, choices[0]))


_benchopt = sys.modules.get("benchopt")  # there if it is benchopt that reads the files
BaseObjective: Any = getattr(_benchopt, "BaseObjective", Parametrised)
BaseDataset: Any = getattr(_benchopt, "BaseDataset", Parametrised)
BaseSolver: Any = getattr(_benchopt, "BaseSolver", Parametrised)


def module(kind: str, name: str) -> ModuleType:
    """A file of the benchmark: module("solvers", "sodm")."""
    return importlib.import_module(f"sodm.bench.paper.{kind}.{name}")
