"""The trainer that solves the problem of all rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sodm.problem.problem import Problem
from sodm.solvers.certified import solve_certified
from sodm.solvers.pairs import solve_pairs
from sodm.training.context import Context
from sodm.training.trained import Trained

# The relative gap that a fit goes on to where that is cheap, for decisions that do not depend on the order of
# the rows or on the seed (benchmarks/seeds.py).
SETTLED = 1e-6


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
        alone = partial(solve_certified, offset=problem.offset, aim=min(self.tol, SETTLED))
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
