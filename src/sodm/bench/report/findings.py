"""What the results must show, and whether they do: sentences computed from the runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sodm.bench.plan import RBF_SYSTEMS, SYSTEMS
from sodm.bench.printed import printed, printed_value
from sodm.bench.report.figures import OTHER_GRADIENT, speedups
from sodm.bench.report.summary import Runs, seconds_text, system_name

MET, NOT_MET, PARTLY, NOT_MEASURED = "met", "not met", "met in part", "not measured"
NEAR_EXACT = 0.003
UNLIKELY = 0.01
KERNELS = {"rbf": "2", "linear": "3"}
SMALL = " (parts asked for; left to itself, SODM solves so few rows as one part)"
NO_ANSWER = ("cod-rna", "ijcnn1", "skin-nonskin")


@dataclass(frozen=True)
class Finding:
    """A sentence, whether it holds, and the cases it is made of: what, and whether it holds there."""

    sentence: str
    cases: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """Over all cases."""
        held = [holds for _, holds in self.cases]
        if not held:
            return NOT_MEASURED
        return MET if all(held) else PARTLY if any(held) else NOT_MET

    @property
    def count(self) -> str:
        """How many cases hold."""
        return f"{sum(holds for _, holds in self.cases)} of {len(self.cases)}"


def findings(runs: Runs) -> list[Finding]:
    """The list of the page."""
    return [
        Finding("SODM's accuracy is at or above the paper's SODM, on every set and kernel.", [*_above(runs)]),
        Finding("SODM's accuracy is within 0.3 points of our exact ODM.", [*_near(runs)]),
        Finding("SODM takes less time than our Ca-, DiP- and DC-ODM.", [*_faster(runs)]),
        Finding("Exact ODM finishes where the paper's did not in 48 hours.", [*_finishes(runs)]),
    ]


def claims(runs: Runs) -> list[Finding]:
    """What the paper says of its figures, and what is seen here."""
    said = printed()["statements"]
    rbf, linear, gradient = said["figure 3, rbf"], said["figure 3, linear"], said["figure 4"]
    return [
        Finding(f"Figure 3, RBF kernel: {rbf['wording']}.", [*_speedups(runs, "rbf", rbf)]),
        Finding(f"Figure 3, linear kernel: {linear['wording']}.", [*_speedups(runs, "linear", linear)]),
        Finding(f"Figure 4: {gradient['wording']}.", [*_gradient(runs, gradient["speedup"])]),
    ]


def _speedups(runs: Runs, kernel: str, said: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    for curve in speedups(runs):
        if curve.kernel == kernel and said["cores"] in curve.seconds:
            times = curve.base / curve.seconds[said["cores"]]
            how = "simulated" if curve.simulated else "measured"
            yield f"{runs.label(curve.dataset)}: {times:.1f} times, {how}", times > said["speedup"]


def _gradient(runs: Runs, times: float) -> Iterator[tuple[str, bool]]:
    for dataset in runs.datasets:
        ours = runs.of(experiment="gradient", dataset=dataset, solver="SODM").mean("seconds")
        for solver, name in OTHER_GRADIENT.items():
            theirs = runs.of(experiment="gradient", dataset=dataset, solver=solver).mean("seconds")
            if ours is not None and theirs is not None:
                seen = f"{seconds_text(ours)} s, {name} {seconds_text(theirs)} s"
                yield f"{runs.label(dataset)}: {seen}, {theirs / ours:.1f} times", theirs > times * ours


def _above(runs: Runs) -> Iterator[tuple[str, bool]]:
    for kernel, number in KERNELS.items():
        for dataset in runs.datasets:
            ours = runs.of(experiment=kernel, dataset=dataset, solver="SODM").mean("accuracy")
            paper = printed_value(number, runs.printed_as(dataset), "SODM", "accuracy")
            if ours is not None and paper is not None and runs.kind(dataset) != "stand-in":
                yield f"{runs.label(dataset)}, {kernel}: {ours:.4f}, paper {paper:.3f}", ours >= paper


def _near(runs: Runs) -> Iterator[tuple[str, bool]]:
    for kernel in KERNELS:
        for dataset in runs.datasets:
            found = runs.of(experiment=kernel, dataset=dataset, solver="SODM")
            ours = found.mean("accuracy")
            exact = runs.of(experiment=kernel, dataset=dataset, solver="ODM").mean("accuracy")
            if ours is not None and exact is not None:
                text = f"{runs.label(dataset)}, {kernel}: {ours:.4f}, exact {exact:.4f}"
                yield text + SMALL * found.small, ours >= exact - NEAR_EXACT


def _faster(runs: Runs) -> Iterator[tuple[str, bool]]:
    for kernel in KERNELS:
        for dataset in runs.datasets:
            ours = runs.of(experiment=kernel, dataset=dataset, solver="SODM")
            seconds = ours.mean("seconds")
            if seconds is None:
                continue
            where = f"{runs.label(dataset)}, {kernel}: {seconds_text(seconds)} s"
            for solver in ("Cascade", "DiP", "DC"):
                found = runs.of(experiment=kernel, dataset=dataset, solver=solver)
                theirs, name = found.mean("seconds"), system_name(solver)
                if theirs is not None:
                    yield f"{where}, {name} {seconds_text(theirs)} s" + SMALL * ours.small, seconds < theirs
                elif "not finished" in found.trouble:
                    slow = max(record["limit"] for record in found.others)
                    yield f"{where}, {name} {found.trouble}", seconds < slow


def _finishes(runs: Runs) -> Iterator[tuple[str, bool]]:
    for dataset in NO_ANSWER:
        found = runs.of(experiment="rbf", dataset=dataset, solver="ODM", rows=None)  # all of them
        if found:
            seconds, gap = found.mean("seconds"), found.mean("gap")
            yield f"{runs.label(dataset)}: {seconds:.1f} s, relative duality gap {gap:.1e}", True
        elif found.others:
            yield f"{runs.label(dataset)}: {found.trouble}", False


@dataclass(frozen=True)
class Doubt:
    """A number of the paper that could not be matched, or looks unlikely."""

    table: str
    dataset: str
    system: str
    printed: float
    reason: str


def doubts(runs: Runs) -> list[Doubt]:
    """Printed accuracies above anything measured, or below always guessing the larger class."""
    found = []
    for number, by_set in printed()["tables"].items():
        if number == "1":
            continue
        for dataset in runs.datasets:
            if runs.kind(dataset) != "real":
                continue
            best = _best(runs, dataset, "linear" if number == "3" else "rbf")
            majority = _majority(runs, dataset)
            for system, values in by_set[runs.printed_as(dataset)].items():
                if number == "appendix" and system.endswith("ODM"):
                    continue  # printed in Table 2 as well
                accuracy = values["accuracy"]
                if accuracy is None:
                    continue
                if best is not None and accuracy > best[0] + UNLIKELY:
                    reason = f"the best of all systems measured here is {best[0]:.4f} ({best[1]})"
                    found.append(Doubt(number, dataset, system, accuracy, reason))
                if accuracy < majority:
                    reason = f"always guessing the larger class is right for {majority:.3f} of the rows"
                    found.append(Doubt(number, dataset, system, accuracy, reason))
    return found


def _best(runs: Runs, dataset: str, kernel: str) -> tuple[float, str] | None:
    """The highest mean accuracy of any system on the random split, trained on all rows."""
    candidates = [(kernel, s, "odm") for s in RBF_SYSTEMS] + [("peers", s, "odm") for s in ("SVC", "oneDAL")]
    candidates += [("grown", s, "odm") for s in ("SODM", "ODM")]
    candidates += [("svm", s, "hinge") for s in SYSTEMS] * (kernel == "rbf")
    means = []
    for experiment, solver, loss in candidates:
        wanted = {"experiment": experiment, "dataset": dataset, "solver": solver, "kernel": kernel}
        mean = runs.of(**wanted, rows=None).mean("accuracy")
        if mean is not None:
            means.append((mean, system_name(solver, loss)))
    return max(means) if means else None


def _majority(runs: Runs, dataset: str) -> float:
    record = runs.of(experiment="statistics", dataset=dataset).records[-1]
    share = record["positive"] / record["n_rows"]
    return max(share, 1 - share)
