"""Runs a script cell by cell and keeps what each cell printed and drew.

A cell begins at a line ``# %%``. The comment lines that follow are its text, in Markdown; the rest is its
code. The docstring of the script is the title and the introduction.

python docs/hooks/cells.py SCRIPT FOLDER     figures go to FOLDER, the record is printed as JSON
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

MARK = "# %%"


@dataclass
class Cell:
    """Text, code, and what the code gave."""

    text: str
    code: str
    first_line: int
    output: str = ""
    figures: list[str] = field(default_factory=list)


@dataclass
class Example:
    """A script, as a page shows it."""

    title: str
    text: str
    cells: list[Cell]


def parse(source: str) -> Example:
    """Take a script apart.

    Examples
    --------
    >>> example = parse('\"\"\"Sums.\\n\\nAnd more.\"\"\"\\n\\nx = 1\\n# %%\\n# Now\\n# add.\\nx + x\\n')
    >>> example.title, example.text, [(cell.text, cell.code) for cell in example.cells]
    ('Sums.', 'And more.', [('', 'x = 1'), ('Now\\nadd.', 'x + x')])
    """
    module = ast.parse(source)
    docstring = ast.get_docstring(module)
    if docstring is None:
        raise ValueError("an example begins with a docstring: its title, and what it shows.")
    title, _, text = docstring.partition("\n")
    lines = source.splitlines()
    begin = module.body[0].end_lineno or 0
    starts = [begin, *(n for n, line in enumerate(lines) if n >= begin and line.rstrip() == MARK), len(lines)]
    cells = [_cell(lines, first, last) for first, last in pairwise(starts)]
    return Example(title.strip(), text.strip(), [cell for cell in cells if cell.text or cell.code])


def _cell(lines: list[str], first: int, last: int) -> Cell:
    at = first
    text = []
    if first < last and lines[first].rstrip() == MARK:
        at += 1
        while at < last and lines[at].startswith("#"):
            text.append(lines[at].removeprefix("#").removeprefix(" "))
            at += 1
    while at < last and not lines[at].strip():
        at += 1
    return Cell("\n".join(text).strip(), "\n".join(lines[at:last]).rstrip(), at)


def run(path: Path, folder: Path) -> Example:
    """Run all cells in one namespace; figures that are open after a cell are saved and closed."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.show = lambda *_, **__: None
    example = parse(path.read_text())
    names: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    for cell in example.cells:
        printed = io.StringIO()
        # Empty lines in front make tracebacks name the lines of the script.
        code = compile("\n" * cell.first_line + cell.code, str(path), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        cell.output = printed.getvalue()
        for number in plt.get_fignums():
            count = sum(len(c.figures) for c in example.cells)
            name = f"{path.stem}_{count}.png"
            plt.figure(number).savefig(folder / name, dpi=130, bbox_inches="tight")
            cell.figures.append(name)
        plt.close("all")
    return example


if __name__ == "__main__":
    script, target = map(Path, sys.argv[1:])
    sys.argv = [str(script)]  # the script sees no arguments of ours
    json.dump(asdict(run(script, target)), sys.stdout)
