"""Small problems of two classes, many at once: one call of the core, one thread each, with certificates.

The classes of the rows are laid out as `sodm.problem.pairs` says; a single problem of two classes is a batch
of one pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.evaluator import KernelEvaluator, Source
from sodm.problem.losses import Loss, TargetLoss
from sodm.problem.pairs import codes_of
from sodm.problem.row_types import Rows, is_sparse
from sodm.solvers.exact import core_loss, doubles, violation_tolerance
from sodm.solvers.result import SolveResult
from sodm.solvers.rounding import rounding_of_diagonal

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MOST_BYTES = (
    1000 << 20
)  # of kernel values: what is small must not depend on the memory of a machine that has more
AT_ONCE = 8  # pairs side by side, at most: each may keep this part of the memory
HEADROOM = 0.9  # of the tolerance, for the solver: the certificate adds what rounding may have hidden
WORTH_THREADS = 2**20  # kernel values of all machines: fewer are done before a second thread is awake
MANY_FEATURES = 64  # with so many, kernel values are cheaper to keep than to compute again for each pair


@dataclass(frozen=True)
class PairBatch:
    """Small pairs of classes on the same rows, solved by one call of the core.

    Attributes
    ----------
    evaluator : KernelEvaluator
    rows : ndarray or CSR matrix
        For a precomputed kernel, its matrix.
    signs : ndarray, shape (n_classes - 1, n)
        As `sodm.problem.pairs` lays them out; those of one problem of two classes are of this form too.
    weights : ndarray, shape (n,)
    loss : OdmLoss or HingeLoss
        Of all rows.
    """

    evaluator: KernelEvaluator
    rows: Rows
    signs: Array
    weights: Array
    loss: Loss

    @cached_property
    def codes(self) -> Index:
        """The class of each row."""
        return codes_of(self.signs)

    @cached_property
    def counts(self) -> Index:
        """How many rows each class has."""
        return np.bincount(self.codes, minlength=len(self.signs) + 1)

    def solve(
        self,
        pairs: Index,
        *,
        solver: str,
        tol: float,
        max_iter: int,
        cache_bytes: int,
        seed: int,
        start: Array | None = None,
        start_decision: Array | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
        stop: _core.StopToken | None = None,
        certified: bool = True,
        violation: float | None = None,
        aim: float | None = None,
    ) -> tuple[SolveResult, Array]:
        """Solve some pairs, and say of each what was added to its kernel's diagonal."""
        cache_bytes = min(cache_bytes, MOST_BYTES)
        if len(pairs) == 0:
            return self._nothing(), np.zeros(0)
        if isinstance(self.loss, TargetLoss):
            raise ValueError("targets are no classes.")
        evaluator, source, exact = self._sources(certified)
        work = int(np.square(self.counts[pairs].sum(axis=1)).sum())
        own = HEADROOM * tol if certified else tol
        share = self._shares(pairs, cache_bytes)
        options = _core.SolveOptions(
            solver,
            own,
            violation_tolerance(own) if violation is None else violation,
            max_iter,
            cache_bytes // ((2 if share else 1) * AT_ONCE),
            seed,
            min(evaluator.n_threads, AT_ONCE, len(pairs)) if work >= WORTH_THREADS else 1,
            0.0 if aim is None else aim,
            progress,
            stop,
        )
        result = _core.solve_pairs(
            source,
            exact,
            self.codes,
            len(self.signs) + 1,
            np.ascontiguousarray(pairs),
            doubles(self.weights),
            core_loss(self.loss),
            options,
            tol,
            violation_tolerance(tol),
            share,
            doubles(start),
            doubles(start_decision),
        )
        return SolveResult.of_core(result, self.signs.shape, evaluator.precision), result.shift

    def _nothing(self) -> SolveResult:
        """What is known where no pair was solved."""
        none, zeros = np.zeros(0), np.zeros_like(self.signs)
        flags, counts = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int32)
        precision = self.evaluator.precision
        return SolveResult(zeros, zeros.copy(), none, none, none, counts, flags, "", 0, 0.0, 0.0, precision)

    def _sources(self, certified: bool) -> tuple[KernelEvaluator, Source, Callable[[], Source] | None]:
        """Where kernel values come from, and what makes the source of those that certificates ask for."""
        evaluator, rows = self.evaluator, self.rows
        source = evaluator.source(rows)
        if not certified:
            return evaluator, source, None
        if evaluator.precision == "double":
            return evaluator, source, lambda: source
        double = evaluator.in_double()
        ridge = float(self.loss.ridges(self.weights)[0].min())
        if not 0 < ridge < rounding_of_diagonal(evaluator, source, rows):
            return evaluator, source, lambda: double.source(rows)
        # K + D differs from K by less than K is known to: no method would get anywhere.
        exact = double.source(rows)
        return double, exact, lambda: exact

    def _shares(self, pairs: Index, cache_bytes: int) -> bool:
        """Whether kernel values within a class are to be kept for all its pairs, in half of the memory."""
        n = self.signs.shape[1]
        largest = int(self.counts[pairs].sum(axis=1).max())  # of each pair that is solved, all its values
        size = 8 if self.evaluator.precision == "double" else 4
        kept = size * (int(np.square(self.counts).sum()) + AT_ONCE * largest**2)
        if len(pairs) < 2 or self.evaluator.precomputed or kept > cache_bytes // 2:
            return False
        if not self.evaluator.kernel.compiled:
            return True
        if is_sparse(self.rows):
            return bool(self.rows.nnz >= MANY_FEATURES * n)
        return bool(self.rows.shape[1] >= MANY_FEATURES)


def most_rows(evaluator: KernelEvaluator, rows: Rows, cache_bytes: int) -> int:
    """How many of these rows a small problem may have: its kernel values, and all rows in double, fit."""
    cache_bytes = min(cache_bytes, MOST_BYTES)
    size = 8 if evaluator.precision == "double" else 4
    values = 0  # of a kernel that is given nothing is copied
    if evaluator.kernel.compiled:
        values = rows.nnz if is_sparse(rows) else rows.size
    return isqrt(cache_bytes // AT_ONCE // size) if 8 * values <= cache_bytes // 4 else 0
