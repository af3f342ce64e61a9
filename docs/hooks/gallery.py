"""The gallery: every script in examples/ is run when the site is built, and becomes a page.

What a script gave is kept in build/gallery, and taken from there while neither it nor the package has
changed: `mkdocs serve` would be slow otherwise.
"""

from __future__ import annotations

import hashlib
import json
import logging
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

log = logging.getLogger("mkdocs.hooks.gallery")
ORDER = (
    *("margins", "theta_upsilon", "anytime", "sparse_text"),
    *("imbalanced", "pipeline", "expectiles", "explain", "model_files", "theorem_bounds"),
)
CELLS = Path(__file__).with_name("cells.py")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of each example, its figures, and the page that lists them."""
    root = Path(config.config_file_path).parent
    found = {script.stem for script in (root / "examples").glob("*.py")}
    if found != set(ORDER):
        raise PluginError(f"docs/hooks/gallery.py lists other examples than are there: {found ^ set(ORDER)}.")
    sources = [CELLS, *_sources(root)]
    cards = []
    for name in ORDER:
        script = root / "examples" / f"{name}.py"
        folder = root / "build" / "gallery" / _digest([script, *sources])
        if not folder.exists():
            _run(script, folder)
        record = json.loads((folder / "record.json").read_text())
        for figure in sorted(folder.glob("*.png")):
            files.append(File.generated(config, f"gallery/{figure.name}", content=figure.read_bytes()))
        files.append(File.generated(config, f"gallery/{name}.md", content=_page(name, record)))
        cards.append(_card(name, record))
    files.append(File.generated(config, "gallery/index.md", content=_index(cards)))
    return files


def _sources(root: Path) -> list[Path]:
    """The files that the package is made of."""
    found = [path for part in ("src", "core", "bindings") for path in (root / part).rglob("*")]
    return [path for path in found if path.is_file() and path.suffix not in (".pyc", ".so")]


def _digest(paths: list[Path]) -> str:
    """The same for the same contents."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _run(script: Path, folder: Path) -> None:
    """Keep what the script printed and drew, in a process and a folder of its own."""
    place = folder.with_suffix(".part")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, str(CELLS), str(script), str(place)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=place)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or done.stderr:  # a warning on the page would be an error too
        raise PluginError(f"examples/{script.name} failed, or warned:\n{done.stderr}")
    record = json.loads(done.stdout)
    record["seconds"] = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    log.info("examples/%s ran, %.1f s of processor time", script.name, record["seconds"])
    (place / "record.json").write_text(json.dumps(record))
    place.rename(folder)


def _page(name: str, record: dict[str, Any]) -> str:
    parts = [f"# {record['title'].rstrip('.')}", record["text"]]
    for cell in record["cells"]:
        parts.append(cell["text"])
        if cell["code"]:
            parts.append(_fence(cell["code"], "python"))
        if cell["output"].strip():
            parts.append(_fence(cell["output"].rstrip(), "text", "output"))
        parts += [f"![{record['title']}]({figure})" for figure in cell["figures"]]
    parts.append(
        f"*`examples/{name}.py`, {record['seconds']:.1f} s of processor time when this page was made.*"
    )
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
