"""Regions or not: tried on a few regions, with rows held out that none of them has seen.

Two machines decide the same held-out rows: regions, and what is taken where they are not better. That is the
machine of landmarks where these carry the problem (see `sodm.trees.landmarks`), else the average of some
parts (where Algorithm 1 begins). Where truth is smooth and noisy regions are the worse machine.

Regions and landmarks are two answers to one problem, and are judged by its own loss, row by row. Right and
wrong tell much less: of the few rows that only one of the two decides right nearly as many speak for
either. Parts have problems of their own, with another ridge: against these right and wrong have to do.

Several classes stand each against the rest in a region, which has seen few of them, and in pairs in parts,
where that is much the better machine.

How large regions are is tried too. What four times the rows would gain cannot be looked at for less than it
costs, but what regions have gained over those of a fourth of their rows can: where they go on learning by
that much, they get four times the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays, Block, Engine, Part, Table, Task
from sodm.problem.cells import Cells
from sodm.problem.neighbourhoods import REGION_ROWS, neighbourhoods
from sodm.problem.problem import Problem
from sodm.training.context import Context
from sodm.trees.landmarks import Landmarks
from sodm.trees.local import LocalSolver, LookAtProbe, decide
from sodm.trees.memory import most_needed, part_share
from sodm.trees.probe import classes_of
from sodm.trees.span import Span

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Judge = Callable[[Array, Index], Array]  # what f at held-out rows costs, row by row, and which rows they are
Look = Callable[[Cells], Array]  # `Cells.nearest` of all rows

BASE_PARTS, BASE_ROWS = 4, 500  # of f0
PARTS, PART_ROWS = 8, 2000  # of the average that stands for Algorithm 1
FIRST_PARTS = 2  # of these: enough if regions are clearly better, or not
# Regions that are tried: one in so many, but no fewer than this nor more than that; half of it where there
# are several problems. A fourth of them is tried first, and is enough if it tells enough.
TRIED_SHARE, FEWEST_TRIED, MOST_TRIED = 8, 16, 64
FIRST_SHARE, FEWEST_FIRST = 4, 4
HELD_OUT = 3  # one row in so many
# Standard errors of the difference that regions must be better by than parts, which Algorithm 1 goes on from,
# and by which they are clearly better than any other machine.
WORTH_IT, CLEAR = 1.0, 3.0
# Against landmarks: regions must be better by two, and if the first ones are not better at all there is no
# hope. Settled on cod-rna (gains 4.9 to 6.9, of the first ones 1.7 to 5.4), skin-nonskin (3.9 to 10, 2.8 to
# 7.9), a9a (below -3), susy-subset (below 0), and 30,000 to 100,000 rows like SUSY's (-1.4 to 1.4, where
# landmarks are better), when other sizes and parameters were known too: docs/regions-study.md.
GAINS, NO_HOPE = 2.0, 0.0
# Regions of REGION_ROWS become LARGER times as large where they make at most this share of the mistakes of
# regions of a fourth of the rows, and clearly fewer. Settled on eleven sets, made and real, see
# docs/regions-study.md.
LARGER, STILL_LEARNS = 4, 0.9


@dataclass(frozen=True)
class Tried:
    """A region that is tried.

    Attributes
    ----------
    rows : ndarray of int
        What it is trained on.
    held : ndarray of int
        Others, of its inside, that are held out of it.
    inner : Tried or None
        The region of a fourth of its rows around the same row.
    """

    rows: Index
    held: Index
    inner: Tried | None = None


@dataclass(frozen=True)
class Base:
    """f0: sum_j coefficients[c, j] k(x_j, .) over some training rows.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers.
    coefficients : ndarray, shape (n_problems, n)
    message : Arrays
        It, as tasks take it.
    """

    rows: Index
    coefficients: Array
    message: Arrays

    @property
    def guess(self) -> Arrays:
        """It, as tasks take it that start from it."""
        return {
            "model_rows": self.message["base_rows"],
            "model_coef": self.coefficients,
            "smooth_only": True,
        }

    @classmethod
    def of(cls, problem: Problem, rows: Index, coefficients: Array) -> Base:
        """That of these rows of a problem."""
        return cls(rows, coefficients, {"base_rows": problem.rows[rows], "base_coef": coefficients})

    @classmethod
    def of_landmarks(cls, problem: Problem, landmarks: Landmarks, w: Array) -> Base:
        """The machine of landmarks."""
        return cls.of(problem, landmarks.rows, landmarks.coefficients(w))


@dataclass(frozen=True)
class Verdict:
    """What came of a trial.

    Attributes
    ----------
    region_rows : int or None
        How many rows a region should have, about; None if regions are not wanted.
    w : ndarray or None
        The machine of landmarks, without the rows that were held out.
    """

    region_rows: int | None
    w: Array | None = None


class Trial:
    """What is tried before regions are solved; nothing of it depends on threads or clocks."""

    def __init__(
        self, problem: Problem, of_parts: Problem, context: Context, engine: Engine, solver: LocalSolver
    ) -> None:
        self.problem, self.of_parts = problem, of_parts  # that of regions, and of what stands against them
        self.context, self.engine, self.solver = context, engine, solver
        self.total = float(problem.weights.sum())
        self.rng = np.random.RandomState(context.seed)
        self.kernel = context.evaluator_here(problem.kernel)
        self.held = np.zeros(0, dtype=np.intp)  # rows that are kept from f0
        self.carried: tuple[Landmarks, Array] | None = None  # and their w, without the rows held out

    @cached_property
    def base(self) -> Base:
        """f0: the machine of landmarks, where there is one, else the average of a few small parts."""
        if self.carried is not None:
            return Base.of_landmarks(self.problem, *self.carried)
        parts = self._base_rows
        results = self._map([self._part(rows, None, len(parts)) for rows in parts], self.solver)
        pieces = []
        for rows, result in zip(parts, results, strict=True):
            used = np.flatnonzero(np.any(result["duals"] != 0, axis=0))
            pieces.append((rows[used], self.problem.signs[:, rows[used]] * result["duals"][:, used]))
        rows = np.concatenate([rows for rows, _ in pieces])
        coefficients = np.hstack([piece for _, piece in pieces]) / len(pieces)
        return Base.of(self.problem, rows, coefficients)

    @cached_property
    def _base_rows(self) -> list[Index]:
        """Those of f0."""
        return self._draw(BASE_PARTS, BASE_ROWS) if self.carried is None else [self.carried[0].rows]

    def finds_regions(self, span: Span | None, look: Look | None = None) -> Verdict:
        """Whether regions are the better machine; against that of landmarks, if there are any. `look` tells
        which of some cells is the nearest of each row, and how near; without it the rows are asked."""
        regions = self._regions(look or self._look)
        self.held = _held(regions)
        w = None
        if span is None:
            better, f = self._against_parts(regions)
        else:
            w = span.start(self.held)
            self.carried = span.landmarks, w
            gain, f = self._compare(regions, None, self._losses, NO_HOPE)
            better = gain > GAINS
        if not better:
            return Verdict(None, w)
        return Verdict(LARGER * REGION_ROWS if self._still_learn(regions, f) else REGION_ROWS, w)

    def _still_learn(self, regions: Sequence[Tried], f: Array) -> bool:
        """Whether regions are so much better than those of a fourth of their rows that they should have more.
        `f` is theirs at their held-out rows, as far as it is known."""
        own = fewer = np.zeros(0)
        first, seen = _first(regions), 0
        for some in filter(None, (first, regions[len(first) :])):
            rows = _held(some)
            if f.shape[1] == seen:
                f = np.hstack([f, np.add(*self._local(some))])
            inner = [tried.inner for tried in some if tried.inner is not None]
            if not inner:
                return False
            held = _held(inner)
            at = seen + np.flatnonzero(np.isin(rows, held))
            own = np.append(own, self._mistakes(f[:, at], held))
            fewer = np.append(fewer, self._mistakes(np.add(*self._local(inner)), held))
            if _gain(own, fewer) <= NO_HOPE:
                return False
            seen += len(rows)
        return own.mean() <= STILL_LEARNS * fewer.mean() and _gain(own, fewer) > CLEAR

    def _against_parts(self, regions: Sequence[Tried]) -> tuple[bool, Array]:
        """Whether the held-out rows are decided better than by the average of some parts, and f of regions at
        those that were looked at."""
        drawn, pairs = self._draw(PARTS, PART_ROWS), self.of_parts.pairs
        few, first = drawn[:FIRST_PARTS], _first(regions)
        self._bring([*few, *_rows_of(first)])
        solved = self._solve_parts(few, _held(first))
        parts = _sum_of(solved)  # their f, as far as it was asked for

        def others(count: int) -> Array:
            nonlocal parts
            rest = self.held[parts.shape[1] : count]
            if len(rest):
                parts = np.hstack([parts, _sum_of(self._look_by_parts(few, solved, rest))])
            return self._mistakes(parts / FIRST_PARTS, self.held[: parts.shape[1]], pairs)

        gain, f = self._compare(regions, others, self._mistakes, -CLEAR)
        if WORTH_IT < gain <= CLEAR:  # more of them are a better machine
            parts = parts + _sum_of(self._solve_parts(drawn[FIRST_PARTS:], self.held))
            rows = self.held[: f.shape[1]]
            gain = _gain(self._mistakes(f, rows), self._mistakes(parts / PARTS, rows, pairs))
        return gain > WORTH_IT, f

    def _solve_parts(self, drawn: Sequence[Index], held: Index) -> list[Arrays]:
        """Their machines, with f at these rows."""
        problem, probe = self.of_parts, self._take(held)
        guess = {} if problem.pairs else self.base.guess  # f0 has no pairs
        tasks = [self._part(rows, None, PARTS, probe=probe, **guess) for rows in drawn]
        return self._map_parts(tasks, replace(self.solver, loss=problem.loss, pairs=problem.pairs))

    def _look_by_parts(self, drawn: Sequence[Index], solved: Sequence[Arrays], held: Index) -> list[Arrays]:
        """f at these rows, of machines that are solved."""
        probe = self._take(held)
        tasks = [
            self._part(rows, None, PARTS, probe=probe, duals=result["duals"])
            for rows, result in zip(drawn, solved, strict=True)
        ]
        return self._map_parts(
            tasks, LookAtProbe(self.solver.kernel, self.solver.precision, self.of_parts.pairs)
        )

    def _map_parts(self, parts: Sequence[Part], task: Task) -> list[Arrays]:
        """As `_map`, of the problem of parts."""
        self.engine.keep(_table(self.of_parts))
        try:
            return self._map(parts, task)
        finally:
            self.engine.keep(_table(self.problem))

    def _compare(
        self,
        regions: Sequence[Tried],
        others: Callable[[int], Array] | None,
        judge: Judge,
        no_hope: float,
    ) -> tuple[float, Array]:
        """How much better regions are than another machine, or than f0 alone, by a judge who has looked at
        the other at the first so many of the held-out rows; and f of regions there. Only the first regions
        are looked at if these tell enough."""
        f0 = f = np.zeros((len(self.problem.signs), 0))
        gain, first = 0.0, _first(regions)
        for some in filter(None, (first, regions[len(first) :])):
            smooth, corrections = self._local(some)
            f0, f = np.hstack([f0, smooth]), np.hstack([f, smooth + corrections])
            rows = self.held[: f.shape[1]]
            own = judge(f, rows)
            gain = _gain(own, judge(f0, rows) if others is None else others(len(own)))
            if gain > CLEAR or gain <= no_hope:
                break
        return gain, f

    def _local(self, regions: Sequence[Tried]) -> tuple[Array, Array]:
        """f0 at the rows that these regions hold out, and what the regions add to it."""
        self._bring([*_rows_of(regions)])
        told = {"cache_bytes": part_share(self.context.cache_bytes, len(regions))}
        probes = [self._take(tried.held) for tried in regions]
        tasks = [
            self._part(tried.rows, self.total, len(regions), probe=probe, **self.base.message, **told)
            for tried, probe in zip(regions, probes, strict=True)
        ]
        f0 = self.base.message["base_rows"], self.base.coefficients
        values = [decide(self.kernel, probe, *f0) for probe in probes]
        results = self._map(tasks, self.solver)
        return np.hstack(values), np.hstack([result["decision"] for result in results])

    def _bring(self, rows: Sequence[Index]) -> bool:
        """Have these rows at hand, with those of f0: from far away they come together."""
        return self.problem.rows.bring(np.concatenate([*self._base_rows, *rows]))

    def _take(self, rows: Index) -> Block:
        return Table(self.problem.rows, self.problem.signs, self.problem.weights).take(rows)

    def _look(self, cells: Cells) -> Array:
        return self.problem.rows.map_rows(partial(cells.nearest, n_threads=self.context.n_threads))

    def _regions(self, look: Look) -> list[Tried]:
        """Some regions, each with its rows and those of them that are held out.

        They are the rows around some that are drawn at random, nearer to them than to the others.
        """
        rows, there_are = self.problem.rows, max(1, len(self.problem.weights) // REGION_ROWS)
        tried = min(MOST_TRIED, max(FEWEST_TRIED, there_are // TRIED_SHARE))
        count = min(there_are, tried if len(self.problem.signs) == 1 else tried // 2)
        drawn = np.sort(self.rng.choice(len(self.problem.weights), count, replace=False))
        table = look(Cells(rows[drawn].astype(np.float64)))
        found = []
        for around, inside in neighbourhoods(table, REGION_ROWS):
            out = self.rng.choice(len(inside), max(1, len(inside) // HELD_OUT), replace=False)
            within = out[out < len(inside) // LARGER]
            inner = _tried(around[: len(around) // LARGER], within) if len(within) else None
            found.append(replace(_tried(around, out), inner=inner))
        return found

    def _draw(self, count: int, size: int) -> list[Index]:
        """So many samples of the rows that are not held out, without a row in two of them."""
        stays = np.ones(len(self.problem.weights), dtype=bool)
        stays[self.held] = False
        free = np.flatnonzero(stays)
        size = max(1, min(size, len(free) // count))
        drawn = self.rng.permutation(free)[: count * size]
        return [np.sort(part) for part in np.split(drawn, count)]

    def _part(self, rows: Index, total: float | None, n_parts: int, **message: Any) -> Part:
        """A part for the engine; `total` is the weight it stands for, None its own."""
        share = part_share(self.context.cache_bytes, n_parts)
        represented = float(self.problem.weights[rows].sum()) if total is None else total
        told = {"represented": represented, "cache_bytes": share, **message}
        return Part(rows, told, min(share, most_needed(len(rows))))

    def _map(self, parts: Sequence[Part], task: Task) -> list[Arrays]:
        if self._bring([part.index for part in parts]):
            results = self.engine.map_here(task, parts, self.context.stop)
        else:
            results = self.engine.map(task, parts, None, self.context.stop)
        return [result for result in results if result is not None]

    def _losses(self, decision: Array, rows: Index) -> Array:
        """The loss of each of these rows, its problems together."""
        return self.problem.loss.of_rows(self.problem.signs[:, rows] * decision).sum(axis=0)

    def _mistakes(self, decision: Array, rows: Index, pairs: bool = False) -> Array:
        """How wrong these rows are decided: the class, or the distance from the target."""
        if self.problem.offset is not None:
            return np.mean((decision - (1 - self.problem.offset[:, rows])) ** 2, axis=0)
        return (classes_of(decision, pairs) != self.problem.codes[rows]).astype(np.float64)


def _table(problem: Problem) -> Table:
    return Table(problem.rows, problem.signs, problem.weights, problem.offset)


def _held(regions: Sequence[Tried]) -> Index:
    """The rows that these hold out."""
    return np.concatenate([tried.held for tried in regions])


def _rows_of(regions: Sequence[Tried]) -> list[Index]:
    """All rows of each, those held out as well."""
    return [np.concatenate([tried.rows, tried.held]) for tried in regions]


def _tried(rows: Index, out: Index) -> Tried:
    """These rows without some, by their places, which are held out."""
    return Tried(np.sort(np.delete(rows, out)), np.sort(rows[out]))


def _sum_of(results: Sequence[Arrays]) -> Array:
    """Of what machines have said."""
    return np.sum([result["decision"] for result in results], axis=0)


def _first(regions: Sequence[Tried]) -> Sequence[Tried]:
    """Those that are tried first."""
    return regions[: max(FEWEST_FIRST, len(regions) // FIRST_SHARE)]


def _gain(own: Array, others: Array) -> float:
    """By how much the first are smaller than the others of the same rows, in standard errors of the
    difference. A row counts once, whatever its weight: few rows that are repeated often would decide all."""
    difference = others[: len(own)] - own
    error = difference.std() / np.sqrt(len(difference))
    return float(difference.mean() / error) if error > 0 else 0.0
