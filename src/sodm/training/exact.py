"""The trainer that solves the problem of all rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sodm.problem.losses import TargetLoss
from sodm.problem.problem import Problem
from sodm.solvers.certified import solve_certified
from sodm.solvers.pairs import solve_pairs
from sodm.training.context import Context
from sodm.training.trained import Trained

# The relative gap that a fit goes on to where that is cheap, for decisions that do not depend on the order of
# the rows or on the seed (benchmarks/seeds.py). Values that have no border to cross need less: at this gap
# they are off by half a per cent of what they err by, at most.
SETTLED, SETTLED_VALUES = 1e-6, 1e-5


@dataclass(frozen=True)
class ExactTrainer:
    """One call of the solver, see `sodm.solvers.exact`.

    Attributes
    ----------
    solver : {"auto", "newton", "dcd"}
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Most Newton steps or sweeps.
    """

    solver: str
    tol: float
    max_iter: int

    def train(self, problem: Problem, context: Context) -> Trained:
        """Solve the problem."""
        if problem.pairs and problem.offset is not None:
            raise ValueError("pairs of classes have no offsets.")
        # Votes of many pairs hardly feel one of them, so that pairs are solved to `tol`.
        settled = SETTLED_VALUES if isinstance(problem.loss, TargetLoss) else SETTLED
        alone = partial(solve_certified, offset=problem.offset, aim=min(self.tol, settled))
        result = (solve_pairs if problem.pairs else alone)(
            context.evaluator(problem.kernel),
            problem.rows.gather(),
            problem.signs,
            problem.weights,
            problem.loss,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            cache_bytes=context.cache_bytes,
            seed=context.seed,
            start=problem.start,
            progress=context.progress,
            stop=context.stop,
        )
        return Trained(result, problem.classes)
