"""What is run: the paper's experiments and what they lack, in full or quickly.

    statistics   Table 1                         cores       Figure 3
    rbf          Table 2, Figure 1, two scales   gradient    Figure 4
    linear       Table 3, Figure 2               peers       SVC, LinearSVC and oneDAL beside them
    svm          the appendix's table            ablations   our corrections switched off, one by one
    splits       splits that do not leak         partitions  how near the solution of all rows parts are
    grown        lam that grows with the rows

Parameters are tuned ("tuning") for each data set, kernel, split and seed that any of them needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sodm.bench.convention import module
from sodm.bench.environment import cores
from sodm.bench.partitions import PARTITIONERS
from sodm.bench.run import Options, Run
from sodm.bench.sets import FILES
from sodm.bench.starts import LAMS

SYSTEMS = ("ODM", "Cascade", "DiP", "DC", "SODM")
TWO_SCALES = "two scales"  # the machine of the library, with regions
RBF_SYSTEMS = (*SYSTEMS, TWO_SCALES)
EXPERIMENTS = (
    "statistics",
    "rbf",
    "linear",
    "svm",
    "peers",
    "grown",
    "splits",
    "cores",
    "gradient",
    "ablations",
    "partitions",
)
HUGE = "susy-stand-in"
OURS = ("covtype", "fashion-mnist")  # sets that the paper does not have; one seed, RBF kernel
OF_OURS = ("statistics", "rbf")
REPEATED = ("phishing", "skin-nonskin")
# Sets by experiment, those that say most first; experiments not named here are about all sets.
MANY_ROWS = ("ijcnn1", "cod-rna", "a7a", "skin-nonskin", "susy-subset")
ABOUT = {
    "splits": ("svmguide1", "phishing", "a7a", "ijcnn1", "skin-nonskin"),
    "grown": (*MANY_ROWS, "phishing", "svmguide1"),
    "cores": (*MANY_ROWS, HUGE),
    "ablations": MANY_ROWS,
    "gradient": ("cod-rna", "ijcnn1", "a7a", "phishing", "svmguide1", "skin-nonskin", "susy-subset", HUGE),
    "partitions": ("cod-rna", "a7a", "ijcnn1", "skin-nonskin", "svmguide1", "phishing", "susy-subset"),
}
HINGE: Options = (("loss", "hinge"),)
# Our corrections, each switched off; the paper's local solver, so that sweeps can be counted.
DCD: Options = (("local_solver", "dcd"),)
SWITCHED_OFF: dict[str, Options] = {
    "as it is": (),
    "stop rule off": (("stop_tol", 0.0),),
    "pilot off": (("start", "zero"),),
    "coordinate descent": DCD,
    "coordinate descent, scale correction off": (*DCD, ("merge", "literal")),
}
ONE_VARIABLE: Options = (("variables", 1),)
TWO_VARIABLES: Options = (("variables", 2),)


@dataclass(frozen=True)
class Size:
    """How much is run.

    Attributes
    ----------
    name : str
    seeds : tuple of int
        Of the tables. The SVM counterparts take two, partitions three, other experiments the first one.
    rows : int or None
        Most training rows.
    limit, huge_limit : float
        Seconds for a fit, and for one on the stand-in of SUSY's full shape.
    several : int
        On how many sets the experiments are run that are not about all of them.
    data_options : dict
        Parameters of generated sets.
    """

    name: str
    seeds: tuple[int, ...]
    rows: int | None
    limit: float
    huge_limit: float
    several: int
    data_options: dict[str, Options] = field(default_factory=dict)


FULL = Size("full", (0, 1, 2, 3, 4), None, 120.0, 240.0, 9)
QUICK = Size(
    "quick",
    (0,),
    1200,
    20.0,
    20.0,
    2,
    {"gisette-stand-in": (("rows", 1000), ("features", 500)), HUGE: (("rows", 20_000),)},
)


def plan(
    size: Size, sets: Iterable[str] | None = None, experiments: Iterable[str] | None = None
) -> list[Run]:
    """All runs in order, each after what it needs; first seeds first, so that a part of it is of use.

    Parameters
    ----------
    size : Size
    sets, experiments : names, optional
        Only these.
    """
    chosen = _known("data set", sets, FILES)
    wanted = _known("experiment", experiments, EXPERIMENTS)
    runs = [run for name in wanted for run in _experiment(name, size, chosen)]
    runs.sort(key=lambda run: run.seed)  # stable
    ordered: dict[str, Run] = {}
    for run in runs:
        for needed in _with_needs(run):
            ordered.setdefault(needed.key, needed)
    return list(ordered.values())


def _known(what: str, names: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    known = list(known)
    for name in names or ():
        if name not in known:
            raise ValueError(f"no {what} is named {name!r}; there are {', '.join(known)}.")
    return [name for name in known if names is None or name in set(names)]


def _with_needs(run: Run) -> list[Run]:
    needed = run.needs()
    return [*(_with_needs(needed) if needed else ()), run]


def _experiment(name: str, size: Size, sets: list[str]) -> Iterator[Run]:
    for dataset in sets:
        huge, ours = dataset == HUGE, dataset in OURS
        if ours and name not in OF_OURS:
            continue
        if dataset not in ABOUT.get(name, tuple(FILES))[: size.several if name in ABOUT else None]:
            continue
        base = Run(
            experiment=name,
            task="fit",
            dataset=dataset,
            split=module("datasets", FILES[dataset]).Dataset.split,
            rows=size.rows,
            data_options=size.data_options.get(dataset, ()),
            limit=size.huge_limit if huge else size.limit,
        )
        for seed in size.seeds[:1] if huge or ours else size.seeds:
            yield from _runs(replace(base, seed=seed), size, first=seed == size.seeds[0])


def _runs(base: Run, size: Size, first: bool) -> Iterator[Run]:
    """The runs of one experiment on one data set with one seed."""
    name, dataset = base.experiment, base.dataset
    first_system = 1 if dataset == HUGE and not size.rows else 0  # exact: 16,000,000,000,000 kernel values
    systems = SYSTEMS[first_system:]

    def fits(solvers: Iterable[str], **changes: Any) -> Iterator[Run]:
        for solver in solvers:
            yield replace(base, solver=solver, **changes)

    if name == "statistics" and first:
        yield base.of_rows()
    elif name == "rbf":
        yield from fits(RBF_SYSTEMS[first_system:])
    elif name == "linear":
        yield from fits(SYSTEMS, kernel="linear")
    elif name == "svm" and base.seed in size.seeds[:2]:
        hinge: dict[str, Any] = {"options": HINGE, "limit": base.limit / 2}  # slow where C is large
        yield from fits(systems if dataset != HUGE else ("SODM",), **hinge)
    elif name == "peers" and first and dataset != HUGE:
        yield from fits(("SVC", "oneDAL"))
        yield from fits(("SVC",), kernel="linear")
    elif name == "grown" and first:
        yield from fits(("SODM", "ODM"))
    elif name == "splits" and first:
        how = "distinct" if dataset in REPEATED else "official"
        for kernel in ("rbf", "linear"):
            yield from fits((*SYSTEMS, "SVC"), split=how, kernel=kernel)
    elif name == "cores" and first:
        for threads in sorted({1, 2, 4, 8, 16, cores()} & set(range(1, cores() + 1))):
            yield from fits(("SODM",), threads=threads)
        yield replace(base, task="pieces", solver="SODM", kernel="linear", threads=1)
    elif name == "gradient" and first:
        yield from fits(("SODM", "SVRG", "CSVRG"), kernel="linear")
    elif name == "ablations" and first:
        for options in SWITCHED_OFF.values():
            yield from fits(("SODM",), options=options)
        for options in (ONE_VARIABLE, TWO_VARIABLES):
            yield from fits(("plain-DCD",), options=options, rows=1000)
        for lam in LAMS:
            yield replace(base, task="starts", options=(("lam", lam),))
    elif name == "partitions" and base.seed in size.seeds[:3]:
        for partitioner in PARTITIONERS:
            yield replace(base, task="partition", solver=partitioner)
