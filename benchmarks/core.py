"""Speed of the exact machine against its peers: every figure with its ratio and the bar it has to reach.

    python benchmarks/core.py                          # everything, about ten minutes
    python benchmarks/core.py --only fused,cod-rna     # some rows
    python benchmarks/core.py --only a9a,decision

Both sides of a row run one after the other in this same run, each in a process of its own, on the same cores.
The data sets are read from $SODM_DATA. Linux only: cores are assigned by affinity.
Figures are the best of --repeat runs; LIBSVM's SVC runs once where it takes more than 20 s.
"""

import argparse
import os

import classes
import fits
import fused
import grid
import large_lam
import small
from table import Log, Row, machine, print_header, print_row


def main() -> None:
    names = ["fused", "small", *fits.CONTESTS, "decision", *classes.CLASS_CONTESTS, "grid", "large-lam"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(names), help=f"comma-separated, of: {', '.join(names)}")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="cores for either side"
    )
    parser.add_argument("--rows", type=int, default=20_000, help="rows and columns of the fused product")
    options = parser.parse_args()
    wanted = set(options.only.split(","))
    unknown = wanted - set(names) - {contest.set for contest in fits.CONTESTS.values()}
    if unknown:
        parser.error(f"--only knows {', '.join(names)}, not {', '.join(sorted(unknown))}.")
    if "decision" in wanted:
        wanted.add("a9a")

    log = Log("core", options.threads)
    print(
        f"{machine()}, {options.threads} threads, load {os.getloadavg()[0]:.1f}; best of {options.repeat}\n"
    )
    missed = []

    def show(row: Row) -> None:
        print_row(row)
        log.add(row)
        if row.met is False:
            missed.append(row)

    print_header()
    if "fused" in wanted:
        for row in fused.rows(options.rows, options.threads, options.repeat):
            show(row)
    if "small" in wanted:
        for row in small.rows(options.threads):
            show(row)
    for name, contest in fits.CONTESTS.items():
        if name in wanted or contest.set in wanted:
            for row in fits.rows(contest, wanted, options.threads, options.repeat):
                show(row)
    for name, many in classes.CLASS_CONTESTS.items():
        if name in wanted:
            for row in classes.rows(many, options.threads, options.repeat):
                show(row)
    if "grid" in wanted:
        for row in grid.rows(options.threads):
            show(row)
    if "large-lam" in wanted:
        for row in large_lam.rows(options.threads):
            show(row)
    print(f"\n{len(missed)} bars missed. Rows kept in {log.path.name}.")


if __name__ == "__main__":
    main()
