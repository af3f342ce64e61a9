"""Results as a Markdown table on the screen and as JSON lines in benchmarks/results/."""

import json
import os
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Row:
    """One line of the table: our figure, the other side's, and the bar their ratio has to reach."""

    what: str
    against: str
    ours: str
    theirs: str
    ratio: float | None = None
    bar: float | None = None
    unit: str = " x"
    digits: int = 1
    at_most: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.ratio is None or self.bar is None:
            return None
        return bool(self.ratio <= self.bar if self.at_most else self.ratio >= self.bar)

    def cells(self) -> list[str]:
        def figure(value: float | None) -> str:
            return "–" if value is None else f"{value:.{self.digits}f}{self.unit}"

        verdict = {True: "met", False: "**missed**", None: "–"}[self.met]
        bar = figure(self.bar) if self.bar is None else f"{'≤' if self.at_most else '≥'} {figure(self.bar)}"
        return [self.what, self.against, self.ours, self.theirs, figure(self.ratio), bar, verdict, self.note]


HEADER = ["what", "against", "ours", "theirs", "ratio", "bar", "", "note"]


def print_header() -> None:
    print("| " + " | ".join(HEADER) + " |")
    print("|" + "---|" * len(HEADER), flush=True)


def print_row(row: Row) -> None:
    print("| " + " | ".join(row.cells()) + " |", flush=True)


class Log:
    """A file of JSON lines for one run: first the machine it ran on, then its rows."""

    def __init__(self, name: str, threads: int) -> None:
        RESULTS.mkdir(exist_ok=True)
        self.path = RESULTS / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.jsonl"
        self.write({"machine": machine(), "threads": threads, "load": os.getloadavg()[0]})

    def add(self, row: Row) -> None:
        self.write({**asdict(row), "met": row.met})

    def write(self, record: dict[str, object]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def machine() -> str:
    """The processor's name, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
