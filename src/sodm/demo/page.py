"""The page `demo.html`: one file with everything in it, every figure and sentence from this run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from sodm.demo import figures
from sodm.demo.contest import Outcome
from sodm.demo.strata import Strata
from sodm.demo.table import COLUMNS, best_cells, cells


def require_plotly() -> None:
    """Fail before any work is done rather than after it."""
    try:
        import plotly  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "the demo's page is drawn with plotly, which is not installed: run `pip install 'sodm[demo]'`."
        ) from error


def make_page(
    outcomes: Sequence[Outcome],
    drawn: Strata,
    *,
    computer: str,
    introduction: str,
    reading: str,
    facts: Mapping[str, str],
) -> str:
    """The page as HTML.

    Parameters
    ----------
    outcomes : sequence of Outcome
    drawn : Strata
    computer : str
        What the times were measured on.
    introduction, reading : str
        What stands above and below the table.
    facts : mapping
        How it was made, by heading.
    """
    from plotly.offline import get_plotlyjs

    plots = {
        "accuracy": figures.accuracy_by_time(outcomes),
        "margins": figures.margins(outcomes),
        "strata": figures.strata(drawn),
    }
    best = best_cells(outcomes)
    content = {
        "introduction": escape(introduction),
        "reading": escape(reading),
        "computer": escape(computer),
        "columns": "".join(f"<th>{escape(name)}</th>" for name in COLUMNS),
        "rows": "\n".join(_row(outcome, k, best) for k, outcome in enumerate(outcomes)),
        "strata": escape(_about(drawn)),
        "facts": "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items()),
        "figures": _script({name: _plain(figure) for name, figure in plots.items()}),
        "plotly": get_plotlyjs(),
    }
    template = files("sodm.demo").joinpath("page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: content[found[1]], template)


def _row(outcome: Outcome, k: int, best: set[tuple[int, int]]) -> str:
    name, *numbers = cells(outcome)
    key = f'<span class="key" style="background:{figures.COLOURS[name]}"></span>'
    rest = "".join(
        f'<td class="best">{escape(text)}</td>' if (k, column) in best else f"<td>{escape(text)}</td>"
        for column, text in enumerate(numbers, start=1)
    )
    return f"<tr><td>{key}{escape(name)}</td>{rest}</tr>"


def _about(drawn: Strata) -> str:
    n, apart = drawn.n_partitions, 100 * drawn.difference()
    return (
        f"{len(drawn.X):,} rows of two spirals. {len(drawn.landmarks)} landmarks (stars) are chosen so that "
        "they span the rows best in feature space; a row belongs to the stratum of its nearest landmark "
        f"(colour). Each stratum is dealt to all {n} partitions, of which one is shown large. So every "
        "partition looks like the whole: no stratum's or class's share of a partition differs from its share "
        f"of all rows by more than {apart:.2f} percentage points. This is why an average of machines trained "
        "on the parts comes near the machine of all rows."
    )


def _plain(figure: Any) -> dict[str, Any]:
    """Data and layout, without the template that the page has its own for."""
    document = json.loads(figure.to_json())
    document["layout"].pop("template", None)
    return {"data": document["data"], "layout": document["layout"]}


def _script(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=True).replace("</", "<\\/")
