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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays, Engine, Part, Table
from sodm.partition import Partitioner
from sodm.problem.problem import Problem
from sodm.solvers.result import SolveResult
from sodm.trees.checkpoint import Checkpoint, State
from sodm.trees.history import Record, Seconds, Summary
from sodm.trees.local import LocalSolver
from sodm.trees.merge import Group, MergeRule, Solved, rows_of
from sodm.trees.pilot import Pilot, parts_for, sample
from sodm.trees.probe import Probe, Reading, classes_of
from sodm.trees.stop import EXACT, LAST, TIME, StopRule, changed

Array = NDArray[np.float64]
PROBE_ROWS = 4000


@dataclass(frozen=True)
class TreeResult:
    """A trained machine.

    Attributes
    ----------
    duals : ndarray, shape (n_problems, n)
        In the scale of the problem of all rows.
    history : list of Record
    stop_reason : str
    last : list of Solved
        The parts of the level that the machine was made of.
    reading : Reading
        What the probe says of it.
    n_iter, violation, converged : ndarrays, shape (n_problems,)
        The worst of the parts of that level.
    """

    duals: Array
    history: list[Record]
    stop_reason: str
    last: list[Solved]
    reading: Reading
    n_iter: NDArray[np.int64]
    violation: Array
    converged: NDArray[np.bool_]
    n_kernel_evaluations: int
    ridge_shift: float
    solver: str

    def as_solve_result(self) -> SolveResult:
        """The same for those who take any solver's result; `decision` is that of the probe."""
        return SolveResult(
            duals=self.duals,
            decision=self.reading.decision,
            objective=self.reading.objective,
            gap=self.reading.gap,
            violation=self.violation,
            n_iter=self.n_iter,
            converged=self.converged,
            solver=f"{self.solver}, {len(self.last)} parts, {self.stop_reason}",
            n_kernel_evaluations=self.n_kernel_evaluations,
            kernel_seconds=sum(record.seconds.kernel for record in self.history),
            ridge_shift=self.ridge_shift,
        )


@dataclass(frozen=True)
class Tree:
    """Partition x merge rule x local solver x loss x engine; kernel and loss come with the problem.

    Parameters
    ----------
    partition : Partitioner
    merge : MergeRule
    solver : LocalSolver
    engine : Engine
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
    time_limit : float or None
        Seconds. One part is always solved.
    seed : int
    checkpoint : Checkpoint or None
    evaluate : callable or None
        Gives the accuracy of a machine, from its duals; its time counts as nobody's.
    progress : callable or None
        Told of each level.
    """

    partition: Partitioner
    merge: MergeRule
    solver: LocalSolver
    engine: Engine
    n_partitions: int | None
    branching: int
    stop: StopRule | None = None
    pilot: bool = True
    refine: bool = False
    time_limit: float | None = None
    seed: int = 0
    checkpoint: Checkpoint | None = None
    evaluate: Callable[[Array], float] | None = None
    progress: Callable[[dict[str, Any]], Any] | None = None

    def train(self, problem: Problem) -> TreeResult:
        """Train on the rows of a problem."""
        return _Training(self, problem).run()


class _Training:
    """One run of a tree."""

    def __init__(self, tree: Tree, problem: Problem) -> None:
        self.tree, self.problem = tree, problem
        self.began, self.apart = time.monotonic(), 0.0
        self.deadline = None if tree.time_limit is None else self.began + tree.time_limit
        self.n = len(problem.weights)
        self.total = float(problem.weights.sum())
        self.probe = Probe(problem, PROBE_ROWS, tree.seed)
        self.history: list[Record] = []
        self.evaluations, self.shift = 0, 0.0
        tree.merge.prepare(problem, tree.branching, tree.seed)

    def run(self) -> TreeResult:
        tree = self.tree
        tree.engine.keep(Table(self.problem.rows, self.problem.signs, self.problem.weights))
        groups, seconds = self._first_level()
        solved: list[Solved] = []
        duals, before, reason = np.zeros_like(self.problem.signs), None, None
        level = len(self.history)
        if level > 0:  # from a checkpoint
            solved, reason, self.summary = self.state.solved, self.state.reason, self.state.summary
            duals = tree.merge.model(solved)
            before = self.probe.read(duals)
            groups = [] if reason else self._merge(solved, level - 1, seconds)
            reason = reason or (None if groups else LAST)
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
            iterations = self.history[-1].n_iter
            if self._is_whole(groups):
                reason = EXACT
            elif not complete or self._out_of_time():
                reason = TIME
            elif tree.stop is not None:
                reason = tree.stop.reason(level, iterations, now, before)
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
        return self._result(solved, duals, before, reason)

    # ----------------------------------------------------------------------------------------- the steps

    def _first_level(self) -> tuple[list[Group], Seconds]:
        """Divide the rows, or take up where a checkpoint left off."""
        tree, seconds, began = self.tree, Seconds(), time.perf_counter()
        state = tree.checkpoint.load() if tree.checkpoint else None
        if state is not None:
            self.state = state
            self.history = state.history
            self.evaluations, self.shift = state.evaluations, state.shift
            tree.merge.begin(state.first)
            return [], seconds
        pilot = self._pilot()
        seconds.pilot = pilot.seconds
        count = tree.n_partitions or parts_for(self.n, pilot.share, tree.branching)
        parts = [np.arange(self.n)]
        if count > 1:
            rows, classes = self.problem.rows, classes_of(self.problem.signs)
            parts = rows_of(tree.partition.split(rows, classes, count, self.problem.kernel, tree.seed), count)
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
        return groups, seconds

    def _pilot(self) -> Pilot:
        """Solve a sample first, if anything is to be learnt from it."""
        tree, start = self.tree, self.problem.start
        if start is not None:
            return Pilot(float(np.mean(np.any(start != 0, axis=0))), {})
        if tree.n_partitions == 1 or not (tree.pilot or tree.n_partitions is None):
            return Pilot(1.0, {})
        began = time.perf_counter()
        rows = sample(self.n, tree.n_partitions, tree.seed)
        group = Group(rows, tree.merge.weight_of(rows))
        (result,) = tree.engine.map(tree.solver, [Part(rows, {"represented": group.represented})])
        assert result is not None  # it has no deadline
        self.evaluations += result["n_kernel_evaluations"]
        share = float(np.mean(np.any(result["duals"] != 0, axis=0)))
        machine = self._machine(group, result["duals"]) if tree.pilot else {}
        return Pilot(share, machine, time.perf_counter() - began)

    def _solve(
        self, groups: Sequence[Group], level: int, seconds: Seconds
    ) -> tuple[list[Arrays | None], bool]:
        """All parts of a level, and whether all of them were finished."""
        tree, began, lost = self.tree, time.perf_counter(), self.tree.engine.overhead
        exact, probe = len(groups) == 1, self.probe.message  # nothing comes after a single one
        parts = [
            Part(group.index, {"represented": group.represented, "exact": exact, **group.start, **probe})
            for group in groups
        ]
        results: list[Arrays | None] = []
        if level == 0 and len(parts) > 1 and self.deadline is not None:
            # One part is solved whatever the time limit, so that there is a machine to return.
            results = tree.engine.map(tree.solver, parts[:1])
        deadline = self.deadline if level > 0 or results else None
        results += tree.engine.map(tree.solver, parts[len(results) :], deadline)
        seconds.solve = time.perf_counter() - began
        seconds.engine = tree.engine.overhead - lost
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
        machine = rows if self.problem.kernel.name == "precomputed" else self.problem.rows[rows]
        return {"model_rows": machine, "model_coef": self.problem.signs[:, rows] * duals[:, at]}

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
        accuracy = None
        if self.tree.evaluate is not None:
            began = time.perf_counter()
            accuracy = self.tree.evaluate(duals)
            seconds.evaluate = time.perf_counter() - began
            self.apart += seconds.evaluate
        self.history.append(
            Record(
                level=level,
                n_partitions=len(solved),
                n_rows=sum(len(part.index) for part in solved),
                n_support=int(np.count_nonzero(np.any(duals != 0, axis=0))),
                n_iter=int(iterations.max()),
                mean_iter=float(iterations.mean()),
                violation=float(max(np.max(result["violation"]) for result in results)),
                objective=_plain(now.objective),
                gap=_plain(now.gap),
                estimated=not now.exact,
                changed=None if before is None else changed(now, before),
                n_kernel_evaluations=evaluations,
                seconds=seconds,
                elapsed=time.monotonic() - self.began - self.apart,
                part_seconds=[result["seconds"] for result in results],
                accuracy=accuracy,
            )
        )
        self._tell_solved()
        return now

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

    def _result(self, solved: list[Solved], duals: Array, reading: Reading | None, reason: str) -> TreeResult:
        assert reading is not None  # one part is always solved
        if reason == EXACT and len(solved) == 1:  # the solver has seen all rows
            objective, gap = self.summary.objective, self.summary.gap
            reading = Reading(reading.decision, objective, gap * np.abs(objective) - objective, exact=True)
        return TreeResult(
            duals=duals,
            history=self.history,
            stop_reason=reason,
            last=solved,
            reading=reading,
            n_iter=self.summary.n_iter,
            violation=self.summary.violation,
            converged=self.summary.converged,
            n_kernel_evaluations=self.evaluations,
            ridge_shift=self.shift,
            solver=self.summary.solver,
        )

    # -------------------------------------------------------------------------------------- surroundings

    def _save(self, solved: list[Solved], reason: str | None) -> None:
        if self.tree.checkpoint is None:
            return
        began = time.perf_counter()
        first, summary = self.tree.merge.first, self.summary
        self.tree.checkpoint.save(
            State(first, solved, self.history, summary, self.evaluations, self.shift, reason)
        )
        self.history[-1].seconds.checkpoint = time.perf_counter() - began

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _tell(self, level: int, n_parts: int) -> None:
        if self.tree.progress is None:
            return
        stage = f"level {level}: {n_parts} part{'s' * (n_parts > 1)}"
        record: dict[str, Any] = {"stage": stage, "rows": self.n}
        if self.history:
            record["gap"] = float(np.max(self.history[-1].gap))
        self.tree.progress(record)

    def _tell_solved(self) -> None:
        """What the level took, and what of it was lost around the parts."""
        if self.tree.progress is None:
            return
        record = self.history[-1]
        seconds, n_parts = record.seconds, record.n_partitions
        self.tree.progress(
            {
                "stage": f"level {record.level}: {n_parts} part{'s' * (n_parts > 1)} solved",
                "rows": record.n_rows,
                "gap": float(np.max(record.gap)),
                "seconds": seconds.solve - seconds.engine,
                "overhead": seconds.engine,
            }
        )


def _plain(values: Array) -> Any:
    return float(values[0]) if len(values) == 1 else [float(value) for value in values]
