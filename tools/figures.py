"""Puts the figures of docs/figures.toml into README and docs, and draws docs/speed.svg of them.

    python tools/figures.py            # after a change of docs/figures.toml
    python tools/figures.py --check    # says which files are behind it, and changes nothing

A figure stands between <!-- figure: SECTION.KEY --> and <!-- end -->, a table between <!-- table: NAME -->
and <!-- end -->.
"""

from __future__ import annotations

import re
import sys
import tomllib
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILE, PICTURE = ROOT / "docs" / "figures.toml", ROOT / "docs" / "speed.svg"
PLACE = re.compile(r"(<!-- (figure|table): ([\w.-]+) -->)(.*?)(<!-- end -->)", re.DOTALL)
NONE = "–"


def figures() -> dict[str, Any]:
    """What the file says."""
    return tomllib.loads(FILE.read_text())


def pages() -> list[Path]:
    """The files with places for figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def filled(text: str, known: dict[str, Any]) -> str:
    """The text of a page with all its figures."""

    def content(found: re.Match[str]) -> str:
        kind, name = found[2], found[3]
        if kind == "table":
            return f"{found[1]}\n\n{table(name, known)}\n\n{found[5]}"
        section, _, key = name.partition(".")
        return f"{found[1]}{known[section][key] or NONE}{found[5]}"

    return PLACE.sub(content, text)


def table(name: str, known: dict[str, Any]) -> str:
    """A table in Markdown: a row for each set."""
    asked = known["tables"][name]
    lines = ["| " + " | ".join(head for head, _ in asked["columns"]) + " |"]
    lines.append("|" + "---|" * len(asked["columns"]))
    for section in asked["sets"]:
        cells = (cell.format(**known[section]).strip(", ") or NONE for _, cell in asked["columns"])
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------ the picture

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, GAP = 960, 330, 50, 24, 62, 46, 64


def picture(known: dict[str, Any]) -> str:
    """Test accuracy over the seconds of the fit, a panel for each set; up and to the left is better."""
    asked = known["picture"]
    wide = (WIDTH - LEFT - RIGHT - GAP * (len(asked["sets"]) - 1)) / len(asked["sets"])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13" fill="#333" role="img">',
        "<title>Test accuracy over the seconds of the fit</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    x = 10.0
    for label, _, colour, _ in asked["machines"]:
        parts.append(f'<circle cx="{x + 6:.0f}" cy="16" r="5" fill="{colour}"/>')
        parts.append(f'<text x="{x + 17:.0f}" y="20.5">{label}</text>')
        x += 40 + 7.4 * len(label)
    for number, section in enumerate(asked["sets"]):
        parts += _panel(known[section], asked["machines"], LEFT + number * (wide + GAP), wide)
    note = "seconds of the fit, two cores; test accuracy: up and to the left is better"
    parts.append(f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 6}" text-anchor="middle">{note}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(own: dict[str, str], machines: list[list[str]], left: float, wide: float) -> list[str]:
    points = [
        (float(own[key].split()[0]), 100 * float(own[accuracy]), colour)
        for _, key, colour, accuracy in machines
        if own[key]
    ]
    seconds, scores = [log10(s) for s, _, _ in points], [score for _, score, _ in points]
    first, last = floor(min(seconds)), max(ceil(max(seconds)), floor(min(seconds)) + 1)
    step = 0.2 if max(scores) - min(scores) < 1 else 0.5
    low, high = step * floor(min(scores) / step - 0.3), step * ceil(max(scores) / step + 0.3)
    bottom = HEIGHT - BOTTOM

    def across(value: float) -> float:
        return left + wide * (value - first) / (last - first)

    def down(value: float) -> float:
        return bottom - (bottom - TOP) * (value - low) / (high - low)

    title = f"{own['name'].split(',')[0]}: {own['rows']} rows"
    parts = [f'<text x="{left:.0f}" y="{TOP - 12}" font-weight="bold">{title}</text>']
    for k in range(round((high - low) / step) + 1):
        y, value = down(low + k * step), low + k * step
        parts.append(
            f'<line x1="{left:.1f}" x2="{left + wide:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
            f'<text x="{left - 5:.1f}" y="{y + 4.5:.1f}" text-anchor="end">{value:.1f}</text>'
        )
    for power in range(first, last + 1):
        x = across(power)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="#ddd"/>'
            f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{10.0**power:g} s</text>'
        )
    for s, score, colour in points:
        parts.append(f'<circle cx="{across(log10(s)):.1f}" cy="{down(score):.1f}" r="7" fill="{colour}"/>')
    return parts


def main() -> int:
    """Fill in, or say what is behind."""
    known, behind = figures(), []
    wanted = {page: filled(page.read_text(), known) for page in pages()} | {PICTURE: picture(known)}
    for path, text in wanted.items():
        if not path.exists() or path.read_text() != text:
            behind.append(path)
            if "--check" not in sys.argv[1:]:
                path.write_text(text)
    verb = "behind docs/figures.toml" if "--check" in sys.argv[1:] else "changed"
    print("\n".join(f"{verb}: {path.relative_to(ROOT)}" for path in behind) or "all as in docs/figures.toml")
    return int("--check" in sys.argv[1:] and bool(behind))


if __name__ == "__main__":
    raise SystemExit(main())
