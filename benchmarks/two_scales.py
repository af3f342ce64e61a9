"""Two scales beside the exact machine, Algorithm 1 and oneDAL: accuracy, seconds, and growth with the rows.

python benchmarks/two_scales.py [cod-rna covtype covtype-blocks ... susy-stand-in growth] [--threads 2]

gamma and the ridge were found on at most 10,000 rows of each set; lam = rows (1 - theta)^2 / ridge carries
the ridge to all rows. "susy-stand-in" fits up to 4,000,000 rows; "growth" (or `--growth`, alone) fits
covtype at growing numbers of rows and draws docs/figures/growth.svg.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from typing import Any

import data
from table import RESULTS, Log, Row, print_header, print_row
from timing import isolated_peer
from two_scale_fits import SETS, fit
from two_scale_rows import ALGORITHM_1_SECONDS, growth_row, set_rows, stand_in_rows

GROWTH = (20_000, 50_000, 100_000, 200_000, 464_809)
EXACT_UP_TO = 50_000
SECTIONS = (*SETS, "susy-stand-in", "growth")


def section(name: str, threads: int) -> Iterator[Row]:
    if name == "growth":
        return growth_rows(threads)
    return stand_in_rows(threads) if name == "susy-stand-in" else set_rows(name, threads)


def growth_rows(threads: int) -> Iterator[Row]:
    """Accuracy and seconds by rows of covtype, as a table, a file and a picture."""
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
            cells = f"{found['seconds']:.2f} s, {found['accuracy']:.4f}"
            yield Row(f"covtype, {rows:,} rows", "–", f"{side}: {cells}", "–")
    (RESULTS / "growth.json").write_text(json.dumps(seen, indent=1) + "\n")
    draw(seen)
    yield growth_row(seen["two scales"])


def draw(seen: dict[str, list[dict[str, Any]]]) -> None:
    """docs/figures/growth.svg."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "growth"  # the same picture of the same figures
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
    figure.savefig(data.HERE.parent / "docs" / "figures" / "growth.svg", metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    wanted = ["growth"] if arguments.growth else arguments.sections or list(SECTIONS)
    if unknown := [name for name in wanted if name not in SECTIONS]:
        parser.error(f"no section is named {unknown[0]}: there are {', '.join(SECTIONS)}.")
    log = Log("two_scales", arguments.threads)
    print_header()
    for name in wanted:
        for row in section(name, arguments.threads):
            print_row(row)
            log.add(row)


if __name__ == "__main__":
    main()
