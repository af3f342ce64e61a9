"""What users may rely on, written at a release: `python tests/data/make_public.py`, then never again.

`tests/test_public_names.py` holds every later version to it.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import sodm


def parameters(thing: Any) -> list[str]:
    """The names that a call takes; none for modules."""
    return sorted(inspect.signature(thing).parameters) if callable(thing) else []


def options() -> dict[str, list[str]]:
    """The options of the command line, by command."""
    import typer

    from sodm.cli.app import app

    def of(command: Any, name: str) -> dict[str, list[str]]:
        inner = getattr(command, "commands", {})
        own = {name: sorted(word for parameter in command.params for word in parameter.opts)}
        return own | {k: v for key, one in inner.items() for k, v in of(one, f"{name} {key}").items()}

    return of(typer.main.get_command(app), "sodm")


def public() -> dict[str, Any]:
    """Names, parameters and options of this version."""
    names = {f"sodm.{name}": parameters(getattr(sodm, name)) for name in sodm.__all__}
    names |= {f"sodm.model.{name}": parameters(getattr(sodm.model, name)) for name in sodm.model.__all__}
    names |= {f"sodm.data.{name}": parameters(getattr(sodm.data, name)) for name in sodm.data.__all__}
    return {"names": names, "options": options()}


if __name__ == "__main__":
    version = ".".join(sodm.__version__.split(".")[:2])
    path = Path(__file__).with_name(f"public-{version}.json")
    path.write_text(json.dumps(public(), indent=1) + "\n")
