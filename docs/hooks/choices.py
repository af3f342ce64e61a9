"""Types in docstrings shown whole, such as ``{"scale", "auto"} or float`` and ``str, int or None``.

griffe stops at the brace of the first and takes the second for a tuple.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

CHOICES = re.compile(r"^( *\w+ : )(?:\{(.+?)\}|(\w+(?:, \w+)+)(?= or ))", re.MULTILINE)


class Choices(Extension):
    """Writes the choices out, as text that griffe takes as it is."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Before the docstring is taken apart."""
        if obj.docstring:
            obj.docstring.value = CHOICES.sub(_written_out, obj.docstring.value)


def _written_out(match: re.Match[str]) -> str:
    return match[1] + (match[2] or match[3]).replace(", ", " or ")
