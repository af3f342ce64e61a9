"""Checkpoints: a killed fit ends with the same machine, and a checkpoint of another fit is refused."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems import rows_and_labels
from sklearn.metrics.pairwise import chi2_kernel, polynomial_kernel

from sodm import CascadeClassifier, DCClassifier, DiPClassifier, SODMClassifier
from sodm.trees.checkpoint import NAME
from sodm.trees.fingerprint import fingerprint

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


def test_a_checkpoint_without_random_state(tmp_path: Path) -> None:
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


SCALE = 1.0


def kernel(A: Any, B: Any) -> Any:
    return np.exp(-SCALE * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def use_linear_kernel(A: Any, B: Any) -> Any:
    return A @ B.T


def make(power: int) -> Any:
    def closure(A: Any, B: Any) -> Any:
        return (A @ B.T + 1.0) ** power

    return closure


class Callable:
    def __init__(self, power: int) -> None:
        self.power = power

    def __call__(self, A: Any, B: Any) -> Any:
        return (A @ B.T + 1.0) ** self.power


TREE: dict[str, Any] = {"n_partitions": 4, "lam": 100.0, "stop_tol": 0.0}


@pytest.mark.parametrize(
    "make_kernel", [make, Callable, lambda power: partial(polynomial_kernel, degree=power)]
)
def test_functions_that_cannot_be_told_apart_are_not_resumed(make_kernel: Any, tmp_path: Path) -> None:
    X, y = rows_and_labels(400)
    with pytest.warns(UserWarning, match="kernel cannot be told from another function"):
        SODMClassifier(**TREE, kernel=make_kernel(1), checkpoint_dir=tmp_path).fit(X, y)
    with pytest.warns(UserWarning, match="starts anew, without the checkpoint in"):
        second = SODMClassifier(**TREE, kernel=make_kernel(2), checkpoint_dir=tmp_path).fit(X, y)
    fresh = SODMClassifier(**TREE, kernel=make_kernel(2)).fit(X, y)
    np.testing.assert_array_equal(second.dual_coef_, fresh.dual_coef_)
    np.testing.assert_array_equal(second.decision_function(X), fresh.decision_function(X))


def test_functions_of_a_module_are_told_by_what_they_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: Any
) -> None:
    X, y = rows_and_labels(400)
    tree = {**TREE, "checkpoint_dir": tmp_path}
    first = SODMClassifier(**tree, kernel=kernel).fit(X, y)
    seconds = first.history_[0]["seconds"]["solve"]
    again = SODMClassifier(**tree, kernel=kernel).fit(X, y)
    assert again.history_[0]["seconds"]["solve"] == seconds  # it was not solved again
    with pytest.raises(ValueError, match="other parameters"):
        SODMClassifier(**tree, kernel=use_linear_kernel).fit(X, y)
    monkeypatch.setitem(globals(), "SCALE", 2.0)  # the same code, another kernel
    with pytest.raises(ValueError, match="other parameters"):
        SODMClassifier(**tree, kernel=kernel).fit(X, y)
    assert not [w for w in recwarn if "cannot be told" in str(w.message)]


def test_fingerprints() -> None:
    def told(function: Any) -> str | None:
        digest, untold = fingerprint({"kernel": function})
        return None if untold else digest

    namespaces: list[dict[str, Any]] = []
    for body in ("A @ B.T", "A @ B.T + 1", "A @ B.T", "helper(A) @ B.T", "B.T if A is B else 2 * A @ B.T"):
        names: dict[str, Any] = {"np": np, "__name__": "somewhere", "helper": lambda A: A}
        exec(f"def k(A, B, shift=1.0):\n    return {body}", names)
        namespaces.append(names)
    one, other, same, with_lambda, third = (told(names["k"]) for names in namespaces)
    assert one == same and len({one, other, third}) == 3 and None not in (one, other, third)
    assert with_lambda is None  # it calls what cannot be told
    namespaces[0]["k"].__defaults__ = (2.0,)
    assert told(namespaces[0]["k"]) not in (None, one)
    assert None not in (told(chi2_kernel), told(polynomial_kernel))
    assert told(chi2_kernel) != told(polynomial_kernel)
    for untellable in (
        lambda A, B: A,
        make(2),
        Callable(2),
        partial(chi2_kernel, gamma=2.0),
        np.dot.__call__,
    ):
        assert told(untellable) is None
