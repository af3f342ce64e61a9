"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sodm import (
    CascadeClassifier,
    DCClassifier,
    DiPClassifier,
    ODMClassifier,
    ODMClassifierCV,
    SODMClassifier,
)

MACHINES = [
    ODMClassifier(),
    ODMClassifier(loss="hinge"),
    ODMClassifier(kernel="precomputed", fit_intercept=True),
    SODMClassifier(n_partitions=2, fit_intercept=True),
    CascadeClassifier(n_partitions=2, feedback=1),
    DiPClassifier(n_partitions=2),
    DCClassifier(n_partitions=2, early=True),
    ODMClassifierCV(gammas=[1.0], lams=[10.0, 1000.0]),
]
OTHER_SETTINGS = [
    ODMClassifier(precision="double"),
    ODMClassifier(fit_intercept=True),
    ODMClassifier(kernel="laplacian"),
    ODMClassifier(kernel="poly", coef0=1.0),
    ODMClassifier(kernel="linear", fit_intercept=True),
    ODMClassifier(kernel="linear"),
    SODMClassifier(),
    SODMClassifier(n_partitions=4, loss="hinge", stop_tol=0),
    SODMClassifier(n_partitions=2, kernel="precomputed", fit_intercept=True),
    DCClassifier(n_partitions=2),
]


def exclusions(machine: ODMClassifier) -> dict[str, str]:
    """The checks that are not to pass, and why."""
    if isinstance(machine, ODMClassifierCV):
        why = "repeated rows fall into other folds than one row with their weight"
        return {
            "check_sample_weight_equivalence_on_dense_data": why,
            "check_sample_weight_equivalence_on_sparse_data": why,
            "check_class_weight_classifiers": "asks that one class be predicted nearly everywhere, while the "
            "search looks for the lam that has most rows right",
        }
    if machine.kernel == "linear" and machine.fit_intercept is not True:
        return {
            "check_class_weight_classifiers": "asks that one class be predicted nearly everywhere, which a "
            "plane through the origin cannot do; with fit_intercept=True the check passes"
        }
    return {}


@parametrize_with_checks(MACHINES, expected_failed_checks=exclusions)
def test_scikit_learn_checks(estimator: ODMClassifier, check: Callable) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHER_SETTINGS, expected_failed_checks=exclusions)
def test_scikit_learn_checks_of_other_settings(estimator: ODMClassifier, check: Callable) -> None:
    check(estimator)
