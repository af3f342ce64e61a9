"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from sodm.bench.printed import printed
from sodm.bench.report import plotly_figures
from sodm.bench.report.figures import Figure
from sodm.bench.report.findings import Doubt, Finding
from sodm.bench.report.summary import Runs
from sodm.bench.report.table import Cell, Column, Table
from sodm.bench.results import DONE, FAILED

SHORT = 22  # letters


def page(
    runs: Runs,
    tables: Sequence[Table],
    figures: Sequence[Figure],
    findings: Sequence[Finding],
    claims: Sequence[Finding],
    doubts: Sequence[Doubt],
) -> str:
    """The whole page."""
    sections = [("findings", "What it must show", _findings(findings))]
    if any(claim.cases for claim in claims):
        sections.append(("claims", "What the paper says of its figures, here", _findings(claims)))
    if doubts:
        sections.append(("doubts", "Numbers of the paper in doubt", _doubts(doubts)))
    sections += [(table.name, table.title, _table(table)) for table in tables]
    drawn = [(figure.name, figure.title, _figure(figure, first=k == 0)) for k, figure in enumerate(figures)]
    sections[len(sections) - len(tables) :] = _interleaved(sections[len(sections) - len(tables) :], drawn)
    links = "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in sections)
    body = "".join(
        f'<section id="{name}"><h2>{escape(title)}</h2>{content}</section>'
        for name, title, content in sections
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>The paper, reproduced</title><style>{_resource('page.css')}</style></head><body><main>"
        "<h1>The paper, reproduced</h1>"
        f"<p>{escape(printed()['source'])}. Every number below that is not the paper's was measured in a run "
        f"of the results file.</p>{_facts(runs)}<nav>{links}</nav>{body}</main>"
        f"<script>{_resource('page.js')}</script></body></html>\n"
    )


def _interleaved(
    tables: list[tuple[str, str, str]], figures: list[tuple[str, str, str]]
) -> list[tuple[str, str, str]]:
    """Figures after the tables of the same runs; those without one at the end."""
    after = {"table-2": "figure1", "table-3": "figure2", "speedup": "figure3"}
    by_name = {figure[0]: figure for figure in figures}
    ordered = []
    for table in tables:
        ordered.append(table)
        if figure := by_name.pop(after.get(table[0], ""), None):
            ordered.append(figure)
    return ordered + list(by_name.values())


def hardware(runs: Runs) -> list[str]:
    """The machines and versions of the runs, one line for each that differ, with all its commits."""
    commits: dict[str, dict[str, None]] = {}
    for record in runs.records:
        m, v = record["machine"], dict(record["versions"])
        commit = v.pop("commit", None)
        packages = ", ".join(f"{name} {version}" for name, version in v.items())
        line = f"{m['cpu']}, {m['cores']} cores, {m['memory_gb']} GB, {m['system']}; {packages}"
        commits.setdefault(line, {}).update({commit: None} if commit else {})
    return [
        line + f"; commit{'s' * (len(found) > 1)} {', '.join(found)}" * bool(found)
        for line, found in commits.items()
    ]


def _facts(runs: Runs) -> str:
    records = runs.records
    done = sum(record["status"] == DONE for record in records)
    failed = sum(record["status"] == FAILED for record in records)
    dates = sorted(record["began"][:10] for record in records) or ["–"]
    counts = f"{done} runs done, {failed} failed, {len(records) - done - failed} not finished in their time"
    lines = [f"Ours: {line}." for line in hardware(runs)] + [f"Paper: {printed()['hardware']}."]
    lines.append(f"{counts}; {' to '.join(dict.fromkeys((dates[0], dates[-1])))}.")
    text = "".join(f'<p class="facts">{escape(line)}</p>' for line in lines)
    if any(record["size"] == "quick" for record in records):
        text += (
            '<p class="warning">A quick run: few rows of each set and one seed. It shows that all works; '
            "its figures are not those of the paper's data sets.</p>"
        )
    busy = [record for record in records if record["load"] > record["machine"]["cores"] + 1]
    if len(busy) > len(records) / 10:
        text += (
            f'<p class="warning">During {len(busy)} of {len(records)} runs other work kept the machine busy '
            "(load above the number of cores): times are too long, and comparable only roughly.</p>"
        )
    return text


def _findings(findings: Sequence[Finding]) -> str:
    items = []
    for finding in findings:
        cases = "".join(
            f'<li class="{"met" if holds else "not-met"}">{escape(case)}: {"so" if holds else "not so"}</li>'
            for case, holds in sorted(finding.cases, key=lambda case: case[1])
        )
        word = finding.verdict
        items.append(
            f'<li><strong class="{word.replace(" ", "-")}">{word}</strong> ({finding.count}): '
            f"{escape(finding.sentence)}<details><summary>cases</summary><ul>{cases}</ul></details></li>"
        )
    return f"<ul>{''.join(items)}</ul>"


def _doubts(doubts: Sequence[Doubt]) -> str:
    columns = [Column("table"), Column("data set"), Column("system"), Column("printed", ".3f"), Column("why")]
    rows: list[list[Cell]] = [[d.table, d.dataset, d.system, d.printed, d.reason] for d in doubts]
    about = "Accuracies more than a point above anything measured here, or below guessing the larger class."
    return _table(Table("doubts", "", about, columns, rows))


def _table(table: Table) -> str:
    table = table.filled()
    kinds = [' class="number"' if numeric else "" for numeric in table.numeric()]
    heads = "".join(
        f'<th scope="col"{kind}><button type="button">{escape(column.title)}</button></th>'
        for kind, column in zip(kinds, table.columns, strict=True)
    )
    body = []
    for row, texts in zip(table.rows, table.texts(), strict=True):
        cells = "".join(
            f"<td{kind or _short(text)}{_value(value)}>{escape(text)}</td>"
            for kind, value, text in zip(kinds, row, texts, strict=True)
        )
        body.append(f"<tr>{cells}</tr>")
    return (
        f'<p class="about">{escape(table.about)}</p><div class="scroll" tabindex="0"><table class="sortable">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _short(text: str) -> str:
    """A few words, or counts with a stroke between them, stay on one line."""
    return ' class="short"' if len(text) <= SHORT else ""


def _value(value: Cell) -> str:
    """What rows are sorted by."""
    return f' data-value="{value}"' if isinstance(value, int | float) else ""


def _figure(figure: Figure, *, first: bool) -> str:
    """The first figure brings plotly's library along."""
    drawn: str = plotly_figures.draw(figure).to_html(
        full_html=False, include_plotlyjs=first, div_id=f"plot-{figure.name}", config={"displaylogo": False}
    )
    return f'<p class="about">{escape(figure.about)}</p><div class="scroll drawn" tabindex="0">{drawn}</div>'


def _resource(name: str) -> str:
    return resources.files("sodm.bench.report").joinpath(name).read_text()
