"""Types in docstrings such as ``{"scale", "auto"} or float``, shown whole: griffe stops at the brace."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

CHOICES = re.compile(r"^(\s*\w+ : )\{(.+?)\}", re.MULTILINE)


class Choices(Extension):
    """Writes the choices out, as text that griffe takes as it is."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Before the docstring is taken apart."""
        if obj.docstring:
            obj.docstring.value = CHOICES.sub(_written_out, obj.docstring.value)


def _written_out(match: re.Match[str]) -> str:
    return match[1] + match[2].replace(", ", " or ")
