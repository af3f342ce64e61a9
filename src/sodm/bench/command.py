"""The work of `sodm bench paper`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sodm.bench.plan import FULL, QUICK, plan
from sodm.bench.report.build import build, check_packages
from sodm.bench.results import FAILED, Results
from sodm.bench.run import Run
from sodm.bench.runner import run_missing


def paper(
    out: Path | None,
    *,
    quick: bool = False,
    report_only: bool = False,
    sets: Sequence[str] = (),
    only: Sequence[str] = (),
) -> int:
    """Run what is missing and write the report; the number of runs that failed."""
    size = QUICK if quick else FULL
    folder = out or Path("paper-quick" if quick else "paper")
    check_packages()
    if sys.platform == "win32" and not report_only:
        raise OSError("the runs are timed by signals that Windows does not have: use Linux, macOS or WSL.")
    runs = [] if report_only else plan(size, sets or None, only or None)
    results = Results(folder / "results.jsonl")
    left_out: list[Run] = []
    if runs:
        try:
            left_out = run_missing(runs, results, folder / "cache", size=size.name, say=_say)
        except KeyboardInterrupt:
            print(f"sodm: stopped; {len(results)} runs are in {results.path}.", file=sys.stderr)
            print(
                "sodm: the same command goes on from there; --report makes a report of them.", file=sys.stderr
            )
            raise
        if not sets and not only:
            shutil.rmtree(folder / "cache", ignore_errors=True)
    failed = [record for record in results if record["status"] == FAILED]
    for record in failed:
        print(f"sodm: {record['key']} failed: {record['error']}", file=sys.stderr)
    if left_out:
        why = "what they need failed, or the same with another seed did not finish"
        print(f"sodm: {len(left_out)} runs were left out: {why}.", file=sys.stderr)
    print(build(results, folder))
    return len(failed)


def _say(line: str) -> None:
    print(line, flush=True)
