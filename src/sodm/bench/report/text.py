"""Tables and findings as Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sodm.bench.report.findings import Doubt, Finding
from sodm.bench.report.table import Table

_TEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "~": r"\textasciitilde{}"}
_TEX |= {"±": r"$\pm$", "–": "--", "→": r"$\to$", "²": "$^2$", "^": r"\^{}", "|": r"\textbar{}"}


def markdown(table: Table) -> str:
    """A table with its title and how to read it; columns without any value are left out."""
    table = table.filled()
    titles, rows = [column.title for column in table.columns], table.texts()
    lines = [f"## {table.title}", "", table.about, ""]
    written = [[cell.replace("|", "\\|") for cell in row] for row in (titles, *rows)]
    heading, *body = ("| " + " | ".join(row) + " |" for row in written)
    lines += [heading, "|" + "---|" * len(titles), *body]
    return "\n".join(lines) + "\n"


def latex(table: Table) -> str:
    """A table environment for booktabs."""
    table = table.filled()
    titles, rows = [column.title for column in table.columns], table.texts()
    body = [" & ".join(map(tex, row)) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering\small",
            rf"\caption{{{tex(table.title)}. {tex(table.about)}}}",
            rf"\label{{tab:{table.name}}}",
            rf"\begin{{tabular}}{{{'l' * len(titles)}}}",
            r"\toprule",
            " & ".join(map(tex, titles)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
            "",
        ]
    )


def tex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_TEX.get(letter, letter) for letter in text)


def summary_markdown(found: Sequence[Finding]) -> str:
    """One line for each sentence; the lists below say where it does not hold."""
    rows = [f"| {one.sentence} | **{one.verdict}**, {one.count} |" for one in found if one.cases]
    return "\n".join(["## In short", "", "| | here |", "|---|---|", *rows, ""])


def findings_markdown(found: Sequence[Finding], claimed: Sequence[Finding], doubted: Sequence[Doubt]) -> str:
    """What was to be shown and where it is not so; what the paper says; its numbers in doubt."""
    lines = ["## What it must show", "", *_list(found)]
    if any(claim.cases for claim in claimed):
        lines += ["", "## What the paper says of its figures, here", "", *_list(claimed)]
    if doubted:
        lines += ["", "## Numbers of the paper that could not be matched, or look unlikely", ""]
        lines += ["| table | data set | system | printed | why |", "|---|---|---|---|---|"]
        lines += [f"| {d.table} | {d.dataset} | {d.system} | {d.printed:.3f} | {d.reason} |" for d in doubted]
    return "\n".join(lines) + "\n"


def _list(found: Sequence[Finding]) -> Iterator[str]:
    for finding in found:
        yield f"- **{finding.verdict}** ({finding.count}): {finding.sentence}"
        yield from (f"    - not so: {case}" for case, holds in finding.cases if not holds)
