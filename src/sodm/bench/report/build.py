"""Everything that is made of a file of results."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sodm.bench.report import raw, static_figures, text
from sodm.bench.report.figures import all_figures
from sodm.bench.report.findings import claims, doubts, findings
from sodm.bench.report.page import page
from sodm.bench.report.summary import Runs
from sodm.bench.report.tables import all_tables
from sodm.bench.results import Results
from sodm.files import atomic_write

PACKAGES = ("plotly", "matplotlib", "pyarrow")


def check_packages() -> None:
    """Say what is missing before anything is run."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"the report needs {', '.join(missing)}: run `pip install 'sodm[bench]'`.")


def build(results: Results, folder: Path) -> Path:
    """Write the report and all its parts; the path of the page.

    report.html; tables.md and tables.tex; figures/*.png and *.svg; results.csv and results.parquet.
    """
    check_packages()
    if not len(results):
        raise ValueError(f"{results.path} has no results: run `sodm bench paper` first.")
    runs = Runs(results)
    tables, figures = all_tables(runs), all_figures(runs)
    found, claimed, doubted = findings(runs), claims(runs), doubts(runs)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for figure in figures:
        static_figures.write(figure, folder / "figures")
    _write(
        folder / "tables.md",
        text.findings_markdown(found, claimed, doubted) + "\n" + "\n".join(map(text.markdown, tables)),
    )
    _write(folder / "tables.tex", "\n".join(map(text.latex, tables)))
    raw.write(runs.records, folder)
    _write(folder / "report.html", page(runs, tables, figures, found, claimed, doubted))
    return folder / "report.html"


def _write(path: Path, content: str) -> None:
    with atomic_write(path) as file:
        file.write(content.encode())
