"""Pages of the site that live in the root of the repository, where people look for them first."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add them, with their links made to fit."""
    root = Path(config.config_file_path).parent
    for source, target in PAGES.items():
        text = (root / source).read_text().replace("](docs/", "](")
        for other, page in PAGES.items():
            text = text.replace(f"]({other})", f"]({page})")
        files.append(File.generated(config, target, content=text))
    return files
