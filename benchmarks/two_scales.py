"""Two scales beside the exact machine, Algorithm 1 and oneDAL: accuracy, seconds, and growth with the rows.

python benchmarks/two_scales.py [cod-rna covtype ... susy-stand-in susy-drawn growth] [--threads 2]

gamma and the ridge were found on at most 10,000 rows of each set; lam = rows (1 - theta)^2 / ridge carries
the ridge to all rows. "susy-stand-in" and "susy-drawn" fit up to 4,000,000 rows; "growth" (or `--growth`,
alone) fits covtype at growing numbers of rows and draws docs/figures/growth.svg; fits that
results/growth.json has are not made again.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from table import Log, Row, print_header, print_row
from two_scale_fits import SETS
from two_scale_growth import growth_rows
from two_scale_rows import drawn_rows, set_rows, stand_in_rows

SECTIONS = (*SETS, "susy-stand-in", "susy-drawn", "growth")


def section(name: str, threads: int) -> Iterator[Row]:
    others = {"growth": growth_rows, "susy-stand-in": stand_in_rows, "susy-drawn": drawn_rows}
    return others[name](threads) if name in others else set_rows(name, threads)


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
