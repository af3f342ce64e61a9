"""The tree machines against SVC and oneDAL, against each other, and by size: the figures of docs/trees.md.

python benchmarks/trees.py [peers systems threads starts budget growth] [--sets a9a ...] [--rows 4000000]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from table import Log, Row, print_header, print_row
from timing import isolated
from tree_figures import BARS, GROWTH_ROWS, budget_rows, growth, peers, starts, systems, thread_rows, tune

BY_SET = {"peers": peers, "systems": systems, "threads": thread_rows, "starts": starts, "budget": budget_rows}
SECTIONS = (*BY_SET, "growth")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), help=" ".join(SECTIONS))
    parser.add_argument("--sets", nargs="*", default=list(BARS))
    parser.add_argument("--rows", type=int, default=GROWTH_ROWS[-1], help="most rows of the growth section")
    arguments = parser.parse_args()
    threads = len(os.sched_getaffinity(0))
    log = Log("trees", threads)

    def show(rows: Iterator[Row]) -> None:
        for row in rows:
            print_row(row)
            log.add(row)

    print_header()
    growing = "growth" in arguments.sections
    for name in dict.fromkeys([*arguments.sets, *(["susy-subset"] if growing else [])]):
        tuned = {side: isolated(tune, threads, side=side, name=name) for side in ("ours", "peers")}
        print(f"<!-- {name}: {tuned} -->", flush=True)
        for section in arguments.sections:
            if section in BY_SET and name in arguments.sets:
                show(BY_SET[section](name, threads, tuned))
        if growing and name == "susy-subset":
            show(growth(threads, tuned, arguments.rows))


if __name__ == "__main__":
    main()
