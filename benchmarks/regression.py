"""Regression against its peers: every figure with its ratio and the bar it has to reach.

    python benchmarks/regression.py                      # everything, about half an hour
    python benchmarks/regression.py --only california    # or elevation
    python benchmarks/regression.py --only california --peers ridge,onedal

california: 20,640 blocks of houses, 8 features standardised, target in 100,000 dollars; 80 % at random
to train on (16,512 rows). Each side has the parameters that do best on a fifth of the training rows held out,
out of a grid of its own (--tune prints them anew); the fit that is timed is that of all training rows.

elevation: covtype, the height above sea from the other 9 numbers and the 44 columns of soil and wilderness,
all scaled to [0, 1]; a random 80 % of 581,012 rows to train on. Neighbouring cells of the map are rows of
their own, so a random split flatters machines that go by near rows; "by blocks" leaves out blocks of 2,000
consecutive rows instead.

Both sides of a row run one after the other in this same run, each in a process of its own, on the same cores.
"""

import argparse
import os

from regression_contests import california_rows, elevation_rows, tune
from table import Log, machine, print_header, print_row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="california,elevation", help="california, elevation or both")
    parser.add_argument("--peers", default="svr,onedal,ridge", help="of california")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="cores for either side"
    )
    parser.add_argument("--tune", action="store_true", help="look for the parameters again, and print them")
    options = parser.parse_args()
    if options.tune:
        tune(options.threads)
        return
    log = Log("regression", options.threads)
    print(f"{machine()}, {options.threads} threads, load {os.getloadavg()[0]:.1f}\n")
    print_header()
    if "california" in options.only:
        for row in california_rows(options.threads, options.repeat, options.peers.split(",")):
            print_row(row)
            log.add(row)
    if "elevation" in options.only:
        for row in elevation_rows(options.threads, ["nystroem", "boosting"]):
            print_row(row)
            log.add(row)


if __name__ == "__main__":
    main()
