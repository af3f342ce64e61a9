"""The gallery: every script in examples/ is run when the site is built, and becomes a page."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

log = logging.getLogger("mkdocs.hooks.gallery")
ORDER = (
    *("margins", "theta_upsilon", "anytime", "sparse_text"),
    *("imbalanced", "pipeline", "model_files", "theorem_bounds"),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of each example, its figures, and the page that lists them."""
    folder = Path(config.config_file_path).parent / "examples"
    found = {script.stem for script in folder.glob("*.py")}
    if found != set(ORDER):
        raise PluginError(f"docs/hooks/gallery.py lists other examples than are there: {found ^ set(ORDER)}.")
    cards = []
    for name in ORDER:
        record, figures = _run(folder / f"{name}.py")
        for figure, content in figures.items():
            files.append(File.generated(config, f"gallery/{figure}", content=content))
        files.append(File.generated(config, f"gallery/{name}.md", content=_page(name, record)))
        cards.append(_card(name, record))
    files.append(File.generated(config, "gallery/index.md", content=_index(cards)))
    return files


def _run(script: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What the script printed and drew, from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        cells = Path(__file__).with_name("cells.py")
        done = subprocess.run(
            [sys.executable, str(cells), str(script), folder],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "MPLBACKEND": "Agg", "COLUMNS": "100"},
        )
        if done.returncode:
            raise PluginError(f"examples/{script.name} failed:\n{done.stderr}")
        if done.stderr:
            log.warning("examples/%s wrote to the standard error:\n%s", script.name, done.stderr)
        record = json.loads(done.stdout)
        record["seconds"] = time.perf_counter() - began
        log.info("examples/%s ran in %.1f s", script.name, record["seconds"])
        return record, {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.png"))}


def _page(name: str, record: dict[str, Any]) -> str:
    parts = [f"# {record['title'].rstrip('.')}", record["text"]]
    for cell in record["cells"]:
        parts.append(cell["text"])
        if cell["code"]:
            parts.append(_fence(cell["code"], "python"))
        if cell["output"].strip():
            parts.append(_fence(cell["output"].rstrip(), "text", "output"))
        parts += [f"![{record['title']}]({figure})" for figure in cell["figures"]]
    parts.append(f"*`examples/{name}.py`, run in {record['seconds']:.1f} s when this page was made.*")
    return "\n\n".join(part for part in parts if part) + "\n"


def _fence(text: str, language: str, *classes: str) -> str:
    head = " ".join([f".{language}", *(f".{c}" for c in classes)])
    return f"```{{ {head} }}\n{text}\n```"


def _card(name: str, record: dict[str, Any]) -> str:
    figures = [figure for cell in record["cells"] for figure in cell["figures"]]
    picture = f"[![]({figures[0]})]({name}.md)\n\n    " if figures else ""
    summary = record["text"].split("\n\n")[0].replace("\n", " ")
    return f"-   {picture}**[{record['title'].rstrip('.')}]({name}.md)**\n\n    {summary}"


def _index(cards: list[str]) -> str:
    intro = "All of these were run when this site was built: what they print and draw is what they gave."
    parts = ["# Gallery", intro, '<div class="grid cards gallery" markdown>', *cards, "</div>"]
    return "\n\n".join(parts) + "\n"
