"""scikit-learn's own checks of the linear machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sodm import LinearODMClassifier

# Some checks compare fits to seven digits: the methods that only converge need a small tol and time for it.
MACHINES = [
    LinearODMClassifier(),
    LinearODMClassifier(fit_intercept=False),
]
OTHER_SOLVERS = [
    LinearODMClassifier(solver="dcd", lam=1.0, theta=0.3, tol=1e-12),
    LinearODMClassifier(loss="hinge", lam=1.0, tol=1e-12),
    LinearODMClassifier(solver="svrg", lam=1.0, theta=0.3, tol=1e-11, epochs=3000),
    LinearODMClassifier(solver="dsvrg", lam=1.0, theta=0.3, tol=1e-11, epochs=3000, n_partitions=2),
    LinearODMClassifier(solver="csvrg", lam=1.0, theta=0.3, tol=1e-11, epochs=3000, radius=1e-9),
]


def exclusions(machine: LinearODMClassifier) -> dict[str, str]:
    """The only check that is not to pass, and why."""
    if machine.fit_intercept:
        return {}
    return {
        "check_class_weight_classifiers": "asks that one class be predicted nearly everywhere, which a plane "
        "through the origin cannot do; with fit_intercept=True, the default, the check passes"
    }


@parametrize_with_checks(MACHINES, expected_failed_checks=exclusions)
def test_scikit_learn_checks(estimator: LinearODMClassifier, check: Callable) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHER_SOLVERS)
def test_scikit_learn_checks_of_other_solvers(estimator: LinearODMClassifier, check: Callable) -> None:
    check(estimator)
