"""Checkpoints: a killed fit ends with the same machine, and a checkpoint of another fit is refused."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems import rows_and_labels

from sodm import CascadeClassifier, DCClassifier, DiPClassifier, SODMClassifier
from sodm.trees.checkpoint import NAME

SYSTEMS = {
    "SODMClassifier": (SODMClassifier, {"stop_tol": 0.0}),
    "CascadeClassifier": (CascadeClassifier, {"feedback": 1}),
    "DiPClassifier": (DiPClassifier, {"refine": True}),
    "DCClassifier": (DCClassifier, {"early": True}),
}
CHILD = """
import sys
sys.path.insert(0, {tests!r})
import sodm
from problems import rows_and_labels
X, y = rows_and_labels(3000, noise=0.8)
sodm.{name}(**{parameters!r}, checkpoint_dir={folder!r}).fit(X, y)
"""


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_killed_fit_goes_on_to_the_same_machine(name: str, tmp_path: Path) -> None:
    system, own = SYSTEMS[name]
    parameters: dict[str, Any] = {**own, "n_partitions": 16, "lam": 1e3, "random_state": 0, "n_jobs": 1}
    X, y = rows_and_labels(3000, noise=0.8)
    whole = system(**parameters).fit(X, y)
    code = CHILD.format(
        tests=str(Path(__file__).parent), name=name, parameters=parameters, folder=str(tmp_path)
    )
    child = subprocess.Popen([sys.executable, "-c", code])
    while not (tmp_path / NAME).exists():
        assert child.poll() is None
        time.sleep(0.001)
    child.kill()
    child.wait()
    resumed = system(**{**parameters, "n_jobs": 2}, checkpoint_dir=tmp_path).fit(X, y)
    assert_same(whole, resumed, X)
    # And from the end: nothing is left to do.
    again = system(**parameters, checkpoint_dir=tmp_path).fit(X, y)
    assert_same(whole, again, X)


def assert_same(one: Any, other: Any, X: np.ndarray) -> None:
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert one.stop_reason_ == other.stop_reason_
    assert [r["objective"] for r in one.history_] == [r["objective"] for r in other.history_]
    assert one.n_kernel_evaluations_ == other.n_kernel_evaluations_


def test_a_checkpoint_without_random_state_keeps_its_own(tmp_path: Path) -> None:
    X, y = rows_and_labels(600)
    first, again = (SODMClassifier(n_partitions=4, checkpoint_dir=tmp_path).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.dual_coef_, again.dual_coef_)


def test_other_data_parameters_and_files_are_refused(tmp_path: Path) -> None:
    X, y = rows_and_labels(600)
    tree = {"n_partitions": 4, "checkpoint_dir": tmp_path, "random_state": 0}
    SODMClassifier(**tree).fit(X, y)
    with pytest.raises(ValueError, match="other data: remove it, or choose another checkpoint_dir"):
        SODMClassifier(**tree).fit(X + 1e-3, y)
    with pytest.raises(ValueError, match="other data"):
        SODMClassifier(**tree).fit(X, 1 - y)
    with pytest.raises(ValueError, match="other parameters"):
        SODMClassifier(**tree, lam=5.0).fit(X, y)
    with pytest.raises(ValueError, match="other parameters"):
        DCClassifier(**tree).fit(X, y)
    with pytest.raises(ValueError, match="another random_state"):
        SODMClassifier(**{**tree, "random_state": 1}).fit(X, y)
    (tmp_path / NAME).write_bytes(b"no archive")
    with pytest.raises(ValueError, match="cannot be read"):
        SODMClassifier(**tree).fit(X, y)


def test_a_fit_that_ran_out_of_time_can_go_on(tmp_path: Path) -> None:
    X, y = rows_and_labels(2000)
    tree = {"n_partitions": 8, "stop_tol": 0.0, "random_state": 0}
    SODMClassifier(**tree, checkpoint_dir=tmp_path, time_limit=0.05).fit(X, y)
    resumed = SODMClassifier(**tree, checkpoint_dir=tmp_path).fit(X, y)
    assert_same(SODMClassifier(**tree).fit(X, y), resumed, X)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
