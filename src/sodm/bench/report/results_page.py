"""The results as a page of the documentation: Markdown with the figures beside it.

python -m sodm.bench.report.results_page benchmarks/results/paper.jsonl docs/results.md
"""

from __future__ import annotations

import sys
from pathlib import Path

from sodm.bench.printed import printed
from sodm.bench.report import static_figures, text
from sodm.bench.report.figures import all_figures
from sodm.bench.report.findings import claims, doubts, findings
from sodm.bench.report.page import hardware
from sodm.bench.report.summary import Runs
from sodm.bench.report.tables import all_tables
from sodm.bench.results import Results
from sodm.files import atomic_write

LEFT_OUT = ("parameters",)  # hundreds of lines; the results file has them
FIGURES = Path("figures") / "paper"


def write(results: Path, page: Path) -> None:
    """Write the page, and its figures into a folder beside it."""
    if not results.exists():
        raise FileNotFoundError(f"{results} is not there: copy results.jsonl of a run of `sodm bench paper`.")
    runs = Runs(Results(results))
    (page.parent / FIGURES).mkdir(parents=True, exist_ok=True)
    for figure in all_figures(runs):
        static_figures.write(figure, page.parent / FIGURES, ("svg",))
    with atomic_write(page) as file:
        file.write(markdown(runs, results.name).encode())


def markdown(runs: Runs, name: str) -> str:
    """The page."""
    sizes = " and ".join(sorted({record["size"] for record in runs.records}))
    lines = [
        "# The paper, reproduced: results",
        "",
        f"Generated from `{name}`, a {sizes} run of `sodm bench paper`; [how it is done](paper.md).",
        "Every number that is not the paper's was measured in a run of that file.",
        "",
        *(f"- Ours: {line}." for line in hardware(runs)),
        f"- Paper: {printed()['hardware']}.",
        "",
        text.summary_markdown([*findings(runs), *claims(runs)]),
        text.findings_markdown(findings(runs), claims(runs), doubts(runs)),
        *(text.markdown(table) for table in all_tables(runs) if table.name not in LEFT_OUT),
    ]
    for figure in all_figures(runs):
        target = (FIGURES / f"{figure.name}.svg").as_posix()
        lines += [f"## {figure.title}", "", figure.about, "", f"![{figure.title}]({target})", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
