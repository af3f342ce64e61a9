"""Formulas in blocks fenced as ``math``: LaTeX, turned into MathML here, so that no script has to."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Tell Markdown about the fence."""
    fence = {"name": "math", "class": "formula", "format": mathml}
    config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
    return config


def mathml(source: str, language: str, css_class: str, options: dict[str, Any], md: Any, **_: Any) -> str:
    """One block, as Markdown's superfences ask for it."""
    return f'<div class="{css_class}">{convert(source, display="block")}</div>'
