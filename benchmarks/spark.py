"""The machines on a Spark cluster: what a fit is spent on, and LinearSVC of MLlib beside the linear machine.

    python benchmarks/spark.py                        # ijcnn1, a million rows of SUSY's shape, covtype
    python benchmarks/spark.py --rows 20000 --sets susy
    python benchmarks/spark.py --sets covtype --java plain    # without the options for short jobs

The cluster is a standalone one, started for each set: a master and two workers of one core each, all on this
machine. Both sides fit the same cached DataFrame, after one small fit each to warm the executors up. The
kernel machine has the parameters that are best on 4,000 rows, as in trees.py; on covtype, where it has
regions, those of two_scales.py. It is fitted four times: the first fit of an application finds Java compiling
what it runs, so it has a row of its own beside the shortest of the later ones, and all of it is done twice,
with Java as it comes and with options for short jobs. Less than 40 % of the time besides solving is asked of
each of these rows.
"""

import argparse
import os
from typing import Any

from spark_fits import WORKERS, application
from spark_simulation import Pieces, time_on
from table import Log, Row, machine, print_header, print_row
from timing import isolated
from tree_figures import tune

CORES = (1, 2, 4, 8, 16, 32, 96)
ALREADY_TUNED = ("covtype",)
PAPER = {32: "over 9 (RBF), over 5 (linear)"}
JAVA = {
    "plain": "",
    # Its first compiler alone, which is done sooner, and a collector of one thread for one core.
    "short": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
NOT_SOLVING = 40.0  # percent of a fit, at most


def parameters(name: str) -> dict[str, Any] | None:
    """Of the kernel machine; None for those of two_scales.py."""
    if name in ALREADY_TUNED:
        return None
    return isolated(tune, WORKERS, side="ours", name="susy-subset" if name == "susy" else name)


def tell_pieces(name: str, found: dict[str, Any]) -> None:
    """What the first fit of the kernel machine was spent on, and what that makes on more cores."""
    seconds, spent = found["fits"][0]["seconds"], found["fits"][0]["timings"]
    driver = max(0.0, seconds - sum(spent.values()))
    parts = ", ".join(f"{what} {value:.1f} s" for what, value in (*spent.items(), ("driver", driver)))
    print(f"SODM on {name}, first fit: {seconds:.1f} s: {parts}; accuracy {found['accuracy']:.4f}; levels of")
    print("  " + ", ".join(f"{len(level)} parts" for level in found["levels"]) + f"; {found['stop']}")
    pieces = Pieces(
        packing=(spent["packing"] + spent["passes"] + spent["probe"]) * WORKERS,
        shuffle=spent["shuffle"] * WORKERS,
        schedule=spent["schedule"],
        pilot=found["pilot"],
        driver=driver,
        levels=found["levels"],
    )
    one = time_on(pieces, 1)
    gains = [f"{c}: {one / time_on(pieces, c):.1f}{f' ({PAPER[c]})' if c in PAPER else ''}" for c in CORES]
    print(f"  simulated, cores: speed-up (in the paper's Figure 3): {', '.join(gains)}", flush=True)


def kernel_rows(name: str, java: str, found: dict[str, Any]) -> list[Row]:
    """The first fit of the kernel machine, and the shortest of the later ones."""
    first, *later = found["fits"]
    best = min(later, key=lambda fit: fit["seconds"])
    shares = ", ".join(f"{_not_solving(fit):.1f}" for fit in later)
    rows = [
        ("first fit", first, f"accuracy {found['accuracy']:.4f}"),
        (f"shortest of {len(later)} later fits", best, f"{shares} %"),
    ]
    return [
        Row(
            f"SODM, {name}, {len(found['levels'][0])} parts, {what}, Java {java}",
            "all of the fit",
            f"{fit['seconds'] - fit['timings']['solve']:.1f} s not solving",
            f"{fit['seconds']:.1f} s",
            ratio=_not_solving(fit),
            bar=NOT_SOLVING if name in ("susy", "covtype") else None,
            unit=" %",
            at_most=True,
            note=note,
        )
        for what, fit, note in rows
    ]


def _not_solving(fit: dict[str, Any]) -> float:
    """Percent."""
    return 100 * (1 - fit["timings"]["solve"] / fit["seconds"])


def linear_row(name: str, java: str, linear: dict[str, Any]) -> Row:
    """The linear machine and LinearSVC on the same DataFrame."""
    (mine, ours), (theirs, svc) = linear["ours"], linear["theirs"]
    spent = ", ".join(f"{what} {value:.1f} s" for what, value in linear["timings"].items())
    return Row(
        f"linear, newton, {name}, Java {java}",
        "MLlib LinearSVC",
        f"{mine:.1f} s ({ours:.4f})",
        f"{theirs:.1f} s ({svc:.4f})",
        ratio=theirs / mine,
        bar=5.0,
        note=spent,
    )


def packing_row(java: str, found: dict[str, Any]) -> Row:
    """Bytes of features packed per second and core, from the cached DataFrame into cached blocks."""
    n, seconds = found["rows"], found["packing"]
    rate = n * found["features"] * 8 / 1e6 / seconds / WORKERS
    bar = 50.0 if n >= 10**6 else None  # what a small table takes is the cost of jobs
    cells = f"packing, {n:,} vectors to blocks, Java {java}", "–", f"{seconds:.2f} s", "–"
    return Row(*cells, rate, bar, " MB/s per core", 0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default="ijcnn1,susy,covtype")
    parser.add_argument("--rows", type=int, default=1_000_000, help="most rows of a set")
    parser.add_argument("--memory", default="3g", help="of an executor's heap")
    parser.add_argument("--slices", type=int, default=2 * WORKERS, help="partitions of the DataFrame")
    parser.add_argument("--java", default=",".join(JAVA), help="plain as it comes, short for short jobs")
    options = parser.parse_args()
    log, shown = Log("spark", WORKERS), []
    print(f"{machine()}, {WORKERS} workers of one core, load {os.getloadavg()[0]:.1f}")
    print(f"<!-- Java short: {JAVA['short']} -->")
    for name in options.sets.split(","):
        own = {"name": name, "rows": options.rows, "tuned": parameters(name)}
        own |= {"memory": options.memory, "slices": options.slices}
        for java in options.java.split(","):
            found = isolated(application, WORKERS, java=JAVA[java], **own)
            print(f"<!-- {name}, Java {java}: {found['tuned']} -->")
            tell_pieces(name, found)
            shown += [packing_row(java, found), linear_row(name, java, found["linear"])]
            shown += kernel_rows(name, java, found)
    print()
    print_header()
    for row in shown:
        print_row(row)
        log.add(row)


if __name__ == "__main__":
    main()
