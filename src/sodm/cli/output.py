"""What commands print: a table for people, one JSON object for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def show(facts: dict[str, Any], *, title: str, as_json: bool, quiet: bool = False) -> None:
    """Print facts by name. Values that are None are left out of the table, and null in JSON."""
    if as_json:
        print(json.dumps(facts, default=_plain, allow_nan=False))
    elif not quiet:
        table = Table(title=title, show_header=False, box=None, title_justify="left", title_style="bold")
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in facts.items():
            if value is not None:
                table.add_row(name.replace("_", " "), escape(text_of(name, value)))
        console().print(table)


def note(lines: Sequence[str], quiet: bool) -> None:
    """Say what the user should know, apart from the results."""
    if not quiet:
        for line in lines:
            print(f"sodm: note: {line}.", file=sys.stderr)


def console() -> Console:
    """For a person's window; anything else gets every value on one line, however long."""
    return Console() if on_terminal() else Console(width=10_000)


def text_of(name: str, value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("accuracy"):
        return f"{value:.2%}"
    if name.endswith("_mb"):
        return f"{value:,.0f}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {text_of('', item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        shown = ", ".join(text_of("", item) for item in value[:10])
        return shown if len(value) <= 10 else f"{shown}, and {len(value) - 10} more"
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is not JSON")


def on_terminal() -> bool:
    """Whether a person is watching."""
    return sys.stdout.isatty()
