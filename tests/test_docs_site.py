"""The parts that make the site: scripts run by cells, and the watch over what pages fetch."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sodm

ROOT = Path(__file__).parent.parent
HOOKS = ROOT / "docs" / "hooks"
SCRIPT = '''"""Two sums.

The second is *larger*.
"""

x = 1
print(x + x)

# %%
# Now with a figure.

import matplotlib.pyplot as plt

print(x + 2)
plt.plot([x, 2])
plt.show()
'''


def run_cells(script, folder):
    command = [sys.executable, str(HOOKS / "cells.py"), str(script), str(folder)]
    return subprocess.run(command, capture_output=True, text=True)


def test_cells_keep_text_output_and_figures(tmp_path):
    pytest.importorskip("matplotlib")
    script = tmp_path / "sums.py"
    script.write_text(SCRIPT)
    done = run_cells(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert (record["title"], record["text"]) == ("Two sums.", "The second is *larger*.")
    first, second = record["cells"]
    assert (first["text"], first["output"], first["figures"]) == ("", "2\n", [])
    assert (second["text"], second["output"], second["figures"]) == (
        "Now with a figure.",
        "3\n",
        ["sums_0.png"],
    )
    assert (tmp_path / "sums_0.png").read_bytes().startswith(b"\x89PNG")


def test_a_failing_cell_names_its_line(tmp_path):
    pytest.importorskip("matplotlib")
    script = tmp_path / "broken.py"
    script.write_text('"""Breaks."""\n\n# %%\n# Here.\n\n1 / 0\n')
    done = run_cells(script, tmp_path)
    assert done.returncode != 0
    assert f'"{script}", line 6' in done.stderr and "ZeroDivisionError" in done.stderr


@pytest.fixture
def fetches(monkeypatch):
    monkeypatch.syspath_prepend(str(HOOKS))
    import offline

    return offline.fetches


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/a.css">',
        '<img src="http://pictures.example/a.png">',
        "<style>@import 'https://fonts.example/b.css';</style>",
        '<p style="background: url(https://pictures.example/b.png)">',
    ],
)
def test_what_a_page_would_fetch_is_found(fetches, tmp_path, page):
    (tmp_path / "page.html").write_text(f"<html><body>{page}</body></html>")
    (found,) = fetches(tmp_path)
    assert found.startswith("page.html: ") and ".example/" in found


def test_links_and_own_files_are_no_fetches(fetches, tmp_path):
    (tmp_path / "page.html").write_text(
        '<a href="https://example.org">there</a><script src="own.js"></script><img src="a.png">'
        '<link rel="canonical" href="https://example.org/page.html">'
    )
    (tmp_path / "own.css").write_text("p { background: url(a.png) }")
    assert fetches(tmp_path) == []
    (tmp_path / "own.css").write_text('@import url("https://fonts.example/c.css");')
    assert fetches(tmp_path) == ["own.css: https://fonts.example/c.css"]


@pytest.mark.parametrize("name", ["SODMClassifier", "CascadeClassifier", "DiPClassifier", "DCClassifier"])
def test_parameters_said_to_be_shared_are(name):
    """Docstrings refer to other machines for parameters in common; so these have the same defaults."""
    machine, odm, tree = getattr(sodm, name)(), sodm.ODMClassifier(), sodm.SODMClassifier()
    own, exact, scalable = machine.get_params(), odm.get_params(), tree.get_params()
    assert set(exact) - set(own) == {"solver"}
    known = {**scalable, **exact}
    assert {key: own[key] for key in own if key in known} == {key: known[key] for key in own if key in known}
    described = {name for name in own if f"\n    {name} : " in type(machine).__doc__}
    assert described | set(known) >= set(own)


@pytest.mark.parametrize("module", [sodm, sodm.data, sodm.model, sodm.partition], ids=lambda m: m.__name__)
def test_every_public_name_is_in_the_reference(module):
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md"))
    shown = {name.rpartition(".")[2] for name in re.findall(r"^::: (\S+)$", pages, re.MULTILINE)}
    assert set(module.__all__) - {"data", "model"} <= shown
