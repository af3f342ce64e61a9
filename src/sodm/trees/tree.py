"""The tree trainer: solve all parts of a level, look at the machine they make, merge, go on.

    pilot       a sample of rows, which tells how large parts should be and where they start
    level 0     K parts           each its own problem, solved side by side
    level 1     K / p parts       merged; each starts from what its parts know
    ...         until a stop rule says that f no longer changes, or p parts (SODM) or one (Cascade) are left
    exact       all rows, if asked for

What a system is made of comes from outside: `systems` lists the combinations that have names.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays, Part, Table
from sodm.engines.threads import ThreadEngine
from sodm.partition import Partitioner
from sodm.problem.problem import Problem
from sodm.solvers.result import SolveResult
from sodm.training.context import Context
from sodm.training.regions import Regions
from sodm.training.trained import Trained
from sodm.trees.budget import compress
from sodm.trees.checkpoint import Checkpoint, State
from sodm.trees.history import Record, Seconds, Summary, plain
from sodm.trees.local import LocalSolver, machine_coefficients
from sodm.trees.memory import most_needed, part_share
from sodm.trees.merge import Group, MergeRule, Solved, rows_of
from sodm.trees.pilot import EXACT_ROWS, Pilot, parts_for, sample
from sodm.trees.probe import Probe, Reading
from sodm.trees.stop import EXACT, LAST, TIME, StopRule, changed

Array = NDArray[np.float64]
PROBE_ROWS = 4000


@dataclass(frozen=True)
class Tree:
    """Partition x merge rule x local solver, with their settings; kernel and loss come with the problem.

    Attributes
    ----------
    partition : Partitioner
    merge : MergeRule
    solver : {"auto", "newton", "dcd"}
        What solves the parts.
    tol, max_iter : float, int
        Of each part.
    n_partitions : int or None
        K; None leaves it to the pilot.
    branching : int
        p.
    stop : StopRule or None
        When two levels agree; None goes up to the end.
    pilot : bool
        Start the parts from the f of a sample: parts that look like the whole have like solutions. Without,
        they start from zero.
    refine : bool
        Go on to the exact solution in the end.
    budget : int or None
        Most support vectors of the machine.
    early : bool
        Keep the parts of the last level as regions, each with a machine of its own.
    """

    partition: Partitioner
    merge: MergeRule
    solver: str
    tol: float
    max_iter: int
    n_partitions: int | None
    branching: int
    stop: StopRule | None = None
    pilot: bool = True
    refine: bool = False
    budget: int | None = None
    early: bool = False

    def train(self, problem: Problem, context: Context) -> Trained:
        """Train on the rows of a problem."""
        return _Training(self, problem, context).run()


class _Training:
    """One run of a tree."""

    def __init__(self, tree: Tree, problem: Problem, context: Context) -> None:
        self.tree, self.problem, self.context = tree, problem, context
        self.n = len(problem.weights)
        self.total = float(problem.weights.sum())
        self.n_partitions = self._count()
        self.kernel = context.evaluator(problem.kernel)
        self.solver = LocalSolver(
            kernel=problem.kernel,
            precision=context.precision,
            loss=problem.loss,
            solver=tree.solver,
            tol=tree.tol,
            max_iter=tree.max_iter,
            seed=context.seed,
            pairs=problem.pairs,
        )
        self.engine = context.engine or ThreadEngine(context.n_threads, context.cache_bytes)
        self.checkpoint = None
        if context.checkpoint is not None:
            self.checkpoint = Checkpoint.of(context.checkpoint, problem, context.seed)
        self.began, self.evaluating = time.monotonic(), 0.0
        self.deadline = None if context.time_limit is None else self.began + context.time_limit
        self.probe = Probe(problem, self.kernel, PROBE_ROWS, context.seed)
        self.history: list[Record] = []
        self.evaluations, self.shift = 0, 0.0
        tree.merge.prepare(problem, context, tree.branching)

    def run(self) -> Trained:
        tree = self.tree
        problem = self.problem
        self.engine.keep(Table(problem.rows, problem.signs, problem.weights, problem.offset))
        state = self.checkpoint.load() if self.checkpoint else None
        seconds, before, reason = Seconds(), None, None
        if state is None:
            groups, solved, duals = self._first_level(seconds), [], np.zeros_like(self.problem.signs)
        else:
            solved, reason = state.solved, state.reason
            duals = self._restore(state)
            before = self.probe.read(duals)
            groups = [] if reason else self._merge(solved, len(self.history) - 1, seconds)
            reason = reason or (None if groups else LAST)
        level = len(self.history)
        while reason is None:
            self._tell(level, len(groups))
            results, complete = self._solve(groups, level, seconds)
            if not complete and level > 0:
                reason = TIME
                break
            solved = [
                Solved(group.index, group.represented, result["duals"])
                for group, result in zip(groups, results, strict=True)
                if result is not None
            ]
            done = [result for result in results if result is not None]
            duals = tree.merge.model(solved)
            now = self._look(level, solved, done, duals, before, seconds)
            if self._is_whole(groups):
                reason = EXACT
            elif not complete or self._out_of_time():
                reason = TIME
            elif tree.stop is not None:
                reason = tree.stop.reason(self.history)
            before = now
            seconds = Seconds()
            if reason is None:
                groups = self._merge(solved, level, seconds)
                reason = None if groups else LAST
            if complete:  # a fit that ran out of time can go on from here
                self._save(solved, None if reason == TIME else reason)
            level += 1
        if tree.refine and reason not in (EXACT, TIME):
            solved, duals, before, reason = self._refine(solved, duals, before, reason, level)
        return self._trained(solved, duals, before, reason)

    # ----------------------------------------------------------------------------------------- the steps

    def _count(self) -> int | None:
        """The number of parts, None if it is left to the pilot."""
        count = self.tree.n_partitions
        if count is None:
            return 1 if self.n <= EXACT_ROWS else None
        if count > self.n:
            raise ValueError(
                f"n_partitions={count} is more than the {self.n} distinct rows of X: use fewer, or 'auto'."
            )
        return count

    def _restore(self, state: State) -> Array:
        """Take up where a checkpoint left off; the duals of its machine are returned."""
        self.history, self.summary = state.history, state.summary
        self.evaluations, self.shift = state.evaluations, state.shift
        self.tree.merge.begin(state.first)
        return self.tree.merge.model(state.solved)

    def _first_level(self, seconds: Seconds) -> list[Group]:
        """Divide the rows."""
        tree, began = self.tree, time.perf_counter()
        pilot = self._pilot()
        seconds.pilot = pilot.seconds
        count = self.n_partitions or parts_for(self.n, pilot.share, tree.branching)
        parts = [np.arange(self.n)]
        if count > 1:
            rows, classes, seed = self.problem.rows, self.problem.codes, self.context.seed
            parts = rows_of(tree.partition.split(rows, classes, count, self.kernel, seed), count)
        groups = tree.merge.begin(parts)
        if self.problem.start is not None:
            start = self.problem.start
            groups = [
                Group(g.index, g.represented, {"start": start[:, g.index] * (self.total / g.represented)})
                for g in groups
            ]
        elif pilot.machine:
            groups = [Group(g.index, g.represented, pilot.machine) for g in groups]
        seconds.partition = time.perf_counter() - began - seconds.pilot
        return groups

    def _pilot(self) -> Pilot:
        """Solve a sample first, if anything is to be learnt from it."""
        tree, start = self.tree, self.problem.start
        if start is not None:
            return Pilot(float(np.mean(np.any(start != 0, axis=0))), {})
        if self.n_partitions == 1 or not (tree.pilot or self.n_partitions is None):
            return Pilot(1.0, {})
        began = time.perf_counter()
        rows = sample(self.n, self.n_partitions, self.context.seed)
        group = Group(rows, tree.merge.weight_of(rows))
        (result,) = self._map([self._part(group, 1)])
        assert result is not None  # it has no deadline
        self.evaluations += result["n_kernel_evaluations"]
        share = float(np.mean(np.any(result["duals"] != 0, axis=0)))
        machine = self._machine(group, result["duals"]) if tree.pilot else {}
        return Pilot(share, machine, time.perf_counter() - began)

    def _part(self, group: Group, n_parts: int, **message: Any) -> Part:
        """A part of a level with so many parts, for the engine."""
        share = part_share(self.context.cache_bytes, n_parts)
        needed = min(share, most_needed(len(group.index)))
        told = {"represented": group.represented, "cache_bytes": share, **group.start, **message}
        return Part(group.index, told, needed)

    def _map(self, parts: Sequence[Part], deadline: float | None = None) -> list[Arrays | None]:
        return self.engine.map(self.solver, parts, deadline, self.context.stop)

    def _solve(
        self, groups: Sequence[Group], level: int, seconds: Seconds
    ) -> tuple[list[Arrays | None], bool]:
        """All parts of a level, and whether all of them were finished."""
        began, lost = time.perf_counter(), self.engine.overhead
        exact = len(groups) == 1  # nothing comes after a single one
        parts = [self._part(group, len(groups), exact=exact, **self.probe.message) for group in groups]
        results: list[Arrays | None] = []
        if level == 0 and len(parts) > 1 and self.deadline is not None:
            # One part is solved whatever the time limit, so that there is a machine to return.
            results = self._map(parts[:1])
        deadline = self.deadline if level > 0 or results else None
        results += self._map(parts[len(results) :], deadline)
        seconds.solve = time.perf_counter() - began
        seconds.engine = self.engine.overhead - lost
        done = [result for result in results if result is not None]
        busy = sum(result["seconds"] for result in done)
        share = sum(result["kernel_seconds"] for result in done) / busy if busy > 0 else 0.0
        seconds.kernel = share * (seconds.solve - seconds.engine)
        return results, all(result is not None for result in results)

    def _is_whole(self, groups: Sequence[Group]) -> bool:
        return len(groups) == 1 and len(groups[0].index) == self.n

    def _machine(self, group: Group, duals: Array) -> Arrays:
        """A part's machine as others take it."""
        at = np.flatnonzero(np.any(duals != 0, axis=0))
        rows = group.index[at]
        machine = rows if self.kernel.precomputed else self.problem.rows[rows]
        coefficients = machine_coefficients(self.problem.signs[:, rows], duals[:, at], self.problem.pairs)
        return {"model_rows": machine, "model_coef": coefficients}

    def _merge(self, solved: Sequence[Solved], level: int, seconds: Seconds) -> list[Group]:
        began = time.perf_counter()
        groups = self.tree.merge.next(solved, level)
        seconds.merge = time.perf_counter() - began
        return groups or []

    def _look(
        self,
        level: int,
        solved: Sequence[Solved],
        results: Sequence[Arrays],
        duals: Array,
        before: Reading | None,
        seconds: Seconds,
    ) -> Reading:
        """Read the probe, and write the level down."""
        began = time.perf_counter()
        now = self.probe.read(duals, self._decision(solved, results))
        seconds.probe = time.perf_counter() - began
        iterations = np.array([result["n_iter"] for result in results])
        evaluations = sum(result["n_kernel_evaluations"] for result in results)
        self.evaluations += evaluations
        self.shift = max([self.shift, *(result["ridge_shift"] for result in results)])
        self.summary = Summary.of(results)
        began = time.perf_counter()
        accuracy = self._accuracy(duals)
        seconds.evaluate = 0.0 if accuracy is None else time.perf_counter() - began
        self.evaluating += seconds.evaluate
        self.history.append(
            Record(
                level=level,
                n_partitions=len(solved),
                n_rows=sum(len(part.index) for part in solved),
                n_support=int(np.count_nonzero(np.any(duals != 0, axis=0))),
                n_iter=int(iterations.max()),
                mean_iter=float(iterations.mean()),
                violation=float(max(np.max(result["violation"]) for result in results)),
                objective=plain(now.objective),
                gap=plain(now.gap),
                estimated=not now.exact,
                changed=None if before is None else changed(now, before),
                n_kernel_evaluations=evaluations,
                seconds=seconds,
                elapsed=time.monotonic() - self.began - self.evaluating,
                part_seconds=[result["seconds"] for result in results],
                accuracy=accuracy,
            )
        )
        self._tell_solved()
        return now

    def _accuracy(self, duals: Array) -> float | None:
        """On rows that are not trained on; the time it takes counts as nobody's."""
        others = self.context.evaluation
        return None if others is None else others.accuracy(self.problem, self.kernel, duals)

    def _decision(self, solved: Sequence[Solved], results: Sequence[Arrays]) -> Array | None:
        """f at the rows of the probe, if the tasks have looked there."""
        if "decision" not in results[0]:
            return None
        shares = self.tree.merge.shares(solved)
        return sum(share * result["decision"] for share, result in zip(shares, results, strict=True))

    def _refine(
        self, solved: list[Solved], duals: Array, before: Reading | None, reason: str, level: int
    ) -> tuple[list[Solved], Array, Reading | None, str]:
        """The exact problem of all rows, from the machine that the tree has found."""
        seconds = Seconds()
        self._tell(level, 1)
        whole = Group(np.arange(self.n), self.total, {"start": duals})
        (result,), complete = self._solve([whole], level, seconds)
        if not complete or result is None:
            return solved, duals, before, TIME
        solved = [Solved(whole.index, whole.represented, result["duals"])]
        now = self._look(level, solved, [result], result["duals"], before, seconds)
        self._save(solved, EXACT)
        return solved, result["duals"], now, EXACT

    def _trained(self, solved: list[Solved], duals: Array, reading: Reading | None, reason: str) -> Trained:
        """What the estimator gets; `decision` of the result is that of the probe."""
        assert reading is not None  # one part is always solved
        objective, gap = reading.objective, reading.gap
        if reason == EXACT and len(solved) == 1:  # the solver has seen all rows
            objective, gap = self.summary.objective, self.summary.gap
        result = SolveResult(
            duals=duals,
            decision=reading.decision,
            objective=objective,
            gap=gap,
            violation=self.summary.violation,
            n_iter=self.summary.n_iter,
            converged=self.summary.converged,
            solver=f"{self.summary.solver}, {len(solved)} parts, {reason}",
            n_kernel_evaluations=self.evaluations,
            kernel_seconds=sum(record.seconds.kernel for record in self.history),
            ridge_shift=self.shift,
            precision=self.summary.precision,
        )
        if self.tree.budget is not None:
            result = compress(self.problem, result, self.tree.budget, self.context)
        regions, region_of_row = self._regions(solved) if self.tree.early else (None, None)
        return Trained(
            result=result,
            classes=self.problem.classes,
            history=[record.as_dict() for record in self.history],
            stop_reason=reason,
            regions=regions,
            region_of_row=region_of_row,
        )

    def _regions(self, solved: Sequence[Solved]) -> tuple[Regions, NDArray[np.intp]]:
        """The parts as regions, and the region of each row."""
        region_of_row = np.zeros(self.n, dtype=np.intp)
        for k, part in enumerate(solved):
            region_of_row[part.index] = k
        parts = [part.index for part in solved]
        return Regions.of(self.problem.rows, parts, self.kernel), region_of_row

    # -------------------------------------------------------------------------------------- surroundings

    def _save(self, solved: list[Solved], reason: str | None) -> None:
        if self.checkpoint is None:
            return
        began = time.perf_counter()
        first, summary = self.tree.merge.first, self.summary
        self.checkpoint.save(
            State(first, solved, self.history, summary, self.evaluations, self.shift, reason)
        )
        self.history[-1].seconds.checkpoint = time.perf_counter() - began

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _tell(self, level: int, n_parts: int) -> None:
        if self.context.progress is None:
            return
        stage = f"level {level}: {n_parts} part{'s' * (n_parts > 1)}"
        record: dict[str, Any] = {"stage": stage, "rows": self.n}
        if self.history:
            record["gap"] = float(np.max(self.history[-1].gap))
        self.context.progress(record)

    def _tell_solved(self) -> None:
        """What the level took, and what of it was lost around the parts."""
        if self.context.progress is None:
            return
        record = self.history[-1]
        seconds, n_parts = record.seconds, record.n_partitions
        self.context.progress(
            {
                "stage": f"level {record.level}: {n_parts} part{'s' * (n_parts > 1)} solved",
                "rows": record.n_rows,
                "gap": float(np.max(record.gap)),
                "seconds": seconds.solve - seconds.engine,
                "overhead": seconds.engine,
            }
        )
