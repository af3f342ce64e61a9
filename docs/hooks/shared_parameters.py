"""Machines shown with all their parameters: those that they share get into signature and docstring on import.

griffe reads the source only, where each class has its own.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from griffe import Class, Docstring, Extension, Function, Object, Parameter, ParameterKind, Parameters


class SharedParameters(Extension):
    """Takes signature and docstring of a decorated class from the class itself."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Before the docstring is taken apart."""
        if not isinstance(obj, Class) or not any(
            "shows_all_parameters" in str(d.value) for d in obj.decorators
        ):
            return
        machine = getattr(import_module(obj.module.path), obj.name)
        obj.docstring = Docstring(inspect.getdoc(machine) or "", parent=obj)
        constructor = obj.members["__init__"]
        assert isinstance(constructor, Function)
        constructor.parameters = Parameters(
            Parameter("self", kind=ParameterKind.positional_or_keyword),
            *(
                Parameter(name, kind=ParameterKind.keyword_only, default=repr(parameter.default))
                for name, parameter in inspect.signature(machine).parameters.items()
            ),
        )
