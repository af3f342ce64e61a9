"""The linear machine against its peers: every figure with its ratio and the bar it has to reach.

    python benchmarks/linear.py                       # everything, about ten minutes
    python benchmarks/linear.py --only susy,text      # some parts

Speed is compared on the peer's own problem: with theta = 0, upsilon -> 0 and lam = 2 n C our machine is
LinearSVC(C) to the last digit, constant feature included, so both sides minimise the same formula and its
value at either solution is printed. Both sides run in this same run, each in a process of its own, on the
same cores. The data sets are read from $SODM_DATA; the stand-ins are made here and named so.
"""

import argparse
import os

import linear_accuracy
import linear_gradient
import linear_speed
import linear_wide
from table import Log, Row, machine, print_header, print_row

PARTS = {
    "susy": linear_speed.susy_rows,
    "sets": linear_speed.set_rows,
    "text": linear_speed.text_rows,
    "wide": linear_wide.rows,
    "gradient": linear_gradient.rows,
    "accuracy": linear_accuracy.rows,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS), help=f"comma-separated, of: {', '.join(PARTS)}")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="cores for either side"
    )
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the stand-in for SUSY")
    options = parser.parse_args()
    wanted = options.only.split(",")
    if set(wanted) - set(PARTS):
        parser.error(f"--only knows {', '.join(PARTS)}, not {', '.join(sorted(set(wanted) - set(PARTS)))}.")
    log = Log("linear", options.threads)
    load = os.getloadavg()[0]
    print(f"{machine()}, {options.threads} threads, load {load:.1f}; best of {options.repeat}\n")
    missed: list[Row] = []
    print_header()
    for part in PARTS:
        if part in wanted:
            for row in PARTS[part](options.threads, options.repeat, options.rows):
                print_row(row)
                log.add(row)
                missed += [row] if row.met is False else []
    print(f"\n{len(missed)} bars missed. Rows kept in {log.path.name}.")


if __name__ == "__main__":
    main()
