"""What moves up the tree: which rows the parts of the next level have, and where they start.

    Concatenate     all rows of p parts, their duals one after the other            SODM, SSVM
    KeepSupport     the support vectors of p parts, optionally in several passes    Cascade, DiP
    Recluster       all rows, clustered anew on the support vectors                 DC

Duals of a part are those of its own problem, in which `represented` is the weight W (see `local`). Two parts
that represent R each and see the same margins merge to one that represents 2 R; KKT (g_i = lam s_i slack_i /
(R (1-theta)^2)) says that its duals are half of theirs. That is the scale of the start, R_child / R_merged,
and of a model made of the parts of a level: f = sum_k R_k f_k / sum_k R_k.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.engines.base import Arrays
from sodm.partition import ClusterPartitioner
from sodm.problem.problem import Problem
from sodm.problem.row_set import Index
from sodm.training.context import Context

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """A part to be solved: its rows, the weight it represents, and where it starts."""

    index: Index
    represented: float
    start: Arrays = field(default_factory=dict)


@dataclass(frozen=True)
class Solved:
    """A part that was solved: duals of its own problem, shape (n_problems, m)."""

    index: Index
    represented: float
    duals: Array

    @property
    def support(self) -> NDArray[np.bool_]:
        """Which of its rows are support vectors."""
        return np.any(self.duals != 0, axis=0)


class MergeRule(ABC):
    """How a level follows from the one below. A rule serves one fit."""

    def prepare(self, problem: Problem, context: Context, branching: int) -> None:
        """Be told what the fit is about."""
        self.problem, self.context, self.branching = problem, context, branching
        self.total = float(problem.weights.sum())

    def begin(self, parts: Sequence[Index]) -> list[Group]:
        """The parts of the first level."""
        self.first = list(parts)
        return [Group(index, self.weight_of(index)) for index in parts]

    def weight_of(self, index: Index) -> float:
        """What a part of these rows represents at the first level: itself."""
        return float(self.problem.weights[index].sum())

    @abstractmethod
    def next(self, solved: Sequence[Solved], level: int) -> list[Group] | None:
        """The parts of the next level, or None at the end."""

    def model(self, solved: Sequence[Solved]) -> Array:
        """Duals of the machine that the parts make together, shape (n_problems, n).

        The parts' machines are averaged by what they represent; some parts may be missing.
        """
        duals = np.zeros_like(self.problem.signs)
        for part, share in zip(solved, self.shares(solved), strict=True):
            duals[:, part.index] += part.duals * share
        return duals

    def shares(self, solved: Sequence[Solved]) -> list[float]:
        """What the machine of each part counts for in theirs together."""
        seen = sum(part.represented for part in solved)
        return [part.represented / seen for part in solved]


class Concatenate(MergeRule):
    """All instances move up.

    Parameters
    ----------
    form : {"scaled", "lift", "literal"}
        Where a merged part starts: from the duals of its parts with the scale of the merged problem; from
        what the optimality conditions say of the averaged f of its parts; or from the duals as they are, as
        the paper prints it.
    """

    def __init__(self, form: str = "scaled") -> None:
        self.form = form

    def next(self, solved: Sequence[Solved], level: int) -> list[Group] | None:
        if len(solved) <= self.branching:
            return None
        return [self._merge(solved[first:last]) for first, last in bundles(len(solved), self.branching)]

    def _merge(self, parts: Sequence[Solved]) -> Group:
        represented = sum(part.represented for part in parts)
        scales = [1.0 if self.form == "literal" else part.represented / represented for part in parts]
        start = np.hstack([part.duals * scale for part, scale in zip(parts, scales, strict=True)])
        index = np.concatenate([part.index for part in parts])
        return Group(index, represented, {"start": start, "lift": self.form == "lift"})


class KeepSupport(MergeRule):
    """Support vectors move up, two parts or more at a time, until there is one part.

    Parameters
    ----------
    whole : bool
        Whether each part is a piece of the one dual problem of all rows (Graf et al., 2004: the same cost per
        row everywhere), or a machine of its own.
    levels : {"all", "two"}
        Go up by the branching number, or from the first level to one part at once.
    feedback : int
        Passes after the first: the support vectors found join each part of the first level, and so on up.
        With `whole`, every pass brings the objective down until the optimum is reached, for a row that
        violates the optimality conditions does so in its part.
    """

    def __init__(self, whole: bool, levels: str = "all", feedback: int = 0) -> None:
        self.whole, self.levels, self.feedback = whole, levels, feedback

    def weight_of(self, index: Index) -> float:
        return self.total if self.whole else super().weight_of(index)

    def next(self, solved: Sequence[Solved], level: int) -> list[Group] | None:
        if len(solved) > 1:
            step = len(solved) if self.levels == "two" else self.branching
            return [self._merge(solved[first:last]) for first, last in bundles(len(solved), step)]
        passes = (level + 1) // self._depth()
        if passes > self.feedback or len(self.first) == 1:
            return None
        top, support = solved[0], solved[0].support
        return [self._feed(rows, top.index[support], top.duals[:, support]) for rows in self.first]

    def _depth(self) -> int:
        """Levels of one pass."""
        depth, n = 1, len(self.first)
        while n > 1:
            depth, n = depth + 1, 1 if self.levels == "two" else -(-n // self.branching)
        return depth

    def _merge(self, parts: Sequence[Solved]) -> Group:
        represented = self.total if self.whole else sum(part.represented for part in parts)
        index = np.concatenate([part.index[part.support] for part in parts])
        duals = np.hstack([part.duals[:, part.support] / len(parts) for part in parts])
        index, first = np.unique(index, return_index=True)  # fed back rows come from several parts
        return Group(index, represented, {"start": duals[:, first]} if len(index) else {})

    def _feed(self, rows: Index, support: Index, duals: Array) -> Group:
        index = np.union1d(rows, support)
        start = np.zeros((len(duals), len(index)))
        start[:, np.searchsorted(index, support)] = duals
        return Group(index, self.total, {"start": start})


class Recluster(MergeRule):
    """Parts are clusters, pieces of the one dual problem; at each level fewer, found on the support vectors.

    After the last level of clusters the support vectors alone are solved together.

    Parameters
    ----------
    partitioner : ClusterPartitioner
        The one that made the first level; it keeps the clusters of the last.
    early : bool
        End with the first clusters, for prediction by the nearest of them.
    """

    def __init__(self, partitioner: ClusterPartitioner, early: bool = False) -> None:
        self.partitioner, self.early = partitioner, early

    def weight_of(self, index: Index) -> float:
        return self.total

    def next(self, solved: Sequence[Solved], level: int) -> list[Group] | None:
        duals = self.model(solved)
        support = np.flatnonzero(np.any(duals != 0, axis=0))
        if len(solved) == 1 or len(support) == 0 or self.early:
            return None
        n_clusters = -(-len(solved) // self.branching)
        if len(solved) <= self.branching:
            return [self._piece(support, duals)]
        kernel, seed = self.context.evaluator(self.problem.kernel), self.context.seed + level + 1
        self.partitioner.cluster(self.problem.rows, n_clusters, kernel, seed, rows=support)
        clusters = self.partitioner.assign(self.problem.rows)
        return [self._piece(rows, duals) for rows in rows_of(clusters, n_clusters)]

    def _piece(self, rows: Index, duals: Array) -> Group:
        return Group(rows, self.total, {"start": duals[:, rows]})

    def shares(self, solved: Sequence[Solved]) -> list[float]:
        """All of each: far clusters hardly see each other, so f is the sum of theirs."""
        return [1.0] * len(solved)


def bundles(n: int, size: int) -> list[tuple[int, int]]:
    """0..n-1 in runs of at most `size`, their lengths as equal as can be.

    Examples
    --------
    >>> bundles(7, 3)
    [(0, 3), (3, 5), (5, 7)]
    """
    count = -(-n // size)
    bounds = [-(-n * k // count) for k in range(count + 1)]
    return list(pairwise(bounds))


def levels_above(n_parts: int, branching: int) -> int:
    """How many levels follow one of so many parts, if every `branching` are merged until no more are left.

    Examples
    --------
    >>> [levels_above(n, 2) for n in (2, 3, 16)], levels_above(9, 3)
    ([0, 1, 3], 1)
    """
    levels = 0
    while n_parts > branching:
        n_parts, levels = -(-n_parts // branching), levels + 1
    return levels


def rows_of(assignment: NDArray[Any], n_parts: int) -> list[Index]:
    """The row numbers of each part, in order; parts without rows are left out."""
    order = np.argsort(assignment, kind="stable")
    pieces = np.split(order, np.cumsum(np.bincount(assignment, minlength=n_parts))[:-1])
    return [piece for piece in pieces if len(piece)]
