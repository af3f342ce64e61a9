"""The figures as data: panels of curves. `plotly_figures` and `static_figures` draw the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sodm.bench.plan import RBF_SYSTEMS
from sodm.bench.printed import printed
from sodm.bench.report.summary import Runs, peer_name, system_name
from sodm.bench.results import Record
from sodm.bench.simulate import CORES, linear_seconds, tree_seconds

FLAT = 0.002
ROOM = 0.06  # beside the first and the last point, as a share of the axis
PEERS = ("SVC", "oneDAL")
OTHER_GRADIENT = {"SVRG": "ODM_svrg", "CSVRG": "ODM_csvrg"}


@dataclass(frozen=True)
class Curve:
    """Points of one system, in order; `alone` are points without a line, `dashed` are simulated."""

    name: str
    x: list[float]
    y: list[float]
    dashed: bool = False
    alone: bool = False


@dataclass(frozen=True)
class Panel:
    """One data set."""

    title: str
    curves: list[Curve]

    @property
    def tells(self) -> bool:
        """Whether there is anything to see: accuracies that differ."""
        return len({y for curve in self.curves for y in curve.y}) > 1

    @property
    def span(self) -> tuple[float, float]:
        """Where the logarithmic axis begins and ends."""
        values = np.log10([x for curve in self.curves for x in curve.x])
        room = ROOM * max(np.ptp(values), 0.5)
        return float(10 ** (values.min() - room)), float(10 ** (values.max() + room))

    @property
    def flat(self) -> tuple[float, float] | None:
        """Limits for a panel where all is the same: drawing programs choose odd ones."""
        values = [y for curve in self.curves for y in curve.y]
        low, high = min(values), max(values)
        return (low - FLAT, high + FLAT) if high - low < FLAT else None


@dataclass(frozen=True)
class Figure:
    """A figure of the paper."""

    name: str
    title: str
    about: str
    x: str
    y: str
    panels: list[Panel] = field(default_factory=list)
    ticks: tuple[int, ...] | None = None

    def ticks_of(self, panel: Panel) -> list[float]:
        """Where the axis of seconds, or cores, of a panel has numbers."""
        return ticks(*panel.span) if self.ticks is None else [float(n) for n in self.ticks]

    def keep(self, panels: list[Panel]) -> Figure:
        """With those of the panels that tell something, and a word on the others."""
        mute = ", ".join(panel.title.split(" (")[0] for panel in panels if not panel.tells)
        about = self.about + f" Left out, without two different accuracies: {mute}." * bool(mute)
        return replace(self, about=about, panels=[panel for panel in panels if panel.tells])


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two, as many as have room on a narrow logarithmic axis.

    Examples
    --------
    >>> ticks(0.04, 0.3), ticks(0.004, 30)
    ([0.05, 0.1, 0.2], [0.01, 0.1, 1.0, 10.0])
    """
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    steps = (1, 2, 5) if high / low < 200 else (1,)
    candidates = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
    return [tick for tick in candidates if low <= tick <= high]


def all_figures(runs: Runs) -> list[Figure]:
    """Those that the results have something for."""
    made = [
        by_level(runs, "rbf", "figure1", "Figure 1: accuracy against time, RBF kernel"),
        by_level(runs, "linear", "figure2", "Figure 2: accuracy against time, linear kernel"),
        cores(runs),
        gradient(runs),
    ]
    return [figure for figure in made if figure.panels]


def by_level(runs: Runs, experiment: str, name: str, title: str) -> Figure:
    """Figures 1 and 2: a point for each level, or each epoch of linear SODM; the first seed."""
    about = (
        "A point is a level of a tree, or an epoch; a single point is a machine without levels, also "
        "scikit-learn's SVC and that of scikit-learn-intelex (oneDAL). First seed."
    )
    panels = []
    for dataset in runs.datasets:
        curves = []
        for solver in RBF_SYSTEMS:
            found = runs.of(experiment=experiment, dataset=dataset, solver=solver, seed=0)
            if found:
                curves.append(_way(found.records[-1], system_name(solver)))
        for solver in PEERS:
            found = runs.of(experiment="peers", dataset=dataset, solver=solver, kernel=experiment, seed=0)
            if curves and found:
                curves.append(_way(found.records[-1], peer_name(solver, experiment)))
        if curves:
            panels.append(Panel(runs.label(dataset), curves))
    return Figure(name, title, about, "seconds", "test accuracy").keep(panels)


def _way(record: Record, name: str) -> Curve:
    """From the first record of the history to the end of the fit."""
    points = [
        (r.get("elapsed", r.get("seconds")), r["accuracy"])
        for r in record.get("history") or ()
        if "accuracy" in r
    ]
    if len(points) < 2:
        return Curve(name, [record["seconds"]], [record["accuracy"]], alone=True)
    x, y = zip(*points, strict=True)
    return Curve(name, [max(float(t), 1e-4) for t in x], list(y))


def gradient(runs: Runs) -> Figure:
    """Figure 4."""
    about = f"Each point is an epoch. Paper: {printed()['statements']['figure 4']['wording']}. First seed."
    panels = []
    for dataset in runs.datasets:
        curves = []
        for solver, name in {"SODM": "SODM (DSVRG)", **OTHER_GRADIENT}.items():
            found = runs.of(experiment="gradient", dataset=dataset, solver=solver)
            if found:
                curves.append(_way(found.records[-1], name))
        if curves:
            panels.append(Panel(runs.label(dataset), curves))
    title = "Figure 4: gradient methods, linear kernel"
    return Figure("figure4", title, about, "seconds", "test accuracy").keep(panels)


@dataclass(frozen=True)
class Speedup:
    """Seconds by number of cores, and those on one core."""

    dataset: str
    kernel: str
    seconds: dict[int, float]
    base: float
    simulated: bool


def speedups(runs: Runs) -> Iterator[Speedup]:
    """What was measured, then what is simulated from what one core took."""
    for dataset in runs.datasets:
        found = runs.of(experiment="cores", dataset=dataset, task="fit")
        measured = {record["threads"]: record for record in found.records}
        if 1 in measured:
            base = measured[1]["seconds"]
            by_cores = {n: measured[n]["seconds"] for n in sorted(measured)}
            yield Speedup(dataset, "rbf", by_cores, base, simulated=False)
            levels, most = measured[1]["history"], max(measured)
            there = (most, measured[most]["history"]) if most > 1 else None
            yield _simulated(dataset, "rbf", {n: tree_seconds(levels, n, there) for n in CORES})
        pieces = runs.of(experiment="cores", dataset=dataset, task="pieces")
        if pieces:
            record: dict[str, Any] = pieces.records[-1]
            yield _simulated(dataset, "linear", {n: linear_seconds(record, n) for n in CORES})


def _simulated(dataset: str, kernel: str, seconds: dict[int, float]) -> Speedup:
    return Speedup(dataset, kernel, seconds, seconds[1], simulated=True)


def cores(runs: Runs) -> Figure:
    """Figure 3: measured on the cores there are, dashed beyond."""
    about = "Solid: measured. Dashed: simulated from measured pieces; no network but the hand-overs."
    figure = Figure("figure3", "Figure 3: speed-up with cores", about, "cores", "speed-up", ticks=CORES)
    panels: dict[str, list[Curve]] = {"rbf": [], "linear": []}
    measured: dict[str, tuple[int, float]] = {}
    for curve in speedups(runs):
        points = {n: curve.base / seconds for n, seconds in curve.seconds.items()}
        if not curve.simulated:
            measured[curve.dataset + curve.kernel] = max(points.items())
        elif (last := measured.get(curve.dataset + curve.kernel)) is not None:
            points = dict([last]) | {n: times for n, times in points.items() if n > last[0]}
        x, y = [float(n) for n in points], list(points.values())
        panels[curve.kernel].append(Curve(curve.dataset, x, y, dashed=curve.simulated))
    figure.panels.extend(Panel(f"{kernel} kernel", curves) for kernel, curves in panels.items() if curves)
    return figure
