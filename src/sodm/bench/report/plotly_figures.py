"""Figures drawn by plotly: one grid of panels each, systems in the same colour everywhere."""

from __future__ import annotations

import math
from typing import Any

from sodm.bench.report.figures import Figure

OURS = "#d1495b"
COLOURS = ("#30638e", "#edae49", "#00798c", "#7d5ba6", "#5f6b6d", "#8fb339", "#b56576")
COLUMNS = 3


def colours(figure: Figure) -> dict[str, str]:
    """A colour for each name, SODM's always the same."""
    names = [curve.name for panel in figure.panels for curve in panel.curves]
    others = [name for name in dict.fromkeys(names) if not name.startswith("SODM")]
    palette = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(others)}
    return dict.fromkeys(names, OURS) | palette


def draw(figure: Figure) -> Any:
    """A plotly figure."""
    from plotly.graph_objects import Scatter
    from plotly.subplots import make_subplots

    columns = min(COLUMNS, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    grid = make_subplots(
        rows,
        columns,
        subplot_titles=[wrap(panel.title) for panel in figure.panels],
        horizontal_spacing=0.07,
        vertical_spacing=0.32 / rows,
    )
    palette, shown = colours(figure), set()
    for k, panel in enumerate(figure.panels):
        for curve in panel.curves:
            colour, said = palette[curve.name], curve.name + ", simulated" * curve.dashed
            grid.add_trace(
                Scatter(
                    x=curve.x,
                    y=curve.y,
                    name=curve.name,
                    legendgroup=curve.name,
                    showlegend=curve.name not in shown,
                    mode="markers" if curve.alone else "lines+markers",
                    line={"color": colour, "dash": "dash" if curve.dashed else "solid", "width": 2},
                    marker={"color": colour, "size": 9 if curve.alone else 6},
                    hovertemplate=f"{said}<br>%{{x:.4g}} {figure.x}<br>%{{y:.4f}}<extra></extra>",
                ),
                row=k // columns + 1,
                col=k % columns + 1,
            )
            shown.add(curve.name)
        place = {"row": k // columns + 1, "col": k % columns + 1}
        if panel.flat:
            grid.update_yaxes(range=panel.flat, **place)
        marks = figure.ticks_of(panel)
        grid.update_xaxes(
            tickvals=marks,
            ticktext=[f"{mark:g}" for mark in marks],
            range=[math.log10(end) for end in panel.span],
            **place,
        )
    grid.update_xaxes(title_text=figure.x, type="log", title_standoff=4)
    grid.update_yaxes(title_text=figure.y, title_standoff=4)
    grid.update_layout(
        template="plotly_white",
        height=120 + 300 * rows,
        margin={"l": 60, "r": 20, "t": 60, "b": 50},
        legend={"orientation": "h", "y": -0.25 / rows, "yanchor": "top"},
        font={"family": "system-ui, sans-serif", "size": 12},
    )
    grid.update_annotations(font_size=12)
    return grid


def wrap(title: str, end: str = "<br>") -> str:
    """The name on one line, what must be said of it on the next."""
    return title.replace(" (", f"{end}(", 1)
