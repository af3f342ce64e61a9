"""What verbose=1 shows: a bar in a terminal or notebook with rich, plain lines everywhere else."""

from __future__ import annotations

import sys
import time
from math import log
from types import TracebackType
from typing import Any

SECONDS_BETWEEN_LINES = 1.0


class Silence:
    """Shows nothing; to a solver it is no progress callback at all."""

    callback = None

    def __enter__(self) -> Silence:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def done(self, summary: str) -> None:
        """The fit has ended."""


class Lines:
    """Plain lines on the standard output of the moment, so that Python can capture them."""

    def __init__(self) -> None:
        self._stage: str | None = None
        self._last = 0.0

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def callback(self, record: dict[str, Any]) -> None:
        """A line when a stage begins, and at most one a second after that."""
        now = time.monotonic()
        if record.get("stage") == self._stage and now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._stage, self._last = record.get("stage"), now
        print(f"[sodm] {describe(record)}", file=sys.stdout, flush=True)

    def done(self, summary: str) -> None:
        """The fit has ended."""
        print(f"[sodm] {summary}", file=sys.stdout, flush=True)


class Bar:
    """A rich progress bar, full when the duality gap is down to the tolerance; its scale is logarithmic."""

    def __init__(self, progress: Any, tol: float) -> None:
        self._progress = progress
        self._tol = tol
        self._stage: str | None = None
        self._first_gap = 1.0
        self._task = progress.add_task("sodm", total=1.0)

    def __enter__(self) -> Bar:
        self._progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.__exit__(kind, error, trace)

    def callback(self, record: dict[str, Any]) -> None:
        """Move the bar to where the gap is."""
        gap = record.get("gap", float("inf"))
        if record.get("stage") != self._stage:
            self._stage, self._first_gap = record.get("stage"), max(gap, 10 * self._tol)
        way = log(self._first_gap / self._tol)
        left = log(max(gap, self._tol) / self._tol)
        share = max(0.0, 1 - left / way) if way < float("inf") else 0.0
        self._progress.update(self._task, completed=share, description=describe(record))

    def done(self, summary: str) -> None:
        """The fit has ended."""
        self._progress.update(self._task, completed=1.0, description=summary)


def describe(record: dict[str, Any]) -> str:
    """A solver's record as one line."""
    parts = [str(record.get("stage", "solving"))]
    if "rows" in record:
        parts.append(f"{record['rows']} rows")
    if "iteration" in record:
        parts.append(f"iteration {record['iteration']}")
    if "gap" in record:
        parts.append(f"gap {record['gap']:.2e}")
    if "seconds" in record:
        parts.append(f"{record['seconds']:.2f} s")
    if "overhead" in record:
        parts.append(f"overhead {record['overhead']:.2f} s")
    return ", ".join(parts)


def make_progress(verbose: int, tol: float) -> Silence | Lines | Bar:
    """The reporter for this verbosity and this standard output."""
    if not verbose:
        return Silence()
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:
        return Lines()
    console = Console()
    if not (console.is_terminal or console.is_jupyter):
        return Lines()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    return Bar(Progress(*columns, console=console), tol)
