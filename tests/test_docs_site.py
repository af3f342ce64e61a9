"""The parts that make the site: scripts run by cells, and the watch over what pages fetch."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from browser import Browser

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
def offline(monkeypatch):
    monkeypatch.syspath_prepend(str(HOOKS))
    import offline

    return offline


@pytest.fixture
def fetches(offline):
    return offline.fetches


def test_pages_opened_as_files_have_a_search(offline, tmp_path):
    """The theme asks for the index as a script, and for a worker, which a browser gives to no such page."""
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search_index.json").write_text('{"docs": ["Größe"]}', encoding="utf-8")
    offline.write_index(tmp_path)
    (tmp_path / "search.js").write_text((HOOKS.parent / "search.js").read_text())
    (tmp_path / "worker.js").write_text("addEventListener('message', e => postMessage(e.data + '!'))")
    (tmp_path / "page.html").write_text(
        "<meta charset=utf-8><body><script src=search.js></script>"
        "<script src=search/search_index.js></script>"
        "<script>const worker = new Worker('worker.js')\n"
        "worker.addEventListener('message', e => { document.title = e.data })\n"
        "worker.postMessage(__index.docs[0])</script>"
    )
    with Browser() as page:
        page.open(tmp_path / "page.html")
        page.wait_until("document.title == 'Größe!'")
        assert page.complaints() == []


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


MACHINES = [getattr(sodm, name) for name in sodm.__all__ if name.endswith("Classifier")]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
def test_every_machine_documents_each_of_its_parameters(machine):
    """In the docstring, once, with the default that it has; and in the signature, by name."""
    signature = inspect.signature(machine).parameters
    assert all(p.kind is p.KEYWORD_ONLY for p in signature.values())
    assert set(signature) == set(machine().get_params())
    text = inspect.getdoc(machine)
    section = re.search(r"\nParameters\n-+\n(.*?)\n\n\w+\n-+\n", text, re.DOTALL)[1]
    entries = re.findall(r"^(\w+) : (.+), default=(.+)$", section, re.MULTILINE)
    assert [name for name, _, _ in entries] == list(signature)
    for name, _, default in entries:
        assert eval(default) == signature[name].default, name
    about = re.split(r"^\w+ : .+$", section, flags=re.MULTILINE)[1:]
    assert all(text.strip() for text in about)


def test_shared_parameters_are_those_of_the_constructors():
    """What type checkers are told of `**shared` is what the constructors take."""
    from sodm.estimators import shared_parameters as typed
    from sodm.estimators.base import KernelMachineClassifier
    from sodm.estimators.kernel_machine import KernelMachine
    from sodm.estimators.regression import KernelMachineRegressor
    from sodm.estimators.trees import TreeClassifier

    def own(cls):
        parameters = inspect.signature(cls.__init__).parameters.values()
        return [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]

    machine, classifier = own(KernelMachine), own(KernelMachineClassifier)
    apart = ("lam", "fit_intercept")  # of classifiers they may be "auto", of regressors not
    assert list(typed.MachineParameters.__annotations__) == [name for name in machine if name not in apart]
    assert set(typed.KernelMachineParameters.__annotations__) == {*machine, *classifier}
    assert set(typed.TreeParameters.__annotations__) == {*machine, *classifier, *own(TreeClassifier)}
    assert set(typed.RegressionParameters.__annotations__) == {*machine, *own(KernelMachineRegressor)}
    with pytest.raises(TypeError, match="unexpected keyword argument 'lambda_'"):
        sodm.SODMClassifier(lambda_=1.0)


@pytest.mark.parametrize(
    "machine", ["ODMClassifier", "LinearODMClassifier", "ODMRegressor", "LinearODMRegressor", "explain"]
)
def test_formulas_of_docstrings_are_set_as_formulas(machine):
    pytest.importorskip("latex2mathml")
    sys.path.insert(0, str(HOOKS))
    try:
        from docstring_formulas import on_page_content
    finally:
        sys.path.remove(str(HOOKS))
    (plain,) = re.findall(
        r"\n\n {4}(\S.*)\n\n", inspect.getdoc(getattr(sodm, machine)).split("\nParameters")[0]
    )
    block = '<div class="highlight"><pre><span></span><code>{}\n</code></pre></div>'
    api, other = (SimpleNamespace(file=SimpleNamespace(src_uri=uri)) for uri in ("api/x.md", "x.md"))
    made = on_page_content(block.format(plain), api)
    assert made.startswith('<div class="formula"><math') and "<pre>" not in made
    assert not re.search(r"\b(lam|theta|upsilon|epsilon|sum_i)\b", made)
    for kept, page in ((block.format(plain), other), (block.format("&gt;&gt;&gt; sum_i(x)"), api)):
        assert on_page_content(kept, page) == kept


@pytest.mark.parametrize("module", [sodm, sodm.data, sodm.model, sodm.partition], ids=lambda m: m.__name__)
def test_every_public_name_is_in_the_reference(module):
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md"))
    shown = {name.rpartition(".")[2] for name in re.findall(r"^::: (\S+)$", pages, re.MULTILINE)}
    assert set(module.__all__) - {"data", "model"} <= shown
