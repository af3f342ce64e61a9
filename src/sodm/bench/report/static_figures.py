"""Figures drawn by matplotlib, for papers and pages without JavaScript: PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sodm.bench.report.figures import Figure
from sodm.bench.report.plotly_figures import COLUMNS, colours, wrap


def write(figure: Figure, folder: Path, formats: tuple[str, ...] = ("png", "svg")) -> list[Path]:
    """Write the figure as files named after it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    matplotlib.rcParams["svg.hashsalt"] = figure.name  # the same file for the same results
    columns = min(COLUMNS, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    picture, axes = pyplot.subplots(rows, columns, figsize=(4.2 * columns, 3.2 * rows + 0.4), squeeze=False)
    palette, handles = colours(figure), dict[str, Any]()
    for k, axis in enumerate(axes.flat):
        if k >= len(figure.panels):
            axis.set_visible(False)
            continue
        panel = figure.panels[k]
        for curve in panel.curves:
            (line,) = axis.plot(
                curve.x,
                curve.y,
                color=palette[curve.name],
                linestyle="none" if curve.alone else "--" if curve.dashed else "-",
                marker="o",
                markersize=6 if curve.alone else 3,
            )
            if curve.name not in handles or not (curve.alone or curve.dashed):
                handles[curve.name] = line
        axis.set_title(wrap(panel.title, "\n"), fontsize=9)
        axis.set_xlabel(figure.x)
        axis.set_ylabel(figure.y)
        axis.set_xscale("log")
        axis.set_xlim(panel.span)
        axis.set_xticks(figure.ticks_of(panel))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        if panel.flat:
            axis.set_ylim(panel.flat)
        axis.grid(alpha=0.3)
    picture.legend(
        handles.values(), handles.keys(), loc="lower center", ncols=min(6, len(handles)), fontsize=8
    )
    picture.tight_layout(rect=(0, 0.02 + 0.08 / rows, 1, 1))
    paths = [folder / f"{figure.name}.{ending}" for ending in formats]
    for path in paths:
        picture.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(picture)
    return paths
