"""The tables of the paper: what it prints, what was measured in a run, and the difference."""

from __future__ import annotations

from sodm.bench.plan import RBF_SYSTEMS, SYSTEMS, TWO_SCALES
from sodm.bench.printed import printed, printed_value
from sodm.bench.report.figures import speedups
from sodm.bench.report.summary import Runs, Summary, system_name
from sodm.bench.report.table import ACCURACY, DIFFERENCE, SECONDS, Cell, Column, Table
from sodm.bench.results import Record

MEASURED = [
    Column("accuracy, paper", ".3f"),
    Column("accuracy, ours", ACCURACY),
    Column("± (sd)", ".4f"),
    Column("difference", DIFFERENCE),
    Column("seconds, paper", SECONDS),
    Column("seconds, ours", SECONDS),
    Column("± (sd) s", SECONDS),
    Column("paper / ours", ",.1f"),
    Column("objective", ",.5g"),
    Column("relative gap", ".1e"),
    Column("memory, MB", ",.0f"),
    Column("runs", "d"),
    Column("remarks"),
]


def overview(runs: Runs) -> Table:
    """All in one: SODM beside the paper's SODM, exact ODM, the other trees, and ours of two scales."""
    ours_too = bool(runs.of(solver=TWO_SCALES))
    timed = RBF_SYSTEMS if ours_too else SYSTEMS
    columns = [Column("data set"), Column("kernel"), Column("SODM, paper", ".3f"), Column("SODM", ACCURACY)]
    columns += [Column("- paper", DIFFERENCE), Column("exact ODM", ACCURACY), Column("- exact", DIFFERENCE)]
    columns += [Column(system_name(TWO_SCALES), ACCURACY)] * ours_too
    columns += [Column(f"{system_name(solver)}, s", SECONDS) for solver in timed]
    about = (
        "Test accuracy, then seconds of the fit; means over the runs of Tables 2 and 3, which have spreads, "
        "gaps and remarks. A stand-in is not compared with the paper's set."
    )
    table = Table("overview", "Overview", about, columns)
    for kernel, number in (("rbf", "2"), ("linear", "3")):
        for dataset in runs.datasets:
            found = {s: runs.of(experiment=kernel, dataset=dataset, solver=s) for s in timed}
            ours, exact = found["SODM"].mean("accuracy"), found["ODM"].mean("accuracy")
            two_scales = found[TWO_SCALES].mean("accuracy") if ours_too else None
            if ours is None and two_scales is None:
                continue
            paper = None
            if runs.kind(dataset) != "stand-in":
                paper = printed_value(number, runs.printed_as(dataset), "SODM", "accuracy")
            cells: list[Cell] = [runs.label(dataset), kernel, paper, ours]
            cells += [_difference(ours, paper), exact, _difference(ours, exact)]
            cells += [two_scales] * ours_too
            table.rows.append([*cells, *(_seconds(found[solver]) for solver in timed)])
    return table


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _seconds(found: Summary) -> Cell:
    """Or how long it was waited for."""
    if not found and "not finished" in found.trouble:
        return f"> {max(record['limit'] for record in found.others):g}"
    return found.mean("seconds")


def statistics(runs: Runs) -> Table:
    """Table 1."""
    columns = [Column("data set"), Column("rows, paper", ",d"), Column("rows, ours", ",d")]
    columns += [Column("features, paper", ",d"), Column("features, ours", ",d"), Column("+1 / -1")]
    columns += [Column("distinct rows", ",d"), Column("kind"), Column("remarks")]
    table = Table(
        "table1",
        "Table 1: data sets",
        "Distinct rows are counted by their features, in single precision.",
        columns,
    )
    for dataset in runs.datasets:
        facts = runs.of(experiment="statistics", dataset=dataset)
        if not facts:
            table.rows.append([dataset, *[None] * 7, facts.trouble])
            continue
        r = facts.records[-1]
        paper = printed()["tables"]["1"].get(r["printed_as"], {})
        counts = f"{r['n_classes']} classes" if r["positive"] is None else _counts(r)
        numbers = [paper.get("rows"), r["n_rows"], paper.get("features"), r["n_features"]]
        table.rows.append([dataset, *numbers, counts, r["distinct"], r["dataset_kind"], r["note"]])
    return table


def _counts(facts: Record) -> str:
    return f"{facts['positive']:,} / {facts['n_rows'] - facts['positive']:,}"


def systems(runs: Runs, experiment: str, number: str, title: str) -> Table:
    """Tables 2, 3 and the appendix's: each system on each data set."""
    about = (
        "Paper: a Spark cluster of five 16-core workers. Ours: the machine named above. Accuracy on the rows "
        "not trained on; mean and standard deviation over the runs. A gap marked ~ is estimated from a "
        "sample of the rows. Memory is the peak beyond the loaded rows."
    )
    table = Table(f"table-{number}", title, about, [Column("data set"), Column("system"), *MEASURED])
    loss = "hinge" if experiment == "svm" else "odm"
    for dataset in runs.datasets:
        for solver in RBF_SYSTEMS:
            found = runs.of(experiment=experiment, dataset=dataset, solver=solver)
            name = system_name(solver, loss)
            if found or found.others:
                row = measured(runs, found, dataset, number, name)
                table.rows.append([runs.label(dataset), name, *row])
    return table


def measured(runs: Runs, found: Summary, dataset: str, number: str, system: str) -> list[Cell]:
    """The cells of MEASURED. A stand-in is not the paper's set: it gets no difference."""
    paper_set = runs.printed_as(dataset)
    accuracy = printed_value(number, paper_set, system, "accuracy")
    seconds = printed_value(number, paper_set, system, "seconds")
    ours, time = found.mean("accuracy"), found.mean("seconds")
    comparable = runs.kind(dataset) != "stand-in"
    same_rows = runs.kind(dataset) == "real" and not any(r["rows"] for r in found.records)
    gap = found.mean("gap")
    return [
        accuracy,
        ours,
        found.spread("accuracy"),
        _difference(ours, accuracy) if comparable else None,
        seconds,
        time,
        found.spread("seconds"),
        seconds / time if same_rows and seconds and time else None,
        found.mean("objective"),
        f"~{gap:.1e}" if gap is not None and found.any("gap_estimated") else gap,
        found.mean("memory_mb"),
        len(found.records),
        remarks(found, number, paper_set, system),
    ]


def remarks(found: Summary, number: str, paper_set: str, system: str) -> str:
    """What else there is to say of a row."""
    words = [found.trouble] if found.trouble else []
    if (
        number == "2"
        and system == "ODM"
        and printed_value("2", paper_set, "ODM", "accuracy") is None
        and found
    ):
        words.append("paper: N/A, not finished in 48 hours")
    reasons = {r["stop_reason"] for r in found.records if r.get("stop_reason")}
    levels = {" → ".join(str(h["n_partitions"]) for h in r["history"]) for r in found.records if reasons}
    if reasons and len(levels) <= 2:
        words.append(f"parts {' or '.join(sorted(levels))} (ended by: {', '.join(sorted(reasons))})")
    if reasons and found.small:
        words.append("left to itself, one part")
    return "; ".join(words)


def speedup(runs: Runs) -> Table:
    """Figure 3 as numbers."""
    columns = [Column("data set"), Column("kernel"), Column("cores", "d"), Column("speed-up", ".2f")]
    columns += [Column("how"), Column("seconds", SECONDS)]
    paper = printed()["statements"]
    about = (
        f"Paper: {paper['figure 3, rbf']['wording']} (RBF), {paper['figure 3, linear']['wording']} (linear), "
        "on a cluster. Ours: measured on the cores there are; simulated from measured pieces."
    )
    table = Table("speedup", "Figure 3 in numbers", about, columns)
    for curve in speedups(runs):
        for cores, seconds in curve.seconds.items():
            cells: list[Cell] = [runs.label(curve.dataset), curve.kernel, cores, curve.base / seconds]
            table.rows.append([*cells, "simulated" if curve.simulated else "measured", seconds])
    return table
