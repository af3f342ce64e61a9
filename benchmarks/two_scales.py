"""Two scales beside the exact machine, Algorithm 1 and oneDAL: accuracy, seconds, and growth with the rows.

python benchmarks/two_scales.py [cod-rna covtype covtype-blocks ...] [--growth] [--threads 2]

gamma and the ridge were found on at most 10,000 rows of each set; lam = rows (1 - theta)^2 / ridge carries
the ridge to all rows. `--growth` fits covtype at growing numbers of rows and draws docs/figures/growth.svg.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

import data
from table import RESULTS, Log, Row, print_header, print_row
from timing import isolated, isolated_peer
from two_scale_fits import SETS, fit

NO_EXACT = ("covtype", "covtype-blocks", "covtype-7")  # rows^2 is too many
GROWTH = (20_000, 50_000, 100_000, 200_000, 464_809)
EXACT_UP_TO = 50_000
ALGORITHM_1_SECONDS = 120.0


def show_set(name: str, threads: int, log: Log) -> None:
    """The two scales of one set, beside Algorithm 1 and the exact machine or oneDAL."""
    _, _, accuracy, times = SETS[name]
    ours = isolated(fit, threads, name=name, side="two scales")
    peers = {"Algorithm 1": {"limit": ALGORITHM_1_SECONDS}}
    peers |= {} if name in NO_EXACT else {"exact": {}}
    peers |= {"oneDAL": {}} if name == "fashion-mnist" else {}
    what = f"{name}, {ours['rows']:,} rows"
    mine = f"{ours['seconds']:.2f} s, {ours['accuracy']:.4f}"
    note = (
        f"{ours['stop']}, {ours['regions']} parts; {ours['queries']:,} rows decided in {ours['decide']:.2f} s"
    )
    rows = [Row(what, "accuracy", mine, "", ours["accuracy"], accuracy, "", 4, note=note)]
    for side, options in peers.items():
        theirs = isolated_peer(fit, threads, name=name, side=side, **options)
        if theirs is None:
            rows.append(Row(what, side, mine, "over 300 s"))
            continue
        bar = times if side == "exact" else 2.0 if side == "oneDAL" else None
        ratio = theirs["seconds"] / ours["seconds"]
        rows.append(Row(what, side, mine, f"{theirs['seconds']:.2f} s, {theirs['accuracy']:.4f}", ratio, bar))
    if threads > 1:
        alone = isolated(fit, 1, name=name, side="two scales")["seconds"]
        bar = 1.8 if name in ("covtype", "fashion-mnist") else None
        rows.append(Row(what, "one thread", mine, f"{alone:.2f} s", alone / ours["seconds"], bar))
    for row in rows:
        print_row(row)
        log.add(row)


def show_growth(threads: int) -> None:
    """Accuracy and seconds by rows of covtype, as a table, a file and a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    seen: dict[str, list[dict[str, Any]]] = {}
    for side in ("two scales", "Algorithm 1", "exact", "oneDAL"):
        for rows in GROWTH:
            if side in ("exact", "oneDAL") and rows > EXACT_UP_TO:
                break
            limit = {"limit": ALGORITHM_1_SECONDS} if side == "Algorithm 1" else {}
            found = isolated_peer(fit, threads, name="covtype", side=side, rows=rows, **limit)
            if found is None:
                break
            seen.setdefault(side, []).append(found)
            print(f"| {side} | {rows:,} | {found['seconds']:.2f} s | {found['accuracy']:.4f} |", flush=True)
    (RESULTS / "growth.json").write_text(json.dumps(seen, indent=1) + "\n")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for side, found in seen.items():
        rows = [one["rows"] for one in found]
        left.plot(rows, [one["accuracy"] for one in found], "o-", label=side)
        right.plot(rows, [one["seconds"] for one in found], "o-", label=side)
    for axes, title in ((left, "accuracy on unseen rows"), (right, "seconds to fit, two cores")):
        axes.set_xscale("log")
        axes.set_xlabel("rows of covtype")
        axes.set_title(title)
        axes.grid(alpha=0.3)
    right.set_yscale("log")
    left.legend()
    figure.savefig(data.HERE.parent / "docs" / "figures" / "growth.svg")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    if arguments.growth:
        show_growth(arguments.threads)
        return
    log = Log("two_scales", arguments.threads)
    print_header()
    for name in arguments.sets:
        show_set(name, arguments.threads, log)


if __name__ == "__main__":
    main()
