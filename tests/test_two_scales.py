"""Two scales: regions that correct an average of few machines."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import sodm
from sodm import ODMClassifier, SODMClassifier
from sodm.engines.base import Block
from sodm.model.onnx import to_onnx
from sodm.partition.cells import GivenUp, find_cells, sample_for
from sodm.problem.cells import BORDER, Cells, members_of
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss
from sodm.trees import local, trial, two_scale

RNG = np.random.RandomState(0)


def board(n: int, seed: int, classes: int = 2, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A chess board of 12 x 12 fields: what a row is, only near rows tell."""
    rng = np.random.RandomState(seed)
    X = rng.rand(n, 2)
    y = np.floor(12 * X).astype(int).sum(axis=1) % classes
    return X, np.where(rng.rand(n) < noise, (y + 1) % classes, y)


SETTINGS = {"gamma": 100.0, "lam": 3e3, "random_state": 0, "n_jobs": 2}


@pytest.fixture(scope="module")
def machine() -> SODMClassifier:
    return SODMClassifier(regions=12, **SETTINGS).fit(*board(6000, 0))


def test_regions_learn_what_an_average_does_not(machine: SODMClassifier) -> None:
    X, y = board(4000, 1)
    average = SODMClassifier(regions=None, n_partitions=32, stop_tol=1.0, **SETTINGS).fit(*board(6000, 0))
    assert machine.stop_reason_ == "regions" and machine.history_[0]["n_partitions"] >= 12
    assert machine.score(X, y) > average.score(X, y) + 0.005
    assert machine.dual_gap_ <= 1e-2


def test_two_scales_are_the_solution_of_each_region() -> None:
    """In one region with nothing to blend, f0 + f solves the problem with f0 as offset."""
    X, y = board(600, 2)
    machine = SODMClassifier(regions=1, precision="double", tol=1e-9, gamma=5.0, lam=300.0).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    first, last = machine._machines.bounds[0], machine._machines.bounds[1]
    own = machine._machines.members[first:last]
    duals = np.zeros(len(X))
    duals[machine.support_[own]] = (
        machine._machines.coefficients[0, first:last] * signs[machine.support_[own]]
    )
    margins = signs * machine.decision_function(X)
    low = len(X) * (1 - machine.theta) ** 2 / machine.lam
    below, above = 1 - machine.theta - margins, margins - 1 - machine.theta
    expected = np.where(below > 0, below / low, np.where(above > 0, -above * machine.upsilon / low, 0.0))
    np.testing.assert_allclose(duals, expected, atol=0.05 * np.abs(expected).max())


def test_a_row_alone_is_decided_as_in_the_batch(machine: SODMClassifier) -> None:
    X, _ = board(300, 3)
    batch = machine.decision_function(X)
    alone = np.concatenate([machine.decision_function(X[k : k + 1]) for k in range(0, 300, 7)])
    assert np.array_equal(batch[::7], alone)


def test_threads_and_the_order_of_rows_change_nothing(machine: SODMClassifier) -> None:
    X, y = board(6000, 0)
    query, order = board(500, 4)[0], np.random.RandomState(1).permutation(len(X))
    expected = machine.decision_function(query)
    for jobs, rows in ((1, np.arange(len(X))), (3, order)):
        other = SODMClassifier(regions=12, **{**SETTINGS, "n_jobs": jobs}).fit(X[rows], y[rows])
        assert np.array_equal(other.decision_function(query), expected)


def test_a_warm_start_does_not_take_the_average_for_what_regions_say() -> None:
    X, y = board(3000, 5)
    machine = SODMClassifier(regions=4, warm_start=True, **SETTINGS).fit(X, y)
    first, decided = machine.n_kernel_evaluations_, machine.decision_function(X)
    assert machine.fit(X, y).n_kernel_evaluations_ <= first
    np.testing.assert_array_equal(machine.decision_function(X), decided)


@pytest.mark.parametrize(
    ("gamma", "classes", "guessed"), [(0.5, 2, True), (500.0, 2, False), (0.5, 3, False)]
)
def test_regions_start_from_f0_where_the_kernel_is_smooth(
    gamma: float, classes: int, guessed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newton's steps from a guess are for one machine whose rows see each other; sweeps for all else."""
    seen, solve = [], local.solve

    def recorded(*problem: Any, **options: Any) -> Any:
        seen.append((options["offset"] is not None, options["start_decision"] is not None))
        return solve(*problem, **options)

    monkeypatch.setattr(local, "solve", recorded)
    X, y = board(3000, 11, classes=classes)
    SODMClassifier(regions=3, **{**SETTINGS, "gamma": gamma}).fit(X, y)
    starts = [guess for corrects, guess in seen if corrects]
    assert len(starts) >= 3 and set(starts) == {guessed}


def test_the_trial_finds_regions_where_they_help_and_none_where_they_do_not() -> None:
    X, y = board(11_000, 0)
    intricate = SODMClassifier(**SETTINGS).fit(X, y)
    assert intricate.stop_reason_ == "regions"
    rng = np.random.RandomState(5)
    X = rng.randn(11_000, 5)
    y = X[:, 0] + 2 * rng.randn(len(X)) > 0  # smooth and noisy
    smooth = SODMClassifier(gamma=0.5, lam=1e4, random_state=0).fit(X, y)
    assert smooth.stop_reason_ != "regions"
    few = SODMClassifier(**SETTINGS).fit(*board(3000, 0))
    assert few.stop_reason_ == "exact"


@pytest.mark.parametrize(
    ("clear", "size", "looked_at"),
    # Then regions of a fourth of the rows as well, the first of them first.
    [(-1e9, 2000, [4, 4, 1, 1]), (1e9, 2000, [4, 1, 4, 1]), (1e9, 50, [6, 21, 6, 21])],
)
def test_the_trial_ends_with_the_first_regions_where_these_tell_enough(
    clear: float, size: int, looked_at: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """11,000 rows are five regions, or 220, of which one in eight is tried: any gain is clear, or none."""
    seen, local_values = [], trial.Trial._local
    monkeypatch.setattr(trial, "REGION_ROWS", size)
    monkeypatch.setattr(trial, "CLEAR", clear)
    monkeypatch.setattr(trial.Trial, "_local", lambda self, r: seen.append(len(r)) or local_values(self, r))
    machine = SODMClassifier(**SETTINGS).fit(*board(11_000, 0))
    assert seen == looked_at and (size == 50 or machine.stop_reason_ == "regions")


def test_regions_that_go_on_learning_get_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parity of three signs among eight features: near rows alone do not tell enough."""
    for module in (trial, two_scale):
        monkeypatch.setattr(module, "REGION_ROWS", 600)
    monkeypatch.setattr(trial, "PART_ROWS", 600)
    rng = np.random.default_rng(0)
    X = rng.random((16_000, 8))
    y = (X[:, :3] > 0.5).sum(axis=1) % 2
    train, test = slice(12_000), slice(12_000, None)
    settings = {"gamma": 2.0, "lam": 1e5, "theta": 0.9, "random_state": 0}
    larger = SODMClassifier(**settings).fit(X[train], y[train])
    monkeypatch.setattr(trial, "STILL_LEARNS", 0.0)
    usual = SODMClassifier(**settings).fit(X[train], y[train])
    assert usual.stop_reason_ == larger.stop_reason_ == "regions"
    assert 2.5 * larger.history_[0]["n_partitions"] < usual.history_[0]["n_partitions"]
    assert larger.score(X[test], y[test]) > usual.score(X[test], y[test]) + 0.01


@pytest.mark.parametrize("classes", [2, 3])
def test_parts_say_the_same_of_held_out_rows_at_once_or_later(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "CLEAR", 1e9)
    monkeypatch.setattr(trial, "REGION_ROWS", 400)
    monkeypatch.setattr(trial.Trial, "_still_learn", lambda *args: False)
    judged: list[tuple[np.ndarray, np.ndarray]] = []
    gain = trial._gain
    monkeypatch.setattr(trial, "_gain", lambda *both: judged.append(both) or gain(*both))
    X, y = board(11_000, 0, classes, noise=0.1)
    SODMClassifier(**SETTINGS).fit(X, y)
    in_steps = [both for both in judged if len(both[0]) == len(judged[-1][0])]
    assert len(judged) > len(in_steps)
    judged.clear()
    monkeypatch.setattr(trial, "_first", lambda regions: regions)
    SODMClassifier(**SETTINGS).fit(X, y)
    assert len(judged) == len(in_steps)
    for one, other in zip(in_steps, judged, strict=True):
        assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


def test_the_nearest_cell_and_its_distance_whatever_the_threads() -> None:
    X, centres = np.random.RandomState(0).rand(3000, 7), np.random.RandomState(1).rand(11, 7)
    distances = ((X[:, None] - centres) ** 2).sum(axis=2)
    found = Cells(centres).nearest(X)
    assert np.array_equal(found[:, 0], distances.argmin(axis=1))
    np.testing.assert_allclose(found[:, 1], distances.min(axis=1), atol=1e-12)
    assert np.array_equal(found, Cells(centres).nearest(X, n_threads=3))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_several_classes_weights_and_model_files(make: type, tmp_path: Path) -> None:
    X, y = board(5000, 6, classes=3)
    weights = np.random.RandomState(7).randint(0, 3, len(X)).astype(float)
    query, answer = board(1000, 8, classes=3)
    machine = SODMClassifier(regions=5, fit_intercept=True, **SETTINGS)
    machine.fit(make(X), y, weights, eval_set=(make(query), answer))
    assert machine.history_[0]["accuracy"] == machine.score(make(query), answer)
    assert machine.score(make(query), answer) > 0.85
    values = machine.decision_function(make(query))
    assert values.shape == (1000, 3)
    sodm.save(machine, tmp_path / "m.sodm")
    for other in (sodm.load(tmp_path / "m.sodm"), pickle.loads(pickle.dumps(machine))):
        assert np.array_equal(other.decision_function(make(query)), values)
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="regions=None"):
        to_onnx(machine, tmp_path / "m.onnx")


def test_a_weight_of_two_is_a_row_twice() -> None:
    X, y = board(4000, 9)
    twice = np.arange(len(X)) % 3 == 0
    weighted = SODMClassifier(regions=3, **SETTINGS).fit(X, y, 1.0 + twice)
    repeated = SODMClassifier(regions=3, **SETTINGS).fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    query = board(500, 10)[0]
    np.testing.assert_allclose(
        weighted.decision_function(query), repeated.decision_function(query), atol=1e-6
    )


def test_a_time_limit_leaves_out_regions_and_still_decides_every_row() -> None:
    X, y = board(6000, 0)
    machine = SODMClassifier(regions=12, time_limit=0.0, **SETTINGS).fit(X, y)
    assert machine.stop_reason_ == "time limit" and machine.history_[0]["n_partitions"] >= 1
    assert np.isfinite(machine.decision_function(X[:100])).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"regions": 0}, "regions"),
        ({"regions": "many"}, "regions"),
        ({"regions": 3, "kernel": "precomputed"}, "regions=None"),
        ({"regions": 3, "budget": 10}, "budget"),
    ],
)
def test_bad_settings_are_named(settings: dict, words: str) -> None:
    X, y = board(200, 0)
    X = X @ X.T if settings.get("kernel") == "precomputed" else X
    with pytest.raises(ValueError, match=words):
        SODMClassifier(**settings).fit(X, y)


def test_kernels_without_features_have_no_regions() -> None:
    X, y = board(300, 0)
    assert SODMClassifier(kernel="precomputed").fit(X @ X.T, y).stop_reason_ == "exact"


# ------------------------------------------------------------------------------------------------ cells


def found_cells(X: Any, size: int) -> Cells:
    rng, n = np.random.RandomState(0), X.shape[0]
    return find_cells(X[sample_for(n, size, rng)], n, size, rng).cells


def test_cells_are_of_about_equal_size_and_places_are_right() -> None:
    X = np.vstack([RNG.randn(9000, 3) * 0.05, RNG.randn(1000, 3) + 5])
    cells = found_cells(X, 500)
    table = cells.look(X)
    sizes = np.bincount(table[:, 0].astype(int))
    assert sizes.max() < 2.2 * 500
    distance = ((X[:, None] - cells.centres) ** 2).sum(axis=2)
    nearest = np.sort(distance, axis=1)[:, :2]
    assert np.array_equal(table[:, 0], distance.argmin(axis=1))
    inside = nearest[:, 1] >= BORDER * nearest[:, 0] * (1 + 1e-9)
    assert np.all(table[inside, 2] == 1) and np.all(table[:, 2] >= 0.5)


def test_places_are_the_same_for_dense_and_sparse_rows_and_any_threads() -> None:
    X = RNG.rand(400, 6) * (RNG.rand(400, 6) < 0.5)
    centres = X[:7]
    expected = Cells(centres).look(X)
    np.testing.assert_allclose(Cells(sparse.csr_matrix(centres)).look(sparse.csr_matrix(X)), expected)
    assert np.array_equal(Cells(centres).look(X, 3), expected)
    assert np.array_equal(Cells(centres).look(X[5:6]), expected[5:6])
    homes = Cells(centres).homes(X, 2)
    assert np.array_equal(homes[:, 0], expected[:, 0])
    assert np.array_equal(homes[:, 1], np.where(expected[:, 2] < 1, expected[:, 1], -1))
    members = [(cell, rows.tolist()) for cell, rows, _ in Cells(centres).places(X).by_cell()]
    assert [(cell, rows.tolist()) for cell, rows in members_of(homes)] == members


@pytest.mark.parametrize("few_features", [6, 5])
def test_cells_of_sparse_rows_are_those_of_dense_ones(
    monkeypatch: pytest.MonkeyPatch, few_features: int
) -> None:
    monkeypatch.setattr("sodm.partition.cells.FEW_FEATURES", few_features)
    X = RNG.rand(3000, 6) * (RNG.rand(3000, 6) < 0.5)
    found = found_cells(sparse.csr_matrix(X), 300).centres
    assert sparse.issparse(found)
    np.testing.assert_allclose(found.toarray(), found_cells(X, 300).centres)


def test_cells_that_are_not_wanted_any_more_are_given_up() -> None:
    asked = iter([False, False, True])
    with pytest.raises(GivenUp):
        find_cells(RNG.rand(2000, 3), 20_000, 1000, np.random.RandomState(0), given_up=lambda: next(asked))


def test_sizes_of_cells_are_those_of_the_sample() -> None:
    X = RNG.rand(3000, 2)
    found = find_cells(X, 30_000, 1000, np.random.RandomState(0))
    assert np.array_equal(found.sizes, np.bincount(found.cells.look(X)[:, 0].astype(int)))


def test_equal_rows_end_in_one_cell() -> None:
    X = np.repeat(RNG.rand(3, 2), 500, axis=0)
    assert len(np.unique(found_cells(X, 100).look(X)[:, 0])) <= 3


def test_the_exact_machine_is_not_far_better(machine: SODMClassifier) -> None:
    X, y = board(4000, 1)
    exact = ODMClassifier(**SETTINGS).fit(*board(6000, 0))
    assert machine.score(X, y) > exact.score(X, y) - 0.01


def rings(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four shells around each other: smooth, and those between others are hard to tell from the rest."""
    X = np.random.RandomState(seed).randn(n, 4)
    return X, np.digitize((X**2).sum(axis=1), [1.92, 3.36, 5.39])


def test_several_smooth_classes_are_taken_in_pairs() -> None:
    """Regions, each class against the rest, were 10 points worse on such data, and were taken."""
    (X, y), (X_test, y_test) = rings(12_000, 0), rings(4_000, 1)
    machine = SODMClassifier(random_state=0, n_jobs=2).fit(X, y)
    assert machine.stop_reason_ != "regions" and len(machine.dual_coef_) == 3
    assert machine.score(X_test, y_test) > ODMClassifier().fit(X, y).score(X_test, y_test) - 0.01
    assert machine.decision_function(X_test).shape == (4_000, 4)
    rest = SODMClassifier(random_state=0, n_jobs=2, multi_class="ovr").fit(X, y)
    assert machine.score(X_test, y_test) > rest.score(X_test, y_test) + 0.01


def test_several_intricate_classes_are_taken_in_regions() -> None:
    X, y = board(12_000, 0, classes=3)
    machine = SODMClassifier(**SETTINGS).fit(X, y)
    assert machine.stop_reason_ == "regions" and len(machine.dual_coef_) == 3
    assert not machine._one_against_one
    pairs = SODMClassifier(multi_class="ovo", **SETTINGS).fit(X, y)
    X_test, y_test = board(4_000, 1, classes=3)
    assert machine.score(X_test, y_test) > pairs.score(X_test, y_test) + 0.005


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 300.0])
def test_whether_a_region_is_smooth_does_not_depend_on_a_bias(gamma: float) -> None:
    """A bias joins all rows: by kernel values with it even rows that do not see each other would be near."""
    X, y = board(500, 3)
    block = Block(X, np.arange(500), np.where(y == 1, 1.0, -1.0)[None], np.ones(500))
    verdicts = []
    for offset in (0.0, 1.0):
        kernel = Kernel("rbf", gamma=gamma, offset=offset)
        solver = local.LocalSolver(kernel, "single", OdmLoss(3e3, 0.5, 0.6), "auto", 1e-3, 100, 0)
        verdicts.append(solver._suits_newton(KernelEvaluator(kernel), block))
    assert verdicts[0] == verdicts[1] == (gamma < 100)
