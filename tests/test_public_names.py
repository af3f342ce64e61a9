"""The policy for deprecation: what a release offers is in the next ones, or went with a warning first."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

STORED = Path(__file__).parent / "data"
sys.path.insert(0, str(STORED))

# Names, "name(parameter)" and "command --option" that were deprecated in two minor versions and are gone.
GONE: set[str] = set()


def listed(public: dict) -> set[str]:
    """All that is public, as words."""
    names = set(public["names"])
    names |= {f"{name}({one})" for name, ones in public["names"].items() for one in ones}
    return names | {f"{command} {one}" for command, ones in public["options"].items() for one in ones}


@pytest.mark.parametrize("path", sorted(STORED.glob("public-*.json")), ids=lambda path: path.stem)
def test_what_a_release_offered_is_still_there(path: Path) -> None:
    pytest.importorskip("typer")
    from make_public import public

    lost = listed(json.loads(path.read_text())) - listed(public()) - GONE
    assert not lost, f"gone since {path.stem}: {sorted(lost)}; deprecate in two minor versions first"
