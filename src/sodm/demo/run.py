"""The run: tune, fit, print the table, write the page."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

import sklearn
from rich.table import Table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import SVC

import sodm
from sodm import ODMClassifier
from sodm.cli.output import console
from sodm.demo import contest
from sodm.demo.data import FEATURES, NOISE, Split, waves
from sodm.demo.page import make_page, require_plotly
from sodm.demo.strata import make_strata
from sodm.demo.table import COLUMNS, cells, reading
from sodm.estimators.threads import threads_for
from sodm.files import atomic_write


def run(out: Path, rows: int, seed: int) -> None:
    """Run the demo.

    Parameters
    ----------
    out : Path
        The page to write.
    rows : int
        Rows to generate, of which a quarter is for testing.
    seed : int
    """
    require_plotly()
    if not out.parent.is_dir():
        raise FileNotFoundError(f"{out.parent} does not exist: make the folder first.")
    began = time.perf_counter()
    data = waves(rows, seed)
    introduction = _introduction(data)
    screen = console()
    screen.print(introduction + "\n")
    ours, theirs, boosting = (
        _step(
            screen, f"cross-validation for {title}", lambda m=machine, g=grid: contest.tune(m, g, data, seed)
        )
        for title, machine, grid in (
            ("the margin distribution machines", ODMClassifier(random_state=seed), contest.ODM_GRID),
            ("SVC", SVC(), contest.SVC_GRID),
            ("boosting", HistGradientBoostingClassifier(random_state=seed), contest.BOOSTING_GRID),
        )
    )
    outcomes = [
        _step(screen, name, lambda n=name, m=machine: contest.measure(n, m, data))
        for name, machine in contest.contestants(ours, theirs, boosting, len(data.y_train), seed)
    ]
    drawn = _step(screen, "strata in the plane", lambda: make_strata(seed))
    screen.print()
    _print_table(screen, outcomes)
    words = reading(outcomes, len(data.y_test))
    screen.print(f"\n{words}\n")
    computer = _computer()
    page = make_page(
        outcomes,
        drawn,
        computer=computer,
        introduction=introduction,
        reading=words,
        facts=_facts(data, ours, theirs, boosting, computer, seed),
    )
    with atomic_write(out) as file:
        file.write(page.encode())
    screen.print(f"{out} has the figures; all of it took {time.perf_counter() - began:.0f} s.")


def _introduction(data: Split) -> str:
    return (
        f"Two classes, {len(data.y_train):,} rows to learn from, {len(data.y_test):,} to test on: the exact "
        "optimal margin distribution machine (ODMClassifier), its scalable form (SODMClassifier), three "
        "rivals of that (Cascade, DiP, DC), scikit-learn's support vector machine (SVC; also that of "
        "scikit-learn-intelex if it is installed) and its gradient boosting."
    )


def _facts(
    data: Split,
    ours: contest.Tuned,
    theirs: contest.Tuned,
    boosting: contest.Tuned,
    computer: str,
    seed: int,
) -> dict[str, str]:
    n = len(data.y_train)
    return {
        "Data": f"Two waves that run across each other ({FEATURES} features of which 3 matter, noise "
        f"{NOISE:g}, seed {seed}); the class tells whether their sum is above zero. The border winds through "
        "all of the space, so that more rows tell more. Features are scaled to [0, 1].",
        "Settings": f"Cross-validation in {contest.FOLDS} folds on {ours.rows:,} of the training rows: "
        f"{ours.tried} settings for the margin distribution machines ({ours.seconds:.1f} s), {theirs.tried} "
        f"for SVC ({theirs.seconds:.1f} s), {boosting.tried} for boosting ({boosting.seconds:.1f} s). C is "
        "the weight of one row's loss and lam that of all rows', so lam grows with the rows and C does not. "
        "No test row was looked at. All else is each machine's default.",
        "Chosen": f"{_words(ours.for_rows(n))} for the margin distribution machines; "
        f"{_words(theirs.for_rows(n))} for SVC; {_words(boosting.for_rows(n))} for boosting "
        "(HistGradientBoostingClassifier).",
        "Computer": f"{computer}. SVC computes on one core; the others use all of them.",
        "Software": f"sodm {sodm.__version__}, scikit-learn {sklearn.__version__}, "
        f"Python {platform.python_version()}.",
    }


def _step(screen: Any, name: str, work: Any) -> Any:
    """Do the work, and say how long it took; in a terminal something moves meanwhile."""
    began = time.perf_counter()
    with screen.status(f"{name} …"):
        result = work()
    screen.print(f"  {name}: {time.perf_counter() - began:.1f} s", highlight=False)
    return result


def _print_table(screen: Any, outcomes: list[contest.Outcome]) -> None:
    table = Table(box=None, padding=(0, 2))
    for k, name in enumerate(COLUMNS):
        table.add_column(name, justify="right" if k else "left", no_wrap=True)
    for outcome in outcomes:
        table.add_row(*cells(outcome))
    screen.print(table)


def _words(settings: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in sorted(settings.items()))


def _computer() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    n = threads_for(None)
    busy = f" (load {os.getloadavg()[0]:.1f} at the end)" if hasattr(os, "getloadavg") else ""
    return f"{n} core{'s' * (n > 1)} of {model}{busy}"
