"""Formulas of docstrings, which are plain text to be read in a terminal, set as formulas in the API pages."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

BLOCK = re.compile(r'<div class="(?:language-\w+ )?highlight"><pre>(.*?)</pre></div>', re.S)
GREEK = "beta|epsilon|theta|upsilon|zeta"


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Replace the blocks of a page that are one line of mathematics."""
    return BLOCK.sub(_set, html) if page.file.src_uri.startswith("api/") else html


def is_formula(text: str) -> bool:
    """Whether a block is one line with a sum, a norm or an expectation, and no code."""
    return "\n" not in text and ">>>" not in text and bool(re.search(r"sum_i|\|\w+\|\^2|\bE \w", text))


def latex(plain: str) -> str:
    r"""The formula as LaTeX.

    Examples
    --------
    >>> print(latex("1/2 |w|^2 + lam / (2 M (1-theta)^2) * sum_i s_i (1-theta-m_i)_+^2"))
    \frac{1}{2} \|w\|^2 + \frac{\lambda }{2 M (1-\theta )^2} \sum_i s_i (1-\theta -m_i)_+^2
    """
    text = _fractions(plain.strip().rstrip(",."))
    text = re.sub(r"(\w+(?: \w+)?) ?/ ?(\d+)", r"\\frac{\1}{\2}", text)
    text = re.sub(r"\|(\w+)\|", r"\\|\1\\|", text)
    text = re.sub(rf"(?<![\\a-z])({GREEK})(?![a-z])", r"\\\1 ", text)
    text = re.sub(r"\blam\b", r"\\lambda ", text)
    text = text.replace("'", r"^{\top} ").replace("* ", "").replace("sum_i", r"\sum_i")
    return re.sub(r"\bE (?=\w)", r"\\mathbb{E}\\, ", text)


def _fractions(text: str) -> str:
    """`a / (b)` as a fraction, parentheses within b included."""
    while found := re.search(r"(\w+) / \(", text):
        depth, end = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        inner = text[found.end() : end - 1]
        text = f"{text[: found.start()]}\\frac{{{found[1]}}}{{{inner}}}{text[end:]}"
    return text


def _set(found: re.Match[str]) -> str:
    text = unescape(re.sub(r"<[^>]+>", "", found[1])).strip("\n")
    if not is_formula(text):
        return found[0]
    return f'<div class="formula">{convert(latex(text), display="block")}</div>'
