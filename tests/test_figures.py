"""README, docs and the picture give the figures of docs/figures.toml, and no others in their places."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "figures.py"
if not TOOL.exists():  # tests of an installed wheel have no tools
    pytest.skip("tools/figures.py is not here", allow_module_level=True)
spec = importlib.util.spec_from_file_location("figures", TOOL)
tool = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
spec.loader.exec_module(tool)  # type: ignore[union-attr]


@pytest.mark.parametrize("page", tool.pages(), ids=lambda page: page.name)
def test_a_page_gives_the_figures_of_the_file(page: Path) -> None:
    text = page.read_text()
    assert tool.filled(text, tool.figures()) == text, "run: python tools/figures.py"
    assert text.count("<!-- end -->") == len(tool.PLACE.findall(text))


def test_the_picture_is_drawn_of_the_file() -> None:
    assert tool.PICTURE.read_text() == tool.picture(tool.figures()), "run: python tools/figures.py"


def test_a_changed_figure_is_noticed_and_filled_in() -> None:
    known = tool.figures()
    page = "takes <!-- figure: a9a.exact -->99 s<!-- end -->\n<!-- table: exact --><!-- end -->"
    done = tool.filled(page, known)
    assert f"-->{known['a9a']['exact']}<!-- end -->" in done and "| ijcnn1 | 113,352 |" in done
    known["a9a"]["exact"] = "0.5 s"
    assert tool.filled(done, known) != done
    with pytest.raises(KeyError):
        tool.filled("<!-- figure: a9a.nothing -->1<!-- end -->", known)


def test_a_page_has_no_bare_copy_of_a_marked_time() -> None:
    """Times of the exact machine stand in marked places only."""
    times = {own["exact"] for name, own in tool.figures().items() if name != "tables" and own.get("exact")}
    for page in (ROOT / "README.md", ROOT / "docs" / "large.md", ROOT / "docs" / "choosing.md"):
        bare = tool.PLACE.sub("", page.read_text())
        assert not [time for time in times if re.search(rf"(?<![\d.]){re.escape(time)}", bare)], page.name
