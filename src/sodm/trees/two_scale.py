"""Two scales: a machine of all the space, and in each region of it a machine that corrects it.

f0 is the machine of landmarks where these carry the kernel (`sodm.trees.landmarks`), else the average of a
few machines of few rows each: smooth, cheap, and ignorant of what only near rows tell. In each region r (a
cell, see `sodm.problem.cells`, with the rows on its borders) the solver finds

    min_f  1/2 |f|^2 + lam / (2 W (1-theta)^2) sum_{i in r} s_i loss( y_i (f0(x_i) + f(x_i)) ),

W being the weight of all rows, so that the ridge W (1-theta)^2 / lam is that of the problem of all rows. The
machine is f0 plus what the region says; on a border two regions are blended.

Whether that is better is tried first, on some regions with rows held out, see `sodm.trees.trial`: better than
the machine of landmarks where the kernel is so smooth that few of them carry it (`sodm.trees.landmarks`),
else better than the average of parts (Algorithm 1). How large regions should be is tried too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays, Part, Table
from sodm.engines.threads import ThreadEngine
from sodm.partition.cells import FoundCells, find_cells, sample_for
from sodm.problem.cells import Cells, members_of
from sodm.problem.distinct import distinct
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.losses import OdmLoss
from sodm.problem.neighbourhoods import REGION_ROWS
from sodm.problem.problem import Problem
from sodm.problem.row_types import Rows
from sodm.solvers.result import SolveResult
from sodm.training.context import Context
from sodm.training.local_machines import LocalMachines
from sodm.training.trained import Trained
from sodm.trees.ahead import Ahead
from sodm.trees.history import Record, Seconds, Summary, plain
from sodm.trees.landmarks import Landmarks
from sodm.trees.local import LocalSolver
from sodm.trees.memory import most_needed, region_share
from sodm.trees.pilot import EXACT_ROWS
from sodm.trees.region_checkpoint import RegionCheckpoint
from sodm.trees.span import Span
from sodm.trees.stop import REGIONS, TIME
from sodm.trees.tree import Tree
from sodm.trees.trial import Base, Trial, Verdict

Array = NDArray[np.float64]
Index = NDArray[np.intp]

SAVED_TOGETHER = 64  # regions; those of one file are solved side by side, and then written down
# Rows elsewhere that are sent to their cells as they are looked at for the trial, which is a pass less, and
# before it is known whether regions are wanted. To find the cells of so many takes a second; where there are
# more the trial comes first.
SENT_AHEAD = 2**20


@dataclass(frozen=True)
class TwoScale:
    """The trainer.

    Attributes
    ----------
    tree : Tree
        Algorithm 1, for data on which no region does better, and its settings.
    regions : int or None
        So many; None leaves it to a trial whether there are any, and how many.
    lam_by_classes : bool
        Whether lam of classes against the rest is that of their pairs times the number of the classes, which
        is what lam="auto" means, and not the same.
    """

    tree: Tree
    regions: int | None
    lam_by_classes: bool = False

    def train(self, problem: Problem, context: Context) -> Trained:
        """Train on the rows of a problem."""
        if self.regions is None and len(problem.weights) <= EXACT_ROWS:
            return self.tree.train(problem, context)
        return _Training(self, problem, context).run()


@dataclass(frozen=True)
class _Correction:
    """f0, and how many rows a region that corrects it has, about."""

    base: Base
    region_rows: float


class _Training:
    """One run."""

    def __init__(self, machine: TwoScale, problem: Problem, context: Context) -> None:
        self.machine, self.tree = machine, machine.tree
        # Regions see few classes each, and take them one against the rest; what is better where regions are
        # not is one against one.
        self.given, self.context = problem, context
        if problem.pairs:
            factor = len(problem.classes) if machine.lam_by_classes else 1
            problem = problem.against_the_rest(problem.loss.lam * factor)
        self.problem = problem
        self.n, self.total = len(problem.weights), float(problem.weights.sum())
        self.began = time.monotonic()
        self.rng = np.random.RandomState(context.seed)
        self.usual_rows = REGION_ROWS if machine.regions is None else self.n / machine.regions
        self.sample = sample_for(self.n, self.usual_rows, self.rng)
        # Cells of regions of the usual size, and those of each row.
        self.divided: tuple[FoundCells, NDArray[np.integer]] | None = None
        self.deadline = None if context.time_limit is None else self.began + context.time_limit
        self.engine = context.engine or ThreadEngine(context.n_threads, context.cache_bytes)
        self.checkpoint = None
        if context.checkpoint is not None:
            self.checkpoint = RegionCheckpoint(context.checkpoint, problem, context.seed)
        self.solver = LocalSolver(
            kernel=problem.kernel,
            precision=context.precision,
            loss=problem.loss,
            solver=self.tree.solver,
            tol=self.tree.tol,
            max_iter=self.tree.max_iter,
            seed=context.seed,
        )

    def run(self) -> Trained:
        problem = self.problem
        self.engine.keep(Table(problem.rows, problem.signs, problem.weights, problem.offset))
        # Those that landmarks and the trial's regions are drawn from are among them.
        here = problem.rows.bring(self.sample) and not problem.rows.in_memory
        seconds = Seconds()
        ahead: Ahead[FoundCells]
        with Ahead() as ahead:
            began = time.perf_counter()
            choice = self._choose(ahead if here else None, seconds)
            seconds.pilot = time.perf_counter() - began - seconds.partition
            if isinstance(choice, _Correction):
                return self._correct(choice, ahead, seconds)
        if choice is None:  # parts that look like the whole do as well or better
            return self.tree.train(self.given, self._what_is_left())
        span, w = choice
        return span.train(w, self._what_is_left().time_limit, seconds, self.began)

    def _correct(self, choice: _Correction, ahead: Ahead[FoundCells], seconds: Seconds) -> Trained:
        """f0, corrected by regions."""
        began, base = time.perf_counter(), choice.base
        usual = choice.region_rows == self.usual_rows
        if usual and self.divided is not None:
            found, homes = self.divided
        else:
            begun = ahead.begun if usual else None
            found = begun.result() if begun else self._cells(choice.region_rows)(lambda: False)
            homes = self._homes(found)
        groups = members_of(homes)
        seconds.partition += time.perf_counter() - began
        members = [rows for _, rows in groups]
        cells = Cells(found.cells.centres[[cell for cell, _ in groups]])
        self._tell(f"{len(cells)} regions", self.n)
        began, lost = time.perf_counter(), self.engine.overhead
        results = self._solve(members, base, seconds)
        seconds.solve = time.perf_counter() - began - seconds.checkpoint
        seconds.engine = self.engine.overhead - lost
        return self._trained(cells, members, base, results, seconds)

    def _cells(self, region_rows: float) -> Callable[[Callable[[], bool]], FoundCells]:
        """What finds cells of so many rows, the same whatever was found before; its rows are at hand."""
        rows, threads = self.problem.rows[self.sample], self.context.threads_here
        return partial(find_cells, rows, self.n, region_rows, deepcopy(self.rng), threads)

    def _homes(self, found: FoundCells) -> NDArray[np.integer]:
        """The cells of each row; where all regions are solved in one go, rows are sent there meanwhile."""
        if self._in_one_go:
            return self.engine.homes(found.cells, found.sizes, self.context.n_threads)
        return self.problem.rows.map_rows(partial(found.cells.homes, n_threads=self.context.n_threads))

    def _divide_and_look(self, seconds: Seconds, around: Cells) -> Array:
        """`Cells.nearest` of all rows, which are sent to the cells of regions in the same pass."""
        began, threads = time.perf_counter(), self.context.n_threads
        found = self._cells(self.usual_rows)(lambda: False)
        look = partial(around.nearest, n_threads=threads)
        homes, table = self.engine.homes_and(look, found.cells, found.sizes, threads)
        self.divided = found, homes
        seconds.partition = time.perf_counter() - began
        return table

    @property
    def _in_one_go(self) -> bool:
        """Whether all regions are solved together."""
        return self.checkpoint is None and self.deadline is None

    def _choose(
        self, ahead: Ahead[FoundCells] | None, seconds: Seconds
    ) -> _Correction | tuple[Span, Array] | None:
        """f0 and its regions, or what is better: landmarks with w to start from, or None for Algorithm 1.

        Rows elsewhere may be divided among cells on this occasion, or the cells begun to be found.
        """
        saved = self.checkpoint.base() if self.checkpoint else None
        if saved is not None:
            rows, coefficients, region_rows = saved
            return _Correction(Base.of(self.problem, rows, coefficients), region_rows)
        trial = Trial(self.problem, self.given, self.context, self.engine, self.solver)
        span, look = None, None
        if self.machine.regions is None:
            self._tell("trial", self.n)
            span = self._span()
        if span is None and ahead is not None:  # landmarks do not carry the problem: regions are likely
            if self.machine.regions is None and self._in_one_go and self.n <= SENT_AHEAD:
                look = partial(self._divide_and_look, seconds)
            else:  # this process has little else to do until jobs have told what is tried
                ahead.begin(self._cells(self.usual_rows))
        choice = (
            self._chosen(trial, span, trial.finds_regions(span, look))
            if self.machine.regions is None
            else _Correction(trial.base, self.usual_rows)
        )
        if self.checkpoint and isinstance(choice, _Correction):
            base = choice.base
            self.checkpoint.save_base(base.rows, base.coefficients, choice.region_rows)
        return choice

    def _chosen(
        self, trial: Trial, span: Span | None, verdict: Verdict
    ) -> _Correction | tuple[Span, Array] | None:
        """What a verdict comes to."""
        learnt = None if span is None or verdict.w is None else (span, verdict.w)
        if verdict.region_rows is None:
            return learnt
        if learnt is None:
            return _Correction(trial.base, verdict.region_rows)
        landmarks, w = learnt[0].landmarks, learnt[0].to_correct(learnt[1])
        return _Correction(Base.of_landmarks(self.problem, landmarks, w), verdict.region_rows)

    def _span(self) -> Span | None:
        """What landmarks can tell, if they carry the problem."""
        problem = self.problem
        fits = isinstance(problem.loss, OdmLoss) and problem.offset is None and problem.kernel.definite
        if not fits or self.given.pairs:
            return None
        landmarks = Landmarks.choose(problem, self.context.evaluator_here(problem.kernel), self.context.seed)
        if landmarks is None:
            return None
        return Span(problem, self.context, self.engine, landmarks, self.tree.tol)

    def _what_is_left(self) -> Context:
        """The context for what comes after the trial."""
        limit = self.context.time_limit
        spent = time.monotonic() - self.began
        return self.context if limit is None else replace(self.context, time_limit=max(0.0, limit - spent))

    def _solve(self, members: Sequence[Index], base: Base, seconds: Seconds) -> list[Arrays | None]:
        """All regions; those that were not finished in time are None."""
        start = self.problem.start
        parts = []
        for index in members:
            share = region_share(self.context.cache_bytes, len(members), len(index))
            told = {"represented": self.total, "cache_bytes": share, "final": True, **base.message}
            if start is not None:
                told["start"] = start[:, index]
            parts.append(Part(index, told, min(share, most_needed(len(index)))))
        if self.checkpoint is None:
            return self._map(parts, any_time=True)
        results: list[Arrays | None] = []
        for first in range(0, len(parts), SAVED_TOGETHER):
            results += self._map_saved(self.checkpoint, parts[first : first + SAVED_TOGETHER], first, seconds)
        return results

    def _map_saved(
        self, checkpoint: RegionCheckpoint, parts: Sequence[Part], first: int, seconds: Seconds
    ) -> list[Arrays | None]:
        """These regions, the first of which has this number: from their file as far as they are there."""
        saved = checkpoint.results(first)
        results = [saved.get(first + k) for k in range(len(parts))]
        missing = [k for k, result in enumerate(results) if result is None]
        if not missing:
            return results
        found = self._map([parts[k] for k in missing], any_time=first == 0 and not saved)
        for k, result in zip(missing, found, strict=True):
            results[k] = result
        began = time.perf_counter()
        if any(result is not None for result in found):
            checkpoint.save_results(first, results)
        seconds.checkpoint += time.perf_counter() - began
        return results

    def _map(self, parts: Sequence[Part], any_time: bool) -> list[Arrays | None]:
        """Results of parts; with `any_time` the first whatever the limit, so that there is a machine."""
        done: list[Arrays | None] = []
        if self.deadline is not None and any_time:
            done = self.engine.map(self.solver, parts[:1], None, self.context.stop)
        rest = parts[len(done) :]
        return done + self.engine.map(self.solver, rest, self.deadline, self.context.stop)

    def _trained(
        self,
        cells: Cells,
        members: Sequence[Index],
        base: Base,
        results: Sequence[Arrays | None],
        seconds: Seconds,
    ) -> Trained:
        """The machine. Cells whose region was not finished are left out: their rows are their neighbours'."""
        problem = self.problem
        solved = [k for k, result in enumerate(results) if result is not None]
        done: list[Any] = [results[k] for k in solved]
        reason = REGIONS if len(solved) == len(members) else TIME
        busy = sum(result["seconds"] for result in done)
        share = sum(result["kernel_seconds"] for result in done) / busy if busy > 0 else 0.0
        seconds.kernel = share * (seconds.solve - seconds.engine)
        pieces = [
            (members[k][used], problem.signs[:, members[k][used]] * result["duals"][:, used])
            for k, result in zip(solved, done, strict=True)
            for used in [np.flatnonzero(np.any(result["duals"] != 0, axis=0))]
        ]
        pieces.append((base.rows, base.coefficients))
        machines = LocalMachines(
            cells=Cells(cells.centres[solved]),
            members=np.concatenate([rows for rows, _ in pieces]).astype(np.int64),
            bounds=np.cumsum([0, *(len(rows) for rows, _ in pieces)]),
            coefficients=np.ascontiguousarray(np.hstack([coefficients for _, coefficients in pieces])),
            intercept=problem.kernel.offset,
        )
        summary = Summary.of(done)
        duals = np.zeros_like(problem.signs)  # those of f0; regions have their own
        duals[:, base.rows] = problem.signs[:, base.rows] * base.coefficients
        evaluations = sum(result["n_kernel_evaluations"] for result in done)
        result = SolveResult(
            duals=duals,
            decision=np.zeros((len(duals), 0)),
            objective=np.sum([result["objective"] for result in done], axis=0),
            gap=summary.gap,
            violation=summary.violation,
            n_iter=summary.n_iter,
            converged=summary.converged,
            solver=f"{summary.solver}, {len(solved)} regions",
            n_kernel_evaluations=evaluations,
            kernel_seconds=seconds.kernel,
            ridge_shift=max(result["ridge_shift"] for result in done),
            precision=self.context.precision,
        )
        record = self._record(members, done, machines, summary, seconds)
        return Trained(
            result=result,
            classes=problem.classes,
            history=[record.as_dict()],
            stop_reason=reason,
            machines=machines,
            problem=problem,
        )

    def _record(
        self,
        members: Sequence[Index],
        done: Sequence[Arrays],
        machines: LocalMachines,
        summary: Summary,
        seconds: Seconds,
    ) -> Record:
        iterations = np.array([np.max(result["n_iter"]) for result in done])
        return Record(
            level=0,
            n_partitions=len(done),
            n_rows=sum(len(index) for index in members),
            n_support=len(distinct(machines.members)[0]),
            n_iter=int(iterations.max()),
            mean_iter=float(iterations.mean()),
            violation=float(np.max(summary.violation)),
            objective=plain(np.sum([result["objective"] for result in done], axis=0)),
            gap=plain(summary.gap),
            estimated=False,
            changed=None,
            n_kernel_evaluations=sum(result["n_kernel_evaluations"] for result in done),
            seconds=seconds,
            elapsed=time.monotonic() - self.began,
            part_seconds=[result["seconds"] for result in done],
            accuracy=self._accuracy(machines),
        )

    def _accuracy(self, machines: LocalMachines) -> float | None:
        """On rows that are not trained on."""
        if self.context.evaluation is None:
            return None
        rows, place = distinct(machines.members)
        vectors = self.problem.rows[rows]
        kernel = self.context.evaluator(replace(self.problem.kernel, offset=0.0))
        values = partial(_values, replace(machines, members=place), kernel, vectors)
        return self.context.evaluation.accuracy_of(values, self.problem.classes)

    def _tell(self, stage: str, rows: int) -> None:
        if self.context.progress is not None:
            self.context.progress({"stage": stage, "rows": rows})


def _values(machines: LocalMachines, evaluator: KernelEvaluator, vectors: Any, X: Rows) -> Array:
    return machines.decide(evaluator, X, machines.vectors(evaluator, vectors))
