"""Tables of what the paper lacks: today's machines, splits that do not leak, corrections switched off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sodm.bench.partitions import PARTITIONERS
from sodm.bench.plan import SWITCHED_OFF, SYSTEMS
from sodm.bench.report.summary import Runs, Summary, peer_name
from sodm.bench.report.table import ACCURACY, DIFFERENCE, SECONDS, Cell, Column, Table
from sodm.bench.starts import FORMS, LAMS
from sodm.bench.tuning import UPSILON


def peers(runs: Runs) -> Table:
    """What people use today beside SODM and exact ODM, with the same first seed."""
    columns = [Column("data set"), Column("kernel"), Column("system"), Column("accuracy", ACCURACY)]
    columns += [Column("seconds", SECONDS), Column("times SODM's", ",.1f"), Column("memory, MB", ",.0f")]
    columns += [Column("support vectors", ",d"), Column("remarks")]
    about = (
        "All tuned alike, each on its own grid; the same rows and cores. SVC uses one core, as it does. lam "
        "weighs a mean over the rows, C a sum: from the rows tuned on to all training rows C grows, and lam "
        "does not; where it is said to, it grows like the root of their number."
    )
    table = Table("peers", "Beside scikit-learn and scikit-learn-intelex", about, columns)
    for dataset in runs.datasets:
        for kernel in ("rbf", "linear"):
            there = [("peers", s) for s in ("SVC", "oneDAL")]
            there = [
                (e, s) for e, s in there if _any(runs, experiment=e, dataset=dataset, solver=s, kernel=kernel)
            ]
            if not there:
                continue
            ours = runs.of(experiment=kernel, dataset=dataset, solver="SODM", seed=0)
            systems = [(experiment, s) for experiment in (kernel, "grown") for s in ("SODM", "ODM")]
            for experiment, solver in [*systems, *there]:
                found = runs.of(experiment=experiment, dataset=dataset, solver=solver, kernel=kernel, seed=0)
                if not found and not found.others:
                    continue
                time, base, n = found.mean("seconds"), ours.mean("seconds"), found.mean("n_support")
                name = peer_name(solver, kernel) + ", lam grown" * (experiment == "grown")
                cells: list[Cell] = [runs.label(dataset), kernel, name, found.mean("accuracy"), time]
                cells += [time / base if time and base else None, found.mean("memory_mb")]
                table.rows.append([*cells, None if n is None else int(n), found.trouble])
    return table


def _any(runs: Runs, **wanted: Any) -> bool:
    found = runs.of(**wanted)
    return bool(found or found.others)


def splits(runs: Runs) -> Table:
    """Official parts, and splits that keep equal rows together, beside the random split."""
    columns = [Column("data set"), Column("kernel"), Column("system"), Column("split")]
    columns += [Column("training rows", ",d"), Column("test rows", ",d"), Column("accuracy", ACCURACY)]
    columns += [
        Column("accuracy, random split", ACCURACY),
        Column("difference", DIFFERENCE),
        Column("remarks"),
    ]
    about = (
        "official: the published training and test parts. distinct: a random split that keeps equal rows "
        "together. With a random split, repeated rows are on both sides."
    )
    table = Table("splits", "Splits that do not leak", about, columns)
    for dataset in runs.datasets:
        for kernel in ("rbf", "linear"):
            for solver in (*SYSTEMS, "SVC"):
                found = runs.of(experiment="splits", dataset=dataset, kernel=kernel, solver=solver)
                if not found and not found.others:
                    continue
                random = runs.of(
                    experiment="peers" if solver == "SVC" else kernel,
                    dataset=dataset,
                    kernel=kernel,
                    solver=solver,
                    seed=0,
                )
                first: dict[str, Any] = (found.records or found.others)[0]
                name = peer_name(solver, kernel)
                ours, other = found.mean("accuracy"), random.mean("accuracy")
                difference = None if ours is None or other is None else ours - other
                cells: list[Cell] = [runs.label(dataset), kernel, name, first["split"]]
                cells += [first.get("train_rows"), first.get("test_rows"), ours, other, difference]
                table.rows.append([*cells, found.trouble])
    return table


def ablations(runs: Runs) -> Table:
    """Our corrections switched off."""
    columns = [Column("data set"), Column("SODM"), Column("accuracy", ACCURACY), Column("seconds", SECONDS)]
    columns += [Column("levels"), Column("most iterations by level"), Column("objective", ",.5g")]
    columns += [Column("relative gap", ".1e"), Column("remarks")]
    about = (
        "One correction switched off at a time. Iterations are Newton steps, or sweeps of coordinate "
        "descent, of the part with the most."
    )
    table = Table("ablations", "Corrections switched off, one by one", about, columns)
    names = ("merge", "stop_tol", "start", "local_solver")
    for dataset in runs.datasets:
        for label, options in SWITCHED_OFF.items():
            wanted = {name: dict(options).get(name) for name in names}
            found = runs.of(experiment="ablations", dataset=dataset, solver="SODM", **wanted)
            if not found and not found.others:
                continue
            history = found.records[0]["history"] if found else []
            levels = " → ".join(str(level["n_partitions"]) for level in history)
            iterations = ", ".join(str(level["n_iter"]) for level in history)
            cells: list[Cell] = [runs.label(dataset), label, found.mean("accuracy"), found.mean("seconds")]
            cells += [levels or None, iterations or None, found.mean("objective"), found.mean("gap")]
            table.rows.append([*cells, found.trouble])
    return table


def scale_correction(runs: Runs) -> Table:
    """Where merged problems start."""
    columns = [Column("data set"), Column("lam", "g"), Column("training rows", ",d"), Column("parts", "d")]
    columns += [Column(f"gap / p*, {form}", ".3g") for form in FORMS]
    columns += [Column(f"sweeps, {form}", "d") for form in FORMS] + [Column("remarks")]
    about = (
        "Parts are solved apart, then all their rows together by coordinate descent to a gap of 1e-3: from "
        "zero, from the parts' duals as they are (literal, the paper's), and divided by their number "
        "(scaled, ours). Gaps are those of the starts."
    )
    table = Table("starts", "The scale correction: where a merged problem starts", about, columns)
    for dataset in runs.datasets:
        for lam in LAMS:
            found = runs.of(experiment="ablations", task="starts", dataset=dataset, lam=lam)
            if not found and not found.others:
                continue
            first: dict[str, Any] = (found.records or found.others)[0]
            cells: list[Cell] = [runs.label(dataset), lam, first.get("train_rows"), first.get("n_partitions")]
            cells += [first.get(f"{form}_gap") for form in FORMS]
            cells += [first.get(f"{form}_sweeps") for form in FORMS]
            table.rows.append([*cells, found.trouble])
    return table


def signed_variable(runs: Runs) -> Table:
    """The dual in 2 M variables against the one in M."""
    columns = [Column("data set"), Column("variables"), Column("training rows", ",d"), Column("sweeps", ",d")]
    columns += [Column("steps that changed something", ",d"), Column("seconds", SECONDS)]
    columns += [Column("objective", ",.5g"), Column("relative gap", ".1e"), Column("remarks")]
    about = (
        "The same plain NumPy loop to the same gap of 1e-3, with 2 M variables as printed and M signed ones. "
        "Seconds are those of Python: compare them with each other only. At most 1,000 rows."
    )
    table = Table("signed", "The signed variable switched off", about, columns)
    for dataset in runs.datasets:
        for variables, label in ((1, "M, signed"), (2, "2 M, as printed")):
            found = runs.of(experiment="ablations", dataset=dataset, solver="plain-DCD", variables=variables)
            if not found and not found.others:
                continue
            first: dict[str, Any] = (found.records or found.others)[0]
            cells: list[Cell] = [dataset, label, first.get("train_rows"), first.get("n_iter")]
            cells += [first.get("n_steps"), found.mean("seconds"), found.mean("objective"), found.mean("gap")]
            table.rows.append([*cells, found.trouble])
    return table


def partitions(runs: Runs) -> Table:
    """How near the solution of all rows the solutions of parts are."""
    columns = [
        Column("data set"),
        Column("partition"),
        Column("start's gap / p*", ".3f"),
        Column("± (sd)", ".3f"),
    ]
    columns += [Column("distance / |g*|", ".3f"), Column("decided otherwise", ".2%")]
    columns += [Column("Theorem 1: gap", ".3g"), Column("its bound", ".3g")]
    columns += [Column("Theorem 1: distance²", ".3g"), Column("its bound ", ".3g"), Column("runs", "d")]
    columns += [Column("remarks")]
    about = (
        "1,600 training rows or fewer in 8 parts, solved to a gap of 1e-8. Start, distance and decisions are "
        "those of the local solutions divided by 8; Theorem 1 is about them as they are."
    )
    table = Table("partitions", "Partitions compared", about, columns)
    for dataset in runs.datasets:
        for partitioner in PARTITIONERS:
            found = runs.of(experiment="partitions", dataset=dataset, solver=partitioner)
            if not found and not found.others:
                continue
            names = ("distance", "changed", "theorem1_gap", "theorem1_gap_bound", "theorem1_distance")
            cells: list[Cell] = [runs.label(dataset), partitioner, found.mean("start_gap")]
            cells += [found.spread("start_gap"), *(found.mean(name) for name in names)]
            cells += [found.mean("theorem1_distance_bound"), len(found.records)]
            table.rows.append([*cells, found.trouble])
    return table


def parameters(runs: Runs) -> Table:
    """What cross-validation chose."""
    columns = [Column("data set"), Column("machine"), Column("kernel"), Column("split"), Column("seed", "d")]
    columns += [Column("parameters"), Column("accuracy in cross-validation", ACCURACY), Column("rows", ",d")]
    columns += [Column("at an end of the grid"), Column("remarks")]
    about = f"On the training rows alone, three folds. upsilon is {UPSILON} throughout."
    table = Table("parameters", "Parameters, by cross-validation", about, columns)
    for record in _sorted(runs):
        chosen = ", ".join(f"{name} {value:.4g}" for name, value in record.get("parameters", {}).items())
        cells: list[Cell] = [record["dataset"], record["solver"], record["kernel"], record["split"]]
        cells += [record["seed"], chosen or None, record.get("cv_accuracy"), record.get("cv_rows")]
        trouble = Summary([], [record]).trouble if record["status"] != "done" else ""
        table.rows.append([*cells, ", ".join(record.get("at_edge", [])), trouble])
    return table


def _sorted(runs: Runs) -> Iterator[dict[str, Any]]:
    found = runs.of(experiment="tuning")
    place = {name: k for k, name in enumerate(runs.datasets)}
    everything = found.records + found.others
    yield from sorted(
        everything, key=lambda r: (place[r["dataset"]], r["kernel"], r["solver"], r["split"], r["seed"])
    )
