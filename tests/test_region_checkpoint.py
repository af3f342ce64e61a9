"""Checkpoints of regions: what is finished is not solved again, and the machine is the same, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sodm import SODMClassifier
from sodm.engines.base import Part
from sodm.engines.threads import ThreadEngine
from sodm.trees import region_checkpoint, trial, two_scale

SETTINGS: dict[str, Any] = {"gamma": 100.0, "lam": 3e3, "random_state": 0, "n_jobs": 2}


def board(n: int, seed: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.RandomState(seed).rand(n, 2)
    return X, np.floor(12 * X).astype(int).sum(axis=1) % classes


class Counted:
    """How many parts engines are given in all; the call to `map` of this number is interrupted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, interrupted: int | None = None) -> None:
        self.parts, self.calls = 0, 0
        plain = ThreadEngine.map

        def counting(engine: ThreadEngine, task: Any, parts: Sequence[Part], *rest: Any) -> Any:
            self.calls += 1
            if self.calls == interrupted:
                raise KeyboardInterrupt
            self.parts += len(parts)
            return plain(engine, task, parts, *rest)

        monkeypatch.setattr(ThreadEngine, "map", counting)


def assert_same(one: SODMClassifier, other: SODMClassifier) -> None:
    query = board(500, 1)[0]
    assert np.array_equal(one.decision_function(query), other.decision_function(query))
    assert one.stop_reason_ == other.stop_reason_ == "regions"
    assert one.n_kernel_evaluations_ == other.n_kernel_evaluations_
    for name in ("objective", "gap", "n_partitions", "n_support", "n_iter", "violation"):
        assert one.history_[0][name] == other.history_[0][name]


@pytest.mark.parametrize(("classes", "regions"), [(2, 12), (3, 12), (2, "auto")])
def test_an_interrupted_fit_goes_on(
    classes: int, regions: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_scale, "SAVED_TOGETHER", 2)
    if regions == "auto":  # the trial has them four times as large: 2,000 rows
        for module in (trial, two_scale):
            monkeypatch.setattr(module, "REGION_ROWS", 500)
        monkeypatch.setattr(trial.Trial, "_still_learn", lambda *args: True)
    X, y = board(11_000 if regions == "auto" else 4000, 0, classes)
    whole = SODMClassifier(regions=regions, **SETTINGS).fit(X, y)
    before_regions = 1  # f0; or regions of the trial, where f0 is the machine of landmarks
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        Counted(patch, before_regions + 3)
        SODMClassifier(regions=regions, checkpoint_dir=tmp_path, **SETTINGS).fit(X, y)
    counted = Counted(monkeypatch)
    other = {**SETTINGS, "n_jobs": 1}
    resumed = SODMClassifier(regions=regions, checkpoint_dir=tmp_path, **other).fit(X, y)
    assert counted.parts == whole.history_[0]["n_partitions"] - 4  # no trial, no f0, no finished region
    assert_same(whole, resumed)
    counted.parts = 0
    assert_same(whole, SODMClassifier(regions=regions, checkpoint_dir=tmp_path, **SETTINGS).fit(X, y))
    assert counted.parts == 0  # nothing was left to do


def test_a_fit_that_ran_out_of_time_goes_on(tmp_path: Path) -> None:
    X, y = board(4000, 0)
    first = SODMClassifier(regions=12, time_limit=0.0, checkpoint_dir=tmp_path, **SETTINGS).fit(X, y)
    assert first.stop_reason_ == "time limit"
    resumed = SODMClassifier(regions=12, checkpoint_dir=tmp_path, **SETTINGS).fit(X, y)
    assert_same(SODMClassifier(regions=12, **SETTINGS).fit(X, y), resumed)
    assert resumed.history_[0]["seconds"]["checkpoint"] > 0


def test_regions_of_another_fit_are_refused(tmp_path: Path) -> None:
    X, y = board(2000, 0)
    kept = {"regions": 4, "checkpoint_dir": tmp_path, **SETTINGS}
    SODMClassifier(**kept).fit(X, y)
    with pytest.raises(ValueError, match="other data: remove it, or choose another checkpoint_dir"):
        SODMClassifier(**kept).fit(X + 1e-3, y)
    with pytest.raises(ValueError, match="other parameters"):
        SODMClassifier(**{**kept, "lam": 5.0}).fit(X, y)
    with pytest.raises(ValueError, match="another random_state"):
        SODMClassifier(**{**kept, "random_state": 1}).fit(X, y)
    (tmp_path / region_checkpoint.REGIONS.format(0)).write_bytes(b"no archive")
    with pytest.raises(ValueError, match="cannot be read"):
        SODMClassifier(**kept).fit(X, y)


def test_where_the_trial_finds_none_the_levels_are_kept(tmp_path: Path) -> None:
    rng = np.random.RandomState(5)
    X = rng.randn(11_000, 5)
    y = X[:, 0] + 2 * rng.randn(len(X)) > 0  # smooth and noisy
    kept = {"gamma": 0.5, "lam": 1e4, "random_state": 0, "checkpoint_dir": tmp_path}
    first, again = (SODMClassifier(**kept).fit(X, y) for _ in range(2))
    assert first.stop_reason_ == again.stop_reason_ != "regions"
    assert np.array_equal(first.dual_coef_, again.dual_coef_)
