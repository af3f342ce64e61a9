"""A digest of parameters, by which a fit knows its own checkpoint again.

A function is told by its content: its code, its constants and defaults, and whatever it uses by name. What
belongs to an installed package goes by its name and the version of the package. A lambda, a closure, a method
or any other object that can be called hides part of what it does, so it cannot be told from others.
"""

from __future__ import annotations

import builtins
import hashlib
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

Content = tuple[Any, ...]
_PACKAGES = {"site-packages", "dist-packages"}
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class Untold(Exception):
    """Something that cannot be told from others by its content."""


def fingerprint(parameters: dict[str, Any]) -> tuple[str, list[str]]:
    """A digest of parameters by name and value, and the names of those that it does not tell from others.

    Examples
    --------
    >>> digest, untold = fingerprint({"lam": 1.0, "kernel": lambda A, B: A @ B.T})
    >>> untold
    ['kernel']
    """
    told: dict[str, Any] = {}
    untold = []
    for name, value in parameters.items():
        try:
            told[name] = function_content(value, set()) if callable(value) else value
        except Untold:
            told[name] = "cannot be told"
            untold.append(name)
    return hashlib.sha256(repr(sorted(told.items())).encode()).hexdigest(), untold


def function_content(function: Any, seen: set[int]) -> Content:
    """All that a function does, as values that print the same in every process; raises `Untold`."""
    if id(function) in seen:  # it calls itself, or another that does
        return ("again", function.__qualname__)
    seen.add(id(function))
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is not None and _is_installed(module) and _is_reached(module, function):
        return ("installed", module.__name__, function.__qualname__, _version(module))
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>" or function.__closure__:
        raise Untold
    defaults = [_content(value, seen) for value in function.__defaults__ or ()]
    named = {key: _content(value, seen) for key, value in (function.__kwdefaults__ or {}).items()}
    used = {
        name: _content(function.__globals__[name], seen)
        for name in sorted(_names(function.__code__))
        if name in function.__globals__
    }
    return (function.__module__, function.__qualname__, _code(function.__code__), defaults, named, used)


def _content(value: Any, seen: set[int]) -> Any:
    """A value that a function uses."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, tuple | list):
        return type(value).__name__, [_content(item, seen) for item in value]
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
        return value.dtype.str, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, ModuleType):
        if not _is_installed(value):
            raise Untold
        return "module", value.__name__, _version(value)
    if callable(value):
        return function_content(value, seen)
    raise Untold


def _code(code: CodeType) -> Content:
    constants = [_code(c) if isinstance(c, CodeType) else _constant(c) for c in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_argcount


def _constant(value: Any) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _names(code: CodeType) -> set[str]:
    """Names that the code and the functions inside of it look up."""
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*inner)


def _is_installed(module: ModuleType) -> bool:
    """Whether it belongs to Python or to an installed package, and so changes with its version only."""
    if module is builtins or module.__name__ in sys.builtin_module_names:
        return True
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    path, standard = Path(file).resolve(), Path(sysconfig.get_path("stdlib")).resolve()
    return not _PACKAGES.isdisjoint(path.parts) or path.is_relative_to(standard)


def _is_reached(module: ModuleType, function: Any) -> bool:
    """Whether the module has this very function under its name."""
    found: Any = module
    for name in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found is function


def _version(module: ModuleType) -> str:
    package = sys.modules.get(module.__name__.partition(".")[0], module)
    return str(getattr(package, "__version__", sys.version_info[:3]))
