"""scikit-learn's own checks of the linear machine."""

from __future__ import annotations

from collections.abc import Callable

from sklearn.utils.estimator_checks import parametrize_with_checks

from sodm import LinearODMClassifier

MACHINES = [
    LinearODMClassifier(),
    LinearODMClassifier(solver="dsvrg", n_partitions=2),
    LinearODMClassifier(solver="svrg"),
    LinearODMClassifier(solver="csvrg"),
    LinearODMClassifier(solver="dcd", lam=10.0),
    LinearODMClassifier(loss="hinge", lam=10.0),
]


@parametrize_with_checks(MACHINES)
def test_scikit_learn_checks(estimator: LinearODMClassifier, check: Callable) -> None:
    check(estimator)
