"""Checks of constructor parameters: a sentence naming the parameter, what it must be, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from numbers import Integral, Real
from typing import Any


def check_number(name: str, value: object, must_be: str, holds: Callable[[Any], bool]) -> None:
    """Refuse a value that is no finite number or for which the condition does not hold."""
    if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value) or not holds(value):
        raise ValueError(f"{name} must be a number {must_be}, got {value!r}.")


def check_integer(name: str, value: object, must_be: str, holds: Callable[[Any], bool]) -> None:
    """Refuse a value that is no integer or for which the condition does not hold."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not holds(value):
        raise ValueError(f"{name} must be an integer {must_be}, got {value!r}.")


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a value that is not one of the choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")


def check_solver(name: str, value: object, loss: str) -> None:
    """Refuse what is no solver of the kernel problem, or not one for this loss."""
    check_choice(name, value, ("auto", "newton", "dcd"))
    if loss == "hinge" and value == "newton":
        raise ValueError(f"{name}='newton' needs loss='odm': the hinge loss takes {name}='dcd' or 'auto'.")


def check_flag(name: str, value: object) -> None:
    """Refuse a value that is neither true nor false."""
    if value not in (True, False):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
