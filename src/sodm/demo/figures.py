"""The page's figures, but for colours of text and lines: the page knows whether the screen is dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sodm.demo.contest import BOOSTING, ONEDAL, Outcome
from sodm.demo.strata import Strata

# Okabe and Ito's colours, told apart by nearly everyone, on white and on black.
COLOURS = {
    "ODMClassifier": "#2f81c7",
    "SODMClassifier": "#d55e00",
    "CascadeClassifier": "#009e73",
    "DiPClassifier": "#cc79a7",
    "DCClassifier": "#e69f00",
    "SVC": "#7f7f86",
    ONEDAL: "#56b4e9",
    BOOSTING: "#a3772f",
}
STRATA_COLOURS = (
    *("#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948"),
    *("#b07aa1", "#ff9da7", "#9c755f", "#8a8f98", "#3b9dd6", "#b3c32e"),
)
BINS = 40
OUTLINED = "outlined"  # the page outlines such markers in its colour of text


def accuracy_by_time(outcomes: Sequence[Outcome]) -> Any:
    """Test accuracy against seconds: a line through the levels of a tree, a point for the others."""
    from plotly import graph_objects as go

    figure = go.Figure()
    for outcome in outcomes:
        levels = outcome.levels
        texts = [f"{level.parts} part{'s' * (level.parts > 1)}" for level in levels]
        figure.add_scatter(
            name=outcome.name,
            x=[level.seconds for level in levels[:-1]] + [outcome.seconds],
            y=[level.accuracy for level in levels[:-1]] + [outcome.accuracy],
            text=texts or ["all rows at once"],
            mode="lines+markers",
            line={"color": COLOURS[outcome.name], "width": 2},
            marker={
                "opacity": 1,
                "line": {"width": 0},
                "size": [7] * (len(levels) - 1) + [13],
                "symbol": ["circle"] * (len(levels) - 1) + ["circle" if levels else "diamond"],
            },
            hovertemplate="%{y:.2%} after %{x:.2f} s, %{text}",
        )
    figure.update_xaxes(type="log", title="seconds since the fit began", dtick="D2", tickformat="~g")
    figure.update_yaxes(title="accuracy on the test rows", tickformat=".1%")
    return figure


def margins(outcomes: Sequence[Outcome]) -> Any:
    """Densities of the margins of the test rows by their mean: machines differ in the scale of f."""
    from plotly import graph_objects as go

    figure = go.Figure()
    for outcome in outcomes:
        if outcome.margins is None:
            continue
        scaled = outcome.margins / outcome.margin_mean
        density, edges = np.histogram(scaled, BINS, density=True)
        figure.add_scatter(
            name=f"{outcome.name} (spread {scaled.std():.2f})",
            x=((edges[1:] + edges[:-1]) / 2).round(4).tolist(),
            y=density.round(5).tolist(),
            mode="lines",
            line={"color": COLOURS[outcome.name], "width": 2},
            hovertemplate="%{y:.2f} at %{x:.2f}",
        )
    figure.add_vline(x=0, line_width=1, line_dash="dot", line_color="#7f7f86")
    figure.update_xaxes(title="margin / mean margin")
    figure.update_yaxes(title="density", rangemode="tozero")
    return figure


def strata(drawn: Strata, shown: int = 0) -> Any:
    """Rows by stratum; those of one partition stand out."""
    from plotly import graph_objects as go

    figure = go.Figure()
    colours = np.array(STRATA_COLOURS)[drawn.stratum % len(STRATA_COLOURS)]
    inside = drawn.partition == shown
    for name, chosen, marker in (
        (f"the other {drawn.n_partitions - 1} partitions", ~inside, {"size": 4, "opacity": 0.3}),
        (f"partition {shown + 1} of {drawn.n_partitions}", inside, {"size": 8, "opacity": 1.0}),
    ):
        figure.add_scatter(
            name=f"{name} ({int(chosen.sum()):,} rows)",
            x=drawn.X[chosen, 0].round(4).tolist(),
            y=drawn.X[chosen, 1].round(4).tolist(),
            text=[f"stratum {k + 1}" for k in drawn.stratum[chosen]],
            mode="markers",
            marker={"color": colours[chosen].tolist(), "line": {"width": 0}, **marker},
            hovertemplate="%{text}<extra></extra>",
        )
    figure.add_scatter(
        name="landmarks",
        meta=OUTLINED,
        x=drawn.X[drawn.landmarks, 0].round(4).tolist(),
        y=drawn.X[drawn.landmarks, 1].round(4).tolist(),
        text=[f"landmark of stratum {k + 1}" for k in range(len(drawn.landmarks))],
        mode="markers",
        marker={
            "symbol": "star",
            "size": 19,
            "color": [STRATA_COLOURS[k % len(STRATA_COLOURS)] for k in range(len(drawn.landmarks))],
            "line": {"width": 1.5},
        },
        hovertemplate="%{text}<extra></extra>",
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    return figure
