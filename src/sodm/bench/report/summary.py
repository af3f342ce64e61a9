"""Runs of the same thing with several seeds, taken together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from sodm.bench.plan import TWO_SCALES
from sodm.bench.results import DONE, FAILED, NOT_FINISHED, Record
from sodm.trees.pilot import EXACT_ROWS

PREFIXES = {"Cascade": "Ca-", "DiP": "DiP-", "DC": "DC-", "ODM": ""}


def system_name(solver: str, loss: str = "odm") -> str:
    """A solver by the name the paper has for it.

    Examples
    --------
    >>> system_name("Cascade"), system_name("SODM", "hinge"), system_name("oneDAL"), system_name("two scales")
    ('Ca-ODM', 'SSVM', 'oneDAL', 'two scales (ours)')
    """
    if solver == TWO_SCALES:
        return f"{solver} (ours)"
    if solver == "SODM":
        return "SSVM" if loss == "hinge" else "SODM"
    if solver in PREFIXES:
        return PREFIXES[solver] + ("SVM" if loss == "hinge" else "ODM")
    return solver


def peer_name(solver: str, kernel: str) -> str:
    """A solver by its own name where it is not one of the paper's: scikit-learn's linear SVC has another."""
    return "LinearSVC" if (solver, kernel) == ("SVC", "linear") else system_name(solver)


def seconds_text(seconds: float) -> str:
    """Hundredths of a second, or two digits of less than a tenth.

    Examples
    --------
    >>> seconds_text(1234.5), seconds_text(0.25), seconds_text(0.00345)
    ('1,234.50', '0.25', '0.0035')
    """
    return f"{seconds:,.2f}" if seconds >= 0.1 else f"{seconds:.2g}"


@dataclass(frozen=True)
class Summary:
    """All runs of one system on one data set.

    Attributes
    ----------
    records : list of Record
        Those that were done.
    others : list of Record
        Those that failed or did not finish.
    """

    records: list[Record]
    others: list[Record]

    def __bool__(self) -> bool:
        return bool(self.records)

    def mean(self, name: str) -> float | None:
        """Mean over the runs that have it."""
        values = self._values(name)
        return mean(values) if values else None

    def spread(self, name: str) -> float | None:
        """Standard deviation over two runs or more."""
        values = self._values(name)
        return stdev(values) if len(values) > 1 else None

    def any(self, name: str) -> bool:
        """Whether it is true of one of them."""
        return any(record.get(name) for record in self.records)

    def _values(self, name: str) -> list[float]:
        return [float(record[name]) for record in self.records if record.get(name) is not None]

    @property
    def small(self) -> bool:
        """Whether these are trees of rows that sodm, left to itself, solves as one part."""
        first = [record["history"][0] for record in self.records if record.get("history")]
        return bool(first) and all(level.get("n_rows", EXACT_ROWS + 1) <= EXACT_ROWS for level in first)

    @property
    def trouble(self) -> str:
        """What to say of the runs that were not done, in a few words."""
        words = []
        slow = [record for record in self.others if record["status"] == NOT_FINISHED]
        if slow:
            words.append(f"not finished in {max(record['limit'] for record in slow):g} s")
        failed = [record for record in self.others if record["status"] == FAILED]
        if failed:
            words.append(f"failed: {failed[-1]['error'][:120]}")
        runs = f" ({len(self.others)} of {len(self.records) + len(self.others)} runs)" if self.records else ""
        return "; ".join(words) + runs * bool(words)


class Runs:
    """The records of a file of results, by what they are of."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = list(records)

    def of(self, **wanted: Any) -> Summary:
        """All runs with these values; an option is named like a value, and absent if it is None."""
        found = [record for record in self.records if self._matches(record, wanted)]
        done = [record for record in found if record["status"] == DONE]
        return Summary(done, [record for record in found if record["status"] != DONE])

    @staticmethod
    def _matches(record: Record, wanted: dict[str, Any]) -> bool:
        options = dict(map(tuple, record.get("options", [])))
        return all((options.get(k) if k in _OPTIONS else record.get(k)) == v for k, v in wanted.items())

    @property
    def datasets(self) -> list[str]:
        """In the order of the paper, then ours."""
        from sodm.bench.sets import FILES

        there = {record["dataset"] for record in self.records}
        return [name for name in FILES if name in there]

    def label(self, dataset: str) -> str:
        """The name of a set with all that must be said of it: stand-in, subset, fewer rows."""
        facts = self.of(experiment="statistics", dataset=dataset)
        words = []
        if facts:
            record = facts.records[-1]
            if record["dataset_kind"] == "stand-in":
                words.append(f"generated, only the shape is {record['printed_as']}'s")
            elif record["dataset_kind"] == "ours":
                words.append("ours, not the paper's")
            elif record["dataset_kind"] == "subset":
                words.append(f"{record['n_rows']:,} of {record['printed_as']}'s rows")
            elif "a9a" in record["note"]:
                words.append("rows of the a9a file")
        fewer = {record["rows"] for record in self.records if record["dataset"] == dataset} - {None}
        whole = any(r["task"] == "fit" and r["rows"] is None for r in self.records if r["dataset"] == dataset)
        if fewer and not whole:
            words.append(f"at most {max(fewer):,} training rows")
        return dataset + (f" ({'; '.join(words)})" if words else "")

    def kind(self, dataset: str) -> str | None:
        """real, subset, stand-in or ours; None if the set was not read."""
        facts = self.of(experiment="statistics", dataset=dataset)
        return facts.records[-1]["dataset_kind"] if facts else None

    def printed_as(self, dataset: str) -> str:
        """Its name in the paper."""
        facts = self.of(experiment="statistics", dataset=dataset)
        return facts.records[-1]["printed_as"] if facts else dataset


_OPTIONS = ("lam", "loss", "merge", "stop_tol", "start", "local_solver", "variables")
