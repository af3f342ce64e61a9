"""Training in the span of landmarks: the linear problem on their features, see `sodm.trees.landmarks`.

Where the kernel values of all rows with the landmarks, k_i = k(z, x_i), can be kept, no features are made of
them: Newton's method takes them as they are (`sodm.solvers.linear_active`), for <w, F(x_i)> = <L^-T w, k_i>.
Its systems are solved by conjugate gradients, with the factored one of the rows that landmarks were chosen
from: these have features.

Of more rows features are made of a sample, and its machine is found likewise. It is nearly that of all rows,
and so is its Hessian: with that one the steps on all rows need no more than gradients,

    sum_i g_i y_i F(x_i) = L^-1 K(z, X) (g y),

products with kernel values that are never stored; in double precision, for what is large in L^-1 takes the
digits of single precision. Each step leaves of the gradient about the share by which the two Hessians differ,
the root of m over the rows of the sample.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.engines.base import Arrays, Block, Engine, Part, Slot
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.linear import Curvature, LinearProblem, LongRows, MemoryRows, RowSums, Sums
from sodm.problem.losses import OdmLoss
from sodm.problem.problem import Problem
from sodm.solvers.linear_active import newton_on_active_rows
from sodm.solvers.linear_newton import newton
from sodm.solvers.linear_result import History, LinearResult
from sodm.solvers.result import SolveResult
from sodm.training.context import Context
from sodm.training.trained import Trained
from sodm.trees.history import Record, Seconds, plain
from sodm.trees.landmarks import Landmarks
from sodm.trees.stop import LANDMARKS, TIME

Array = NDArray[np.float64]
Index = NDArray[np.intp]

KEPT = 2**29  # bytes of the kernel values, or features, of the sample
# Rows of the sample that a machine is found with at first, nearly that of all: one in so many, but no
# fewer than so many, nor than so many for a landmark.
FIRST, FIRST_ROWS, FIRST_PER_LANDMARK = 3, 8000, 8
# A machine of fewer rows for a landmark fits them better than it decides others, and regions that correct it
# would take that for the truth. Settled on ijcnn1, cod-rna, covtype and a board, see docs/regions-study.md.
ALL_ROWS_BELOW = 20
NESTED = 256  # the first landmarks, that tell where that is
PASS_ROWS = 32_768  # rows of a task of a pass over all rows
MAX_STEPS = 100
COARSE_TOL = 1e-2


class Span:
    """Machines of a problem in the span of landmarks.

    Attributes
    ----------
    sample : ndarray of int
        The rows that have features: all of them, if they are few. Those that `start` takes come first, so
        that their features are made once.
    """

    def __init__(
        self, problem: Problem, context: Context, engine: Engine, landmarks: Landmarks, tol: float
    ) -> None:
        self.problem, self.context, self.engine, self.tol = problem, context, engine, tol
        self.landmarks, self.kernel = landmarks, context.evaluator_here(problem.kernel)
        n, value = len(problem.weights), 4 if context.precision == "single" else 8
        size = KEPT // (value * len(landmarks.rows))
        self.sample = np.arange(n)
        if n > size:
            self.sample = np.sort(np.random.RandomState(context.seed).permutation(n)[:size])
        dtype = np.float32 if context.precision == "single" else np.float64
        self._kept = np.empty((len(self.sample), len(landmarks.rows)), dtype)  # of the sample, as far as
        self._made = 0  # rows of it are made
        self._started = 0  # rows that `start` took
        self._like: MemoryRows | None = None  # rows whose factored systems are begun with
        self._reference: Array | None = None  # their |grad p(0)|

    @property
    def _whole(self) -> bool:
        """Whether the sample is all rows: then kernel values are kept of it, and no features made."""
        return len(self.sample) == len(self.problem.weights)

    @property
    def _basis(self) -> Array | None:
        """What makes features of that which is kept."""
        return self.landmarks.lower if self._whole else None

    def start(self, held: Index) -> Array:
        """w of some rows of the sample, none of them held out, to a coarse tolerance.

        Landmarks are nested, so that the features of the first of them come first: the rows that they were
        chosen from have theirs, and the machine of a few features and these rows tells which side of the dead
        zone rows are on. The system there is factored once, for all that follow.
        """
        m, stays = len(self.landmarks.rows), np.ones(len(self.problem.weights), dtype=bool)
        stays[held] = False
        free = self.sample[stays[self.sample]]
        count = min(len(free), max(FIRST_ROWS, FIRST_PER_LANDMARK * m, len(free) // FIRST))
        rows, self._started = free[np.linspace(0, len(free) - 1, count).astype(np.intp)], count
        others = np.ones_like(stays)
        others[rows] = False
        self.sample = np.concatenate([rows, self.sample[others[self.sample]]])
        pool, features = self.landmarks.pool, self.landmarks.pool_features
        w, nested = np.zeros((len(self.problem.signs), m)), slice(0, NESTED)
        w[:, nested] = self._coarse(self._linear(pool, features[:, nested], stays), None, w[:, nested])
        self._like = self._linear(pool, features, stays)
        like = self._problem(self._like)
        self._like.factor(like.scale, w)
        self._reference = like.gradient_at_zero()
        return self._coarse(self._rows(count), self._basis, w)

    def to_correct(self, start: Array) -> Array:
        """w of a machine that regions may correct: of all rows of the sample, if `start` took few of them."""
        if self._started >= ALL_ROWS_BELOW * len(self.landmarks.rows):
            return start
        return self._coarse(self._rows(len(self.sample)), self._basis, start)

    def solve(self, start: Array, time_limit: float | None) -> LinearResult:
        """The machine of all rows, from the w that is given."""
        history = History(progress=self._watch, time_limit=time_limit)
        kept = self._rows(len(self.sample))
        if self._whole:
            return self._solve(kept, self._basis, start, self.tol, history)
        start = self._coarse(kept, self._basis, start)
        problem = self._problem(PassRows(self, kept, start))
        return newton(problem, start, tol=self.tol, max_iter=MAX_STEPS, history=history, use_coarse=False)

    def train(self, start: Array, time_limit: float | None, seconds: Seconds, began: float) -> Trained:
        """The machine of all rows, with what is told of it.

        Parameters
        ----------
        start : ndarray
            w to start from.
        time_limit : float or None
            Seconds that are left.
        seconds : Seconds
            Spent before.
        began : float
            When training began, on the clock of `time.monotonic`.
        """
        problem, rows, now = self.problem, self.landmarks.rows, time.perf_counter()
        found = self.solve(start, time_limit)
        seconds.solve = time.perf_counter() - now
        duals = np.zeros_like(problem.signs)
        duals[:, rows] = problem.signs[:, rows] * self.landmarks.coefficients(found.w)
        others = self.context.evaluation
        kernel = self.context.evaluator(problem.kernel)
        accuracy = None if others is None else others.accuracy(problem, kernel, duals)
        result = SolveResult(
            duals=duals,
            decision=np.zeros((len(duals), 0)),
            objective=found.objective,
            gap=found.gap,
            violation=found.gradient,
            n_iter=found.n_iter,
            converged=found.converged,
            solver=f"{found.solver}, {len(rows)} landmarks",
            n_kernel_evaluations=len(problem.weights) * len(rows),
            kernel_seconds=0.0,
            ridge_shift=0.0,
            precision=self.context.precision,
        )
        record = Record(
            level=0,
            n_partitions=1,
            n_rows=len(problem.weights),
            n_support=len(rows),
            n_iter=int(found.n_iter.max()),
            mean_iter=float(found.n_iter.mean()),
            violation=float(found.gradient.max()),
            objective=plain(found.objective),
            gap=plain(found.gap),
            estimated=False,
            changed=None,
            n_kernel_evaluations=result.n_kernel_evaluations,
            seconds=seconds,
            elapsed=time.monotonic() - began,
            part_seconds=[seconds.solve],
            accuracy=accuracy,
        )
        in_time = bool(np.all(found.converged)) or time_limit is None
        return Trained(
            result=result,
            classes=problem.classes,
            history=[record.as_dict()],
            stop_reason=LANDMARKS if in_time else TIME,
        )

    def _rows(self, count: int) -> MemoryRows:
        """The first rows of the sample: their kernel values, or features, are made where they are not yet."""
        make = self.landmarks.values if self._whole else self.landmarks.features
        make(self.kernel, self.problem.rows[self.sample[self._made : count]], self._kept[self._made : count])
        self._made = count
        return self._linear(self.sample[:count], self._kept[:count])

    def _linear(
        self, rows: Index, features: NDArray[Any], counts: NDArray[np.bool_] | None = None
    ) -> MemoryRows:
        """These rows as those of a linear problem; only some count, where it is said of each row which."""
        problem, weights = self.problem, self.problem.weights[rows]
        if counts is not None:
            weights = weights * counts[rows]
        codes, positive = problem.codes[rows].astype(np.int32), positive_classes(len(problem.signs))
        of_problem = positive, problem.loss, 0.0, self.context.threads_here
        return MemoryRows(features, codes, weights, *of_problem, like=self._like)

    def _problem(self, rows: RowSums) -> LinearProblem:
        return LinearProblem(rows, len(self.problem.signs), self.problem.loss)

    def _coarse(self, rows: MemoryRows, basis: Array | None, start: Array) -> Array:
        history = History(progress=self._watch)
        return self._solve(rows, basis, start, COARSE_TOL, history, self._reference).w

    def _solve(
        self,
        rows: MemoryRows,
        basis: Array | None,
        start: Array,
        tol: float,
        history: History,
        reference: Array | None = None,
    ) -> LinearResult:
        return newton_on_active_rows(
            self._problem(rows),
            LongRows(rows, basis=basis),
            start,
            tol=tol,
            max_iter=MAX_STEPS,
            history=history,
            reference=reference,
        )

    def _watch(self, record: dict[str, Any]) -> None:
        """Between steps: whoever wants to end the training is heard."""
        if self.context.stop is not None and self.context.stop.stopped:
            raise _core.Interrupted()
        if self.context.progress is not None:
            self.context.progress({**record, "stage": "landmarks", "rows": len(self.problem.weights)})


def positive_classes(n_problems: int) -> NDArray[np.int32]:
    """The positive class of each problem: the second of two, or each in its turn against the rest."""
    return np.arange(n_problems, dtype=np.int32) if n_problems > 1 else np.array([1], dtype=np.int32)


class PassRows:
    """All rows, with the curvature of a sample of them: a `RowSums`."""

    def __init__(self, span: Span, kept: MemoryRows, w: Array) -> None:
        problem, landmarks = span.problem, span.landmarks
        rows = np.arange(len(problem.weights))
        self.width, self.weight = len(landmarks.rows), float(problem.weights.sum())
        self._engine, self._stop = span.engine, span.context.stop
        self._parts = np.array_split(rows, -(-len(rows) // PASS_ROWS))
        assert isinstance(problem.loss, OdmLoss)
        self._task = GradientSums(problem.kernel, problem.loss)
        self._landmarks = landmarks
        more = self.weight / kept.weight  # rows that each one of the sample stands for
        self._at_zero = kept.gradient_at_zero() * more
        kept.start("gram")
        curvature = kept.evaluate(range(len(w)), w).curvature
        assert curvature is not None
        self._curvature = curvature * more

    def start(self, curvature: Curvature) -> None:
        """There is only one."""

    def evaluate(self, problems: Sequence[int], w: Array) -> Sums:
        told = {
            "points": self._landmarks.points,
            "coefficients": self._landmarks.coefficients(w),
            "problems": np.array(problems),
        }
        parts = [Part(index, told) for index in self._parts]
        loss, slopes = np.zeros(len(w)), np.zeros((len(w), self.width))
        for result in self._engine.map(self._task, parts, None, self._stop):
            assert result is not None  # there is no deadline
            loss += result["loss"]
            slopes += result["slopes"]
        return Sums(loss, self._landmarks.gradient(slopes), self._curvature[list(problems)])

    def gradient_at_zero(self) -> Array:
        return self._at_zero

    def gram_pays(self) -> bool:
        return True

    def gram_in_single(self) -> bool:
        return False

    def times(self, problems: Sequence[int], v: Array) -> Array:
        return np.einsum("pij,pj->pi", self._curvature[list(problems)], v)

    def coarse(self) -> None:
        return None

    def steppable(self) -> None:
        return None

    def long_rows(self) -> None:
        return None

    def in_memory(self) -> None:
        return None


@dataclass(frozen=True)
class GradientSums:
    """The task of a pass: the loss of its rows, and K(z, X) times half its derivative by f."""

    kernel: Kernel
    loss: OdmLoss

    def __call__(self, block: Block, message: Arrays, slot: Slot) -> Arrays:
        kernel = KernelEvaluator(self.kernel, "double", slot.n_threads)
        points = kernel.points(message["points"])
        loss, slopes = _core.landmark_sums(
            points,
            kernel.points(block.rows, like=points),
            message["coefficients"],
            np.ascontiguousarray(block.signs[message["problems"]]),
            block.weights,
            self.loss.core(1.0),
            slot.n_threads,
        )
        return {"loss": loss, "slopes": slopes}
