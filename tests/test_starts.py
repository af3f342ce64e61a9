"""Where a solve starts: from duals, or from the values of any f, whichever method is chosen."""

import numpy as np
import pytest

from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import HingeLoss, OdmLoss
from sodm.solvers.exact import solve

CASES = [
    (OdmLoss(50.0, 0.5, 0.6), "auto"),  # a ridge so large that "auto" is descent
    (OdmLoss(50.0, 0.5, 0.6), "dcd"),
    (OdmLoss(2000.0, 0.5, 0.6), "dcd"),
    (OdmLoss(2000.0, 0.5, 0.6), "newton"),
    (HingeLoss(50.0), "dcd"),
]


@pytest.mark.parametrize(("loss", "method"), CASES)
def test_a_solution_known_by_its_f_is_hardly_worked_on(loss, method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 5))
    signs = np.where(X[:, :1].T + 0.5 * rng.standard_normal((1, 900)) > 0, 1.0, -1.0)
    evaluator = KernelEvaluator(Kernel("rbf", gamma=0.2), "double")

    def run(**start):
        return solve(evaluator.source(X), signs, np.ones(900), loss, solver=method, **start)

    cold, precise = run(), run(tol=1e-9)
    if method == "auto":
        assert cold.solver == "dcd"
    warm = run(start_decision=precise.decision)
    assert np.all(warm.converged)
    assert warm.n_iter[0] <= 1
    assert cold.n_iter[0] > 1 or method == "newton"  # which takes sweeps first, all of them for one step
    assert run(start=precise.duals).n_iter[0] == 0
