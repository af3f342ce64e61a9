"""The tree machines: what they converge to, what moves up, when they stop; nothing depends on threads."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems import gram, rows_and_labels
from scipy import sparse
from sklearn.datasets import load_iris

from sodm import CascadeClassifier, DCClassifier, DiPClassifier, ODMClassifier, SODMClassifier, _core
from sodm.estimators.seed import seed_for
from sodm.partition import StratifiedPartitioner
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.fold import fold
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss
from sodm.problem.problem import Problem
from sodm.solvers.exact import solve
from sodm.training.context import Context
from sodm.training.exact import ExactTrainer
from sodm.trees import systems
from sodm.trees.evaluation import EvaluationRows
from sodm.trees.history import Record, Seconds
from sodm.trees.merge import Concatenate, Solved
from sodm.trees.probe import Probe
from sodm.trees.stop import StopRule
from sodm.trees.tree import Tree

SYSTEMS = [SODMClassifier, CascadeClassifier, DiPClassifier, DCClassifier]
PARAMETERS: dict[str, Any] = {
    "gamma": 1.0,
    "lam": 300.0,
    "theta": 0.3,
    "precision": "double",
    "random_state": 0,
}
MILD: dict[str, Any] = {"lam": 100.0, "theta": 0.3, "random_state": 0}


def exact(X: Any, y: Any, **parameters: Any) -> ODMClassifier:
    return ODMClassifier(**{**PARAMETERS, "tol": 1e-6, **parameters}).fit(X, y)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_refine_ends_at_the_exact_machine(system: Any, loss: str) -> None:
    X, y = rows_and_labels(900, noise=0.8)
    best = exact(X, y, loss=loss)
    machine = system(**PARAMETERS, n_partitions=6, refine=True, loss=loss).fit(X, y)
    assert machine.stop_reason_ == "exact"
    assert 0 <= machine.dual_gap_ <= machine.tol
    assert machine.objective_ == pytest.approx(best.objective_, rel=machine.tol)


def test_feedback_brings_the_hinge_cascade_to_the_optimum() -> None:
    X, y = rows_and_labels(900, noise=0.8)
    best = exact(X, y, loss="hinge").objective_
    objectives = [
        CascadeClassifier(**PARAMETERS, tol=1e-4, n_partitions=8, feedback=k, loss="hinge")
        .fit(X, y)
        .objective_
        for k in (0, 3)
    ]
    assert objectives[1] == pytest.approx(best, rel=1e-3)  # levels are solved to ten times tol
    assert objectives[0] > objectives[1]


@pytest.mark.parametrize("system", SYSTEMS)
def test_one_part_is_the_exact_machine(system: Any) -> None:
    X, y = rows_and_labels(300)
    one, whole = system(**PARAMETERS, n_partitions=1).fit(X, y), ODMClassifier(**PARAMETERS).fit(X, y)
    assert one.stop_reason_ == "exact"
    np.testing.assert_array_equal(one.dual_coef_, whole.dual_coef_)
    assert one.objective_ == whole.objective_ and one.dual_gap_ == pytest.approx(whole.dual_gap_, abs=1e-12)


def test_the_machine_is_the_average_of_its_parts() -> None:
    X, y = rows_and_labels(400)
    weight = np.random.default_rng(0).integers(1, 4, size=400)
    machine = SODMClassifier(**PARAMETERS, n_partitions=2, tol=1e-8).fit(X, y, weight)
    # The same parts, by the partitioner alone: rows in the order of the folded problem.
    order = fold(X, y.astype(np.int64), weight.astype(float)).first
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    kernel = KernelEvaluator(Kernel("rbf", 1.0), "double")
    part = StratifiedPartitioner().split(X[order], y[order], 2, kernel, seed)
    values = sum(
        exact(X[order[part == k]], y[order[part == k]], tol=1e-8)
        .set_params(random_state=0)
        .fit(X[order[part == k]], y[order[part == k]], weight[order[part == k]])
        .decision_function(X)
        * weight[order[part == k]].sum()
        / weight.sum()
        for k in (0, 1)
    )
    np.testing.assert_allclose(machine.decision_function(X), values, atol=2e-3)


def test_objective_and_gap_in_the_history_are_those_of_all_rows() -> None:
    X, y = rows_and_labels(500)
    machine = SODMClassifier(**PARAMETERS, n_partitions=4, branching=4).fit(X, y)
    (record,) = machine.history_
    assert not record["estimated"]
    signs = np.where(y == 1, 1.0, -1.0)
    a = np.zeros(500)
    a[machine.support_] = machine.dual_coef_[0]
    f = gram("rbf", X, X, gamma=1.0) @ a
    loss, ones = OdmLoss(300.0, 0.5, 0.3), np.ones(500)
    primal = a @ f / 2 + loss.primal(signs * f, ones)
    dual = a @ f / 2 + loss.dual(signs * a, ones)
    assert record["objective"] == pytest.approx(primal, rel=1e-9)
    assert record["gap"] == pytest.approx((primal + dual) / primal, rel=1e-6)
    assert machine.objective_ == record["objective"] and machine.dual_gap_ == record["gap"]


def test_estimates_from_a_sample_are_near_the_truth() -> None:
    X, y = rows_and_labels(3000, noise=0.8)
    signs, weights = np.where(y == 1, 1.0, -1.0)[None], np.random.default_rng(0).uniform(0.5, 2, 3000)
    problem = Problem(X, signs, weights, Kernel("rbf", 1.0), OdmLoss(300.0, 0.5, 0.3))
    kernel = KernelEvaluator(problem.kernel)
    duals = exact(X, y).dual_coef_  # every row that supports; put back in place
    full = np.zeros((1, 3000))
    full[:, exact(X, y).support_] = duals
    full *= signs
    whole, sample = (Probe(problem, kernel, count, 0).read(full) for count in (3000, 1000))
    assert whole.exact and not sample.exact
    np.testing.assert_allclose(sample.objective, whole.objective, rtol=0.15)
    np.testing.assert_allclose(sample.dual, whole.dual, rtol=0.15)


def test_scaled_starts_save_sweeps_and_literal_ones_do_not() -> None:
    X, y = rows_and_labels(1600, noise=0.8)
    index, parts = np.arange(1600), np.arange(1600) % 16
    signs, loss = np.where(y == 1, 1.0, -1.0)[None], OdmLoss(16.0, 0.5, 0.3)
    problem = Problem(X, signs, np.ones(1600), Kernel("rbf", 1.0), loss)
    kernel = KernelEvaluator(problem.kernel)
    rule, starts = Concatenate("literal"), {}
    rule.prepare(problem, Context(), 16)
    groups = rule.begin([index[parts == k] for k in range(16)])
    results = [
        solve(kernel.source(X[g.index]), signs[:, g.index], np.ones(100), loss, tol=1e-5) for g in groups
    ]
    solved = [Solved(g.index, g.represented, r.duals) for g, r in zip(groups, results, strict=True)]
    for form in ("literal", "scaled"):
        merged = Concatenate(form)._merge(solved)
        starts[form] = np.zeros((1, 1600))
        starts[form][:, merged.index] = merged.start["start"]
    assert merged.represented == 1600

    def far(start: np.ndarray) -> float:
        f = kernel.apply(X, X, (signs * start)[0])
        return (signs * start)[0] @ f / 2 + loss.dual(start[0], np.ones(1600))

    def sweeps(start: np.ndarray) -> int:
        source = kernel.source(X)
        return solve(source, signs, np.ones(1600), loss, solver="dcd", tol=1e-4, start=start).n_iter[0]

    zero = np.zeros((1, 1600))
    assert far(starts["scaled"]) < far(zero) < far(starts["literal"])
    assert sweeps(starts["scaled"]) < sweeps(zero) <= sweeps(starts["literal"])


def test_few_support_vectors_make_larger_parts() -> None:
    X, y = rows_and_labels(24_000, noise=0.3)
    clear = SODMClassifier(regions=None, random_state=0, lam=1e5).fit(X, y)
    X, y = rows_and_labels(24_000, noise=2.0)
    blurred = SODMClassifier(regions=None, random_state=0, lam=1e2).fit(X, y)
    parts = [machine.history_[0]["n_partitions"] for machine in (clear, blurred)]
    assert parts == [4, 12]
    assert len(clear.support_) < 0.4 * 24_000 < 0.8 * 24_000 < len(blurred.support_)


def test_kernel_time_is_part_of_the_solving_time() -> None:
    X, y = rows_and_labels(6000, noise=0.8)
    machine = SODMClassifier(n_partitions=4, random_state=0, n_jobs=2).fit(X, y)
    for record in machine.history_:
        seconds = record["seconds"]
        assert 0 < seconds["kernel"] < seconds["solve"]
    assert machine.history_[0]["seconds"]["pilot"] > 0 == machine.history_[1]["seconds"]["pilot"]


def test_a_pilot_changes_little() -> None:
    X, y = rows_and_labels(8000, noise=0.8)
    tree = {**PARAMETERS, "precision": "single", "lam": 3e3, "n_partitions": 4, "branching": 4}
    pilot, zero = (SODMClassifier(**tree, start=start).fit(X, y) for start in ("pilot", "zero"))
    assert pilot.objective_ == pytest.approx(zero.objective_, rel=0.01)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_number_of_threads_changes_nothing(system: Any) -> None:
    X, y = rows_and_labels(1500)
    machines = [system(n_partitions=5, random_state=3, n_jobs=k).fit(X, y) for k in (1, 2, 3)]
    assert_all_the_same(machines)


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("n_partitions", [4, 8])
@pytest.mark.parametrize("cache_size", [3, 20, 1000])
def test_nor_does_it_where_memory_is_short(cache_size: float, n_partitions: int, loss: str) -> None:
    """The kernel values of parts of 750 and 1,500 rows take 2 and 9 MB; solvers go by what they may keep."""
    X, y = rows_and_labels(6000, noise=0.8)
    tree = {"n_partitions": n_partitions, "lam": 10.0, "cache_size": cache_size, "loss": loss}
    assert_all_the_same([SODMClassifier(**tree, n_jobs=k).fit(X, y) for k in (1, 2, 3, 8)])


def assert_all_the_same(machines: list[Any]) -> None:
    for other in machines[1:]:
        np.testing.assert_array_equal(machines[0].dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(machines[0].support_, other.support_)
        assert [r["objective"] for r in machines[0].history_] == [r["objective"] for r in other.history_]


def test_a_time_limit_that_is_not_reached_changes_nothing() -> None:
    X, y = rows_and_labels(6000, noise=0.8)
    tree = {"n_partitions": 4, "lam": 10.0, "cache_size": 3}
    assert_all_the_same([SODMClassifier(**tree, time_limit=limit).fit(X, y) for limit in (None, 1e6)])


def test_a_tree_trains_on_values_alone() -> None:
    """No estimator is needed, and none is changed: a problem and a context in, a machine out."""
    X, y = rows_and_labels(900)
    order = fold(X, y.astype(np.int64), np.ones(900)).first
    signs = np.where(y[order] == 1, 1.0, -1.0)[None]
    problem = Problem(X[order], signs, np.ones(900), Kernel("rbf", 1.0), OdmLoss(300.0, 0.5, 0.3))
    partition, merge = systems.dc(early=True)
    tree = Tree(partition, merge, "auto", 1e-3, 1000, n_partitions=4, branching=2, pilot=False, early=True)
    context = Context(
        n_threads=2, precision="double", seed=seed_for(0), evaluation=EvaluationRows(X[:50], y[:50])
    )
    trained = tree.train(problem, context)
    machine = DCClassifier(**PARAMETERS, n_partitions=4, early=True).fit(X, y, eval_set=(X[:50], y[:50]))
    at = np.argsort(order)
    np.testing.assert_array_equal(
        (signs * trained.result.duals)[0, at][machine.support_], machine.dual_coef_[0]
    )
    assert trained.stop_reason == machine.stop_reason_ and trained.classes.tolist() == [0, 1]
    assert [r["accuracy"] for r in trained.history] == [r["accuracy"] for r in machine.history_]
    assert trained.regions is not None and trained.region_of_row is not None
    np.testing.assert_array_equal(
        trained.regions.nearest(context.evaluator(problem.kernel), X),
        machine._regions.nearest(machine._evaluator(), X),
    )
    np.testing.assert_array_equal(trained.region_of_row[at][machine.support_], machine._region_of_support)


def long_tree(n_partitions: int) -> Tree:
    partition, merge = systems.sodm(50, "scaled")
    return Tree(partition, merge, "auto", 1e-9, 100_000, n_partitions=n_partitions, branching=2)


@pytest.mark.parametrize(
    "trainer",
    [ExactTrainer("auto", 1e-9, 100_000), ExactTrainer("dcd", 1e-9, 100_000), long_tree(1), long_tree(6)],
    ids=["exact", "dcd", "one part", "six parts"],
)
def test_a_training_in_another_thread_ends_when_it_is_told_to(trainer: Any) -> None:
    X, y = rows_and_labels(20_000, d=20, noise=3.0)
    signs = np.where(y == 1, 1.0, -1.0)[None]
    problem = Problem(X, signs, np.ones(len(y)), Kernel("rbf", 0.5), OdmLoss(1e8, 0.5, 0.3))
    context, errors = Context(n_threads=2, precision="double", stop=_core.StopToken()), []

    def train() -> None:
        try:
            trainer.train(problem, context)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=train, daemon=True)
    thread.start()
    thread.join(1.0)
    assert thread.is_alive()  # it would take minutes
    context.stop.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert [type(error) for error in errors] == [_core.Interrupted]


@pytest.mark.parametrize("system", SYSTEMS)
def test_weights_are_copies_and_sparse_is_dense(system: Any) -> None:
    X, y = rows_and_labels(400)
    weight = np.random.default_rng(1).integers(0, 4, size=400)
    weighted = system(n_partitions=3, random_state=0).fit(X, y, sample_weight=weight)
    copied = system(n_partitions=3, random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    thin = system(n_partitions=3, random_state=0).fit(sparse.csr_matrix(X), y, sample_weight=weight)
    values = weighted.decision_function(X)
    np.testing.assert_allclose(copied.decision_function(X), values, atol=1e-5)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(X)), values, atol=1e-5)


@pytest.mark.parametrize("system", SYSTEMS)
def test_several_classes_and_the_evaluation_set(system: Any) -> None:
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]
    machine = system(n_partitions=4, random_state=0).fit(
        X[::2], labels[::2], eval_set=(X[1::2], labels[1::2])
    )
    assert machine.decision_function(X).shape == (150, 3)
    assert machine.score(X[1::2], labels[1::2]) == machine.history_[-1]["accuracy"] >= 0.9
    assert np.shape(machine.objective_) == (3,)


def test_wrong_evaluation_set() -> None:
    X, y = rows_and_labels(50)
    with pytest.raises(ValueError, match="eval_set must be a pair"):
        SODMClassifier().fit(X, y, eval_set=X)
    with pytest.raises(ValueError, match="features"):
        SODMClassifier().fit(X, y, eval_set=(X[:, :2], y))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_tiny_class_and_repeated_rows(system: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.zeros(200, dtype=int)
    y[:3] = 1  # of eight parts, five have one class only
    X[100:] = X[99]
    machine = system(n_partitions=8, random_state=0).fit(X, y)
    assert np.isfinite(machine.decision_function(X)).all()


def test_more_parts_than_rows_are_refused() -> None:
    X, y = rows_and_labels(20)
    with pytest.raises(ValueError, match="n_partitions=21 is more than the 20 distinct rows"):
        SODMClassifier(n_partitions=21).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_partitions": 0}, "n_partitions must be an integer >= 1"),
        ({"branching": 1}, "branching must be an integer >= 2"),
        ({"merge": "best"}, "merge must be one of 'scaled'"),
        ({"start": "warm"}, "start must be one of 'pilot'"),
        ({"stop_tol": -1}, "stop_tol must be a number >= 0"),
        ({"time_limit": -1.0}, "time_limit must be a number >= 0"),
        ({"budget": 0}, "budget must be an integer >= 1"),
        ({"loss": "hinge", "local_solver": "newton"}, "local_solver='newton' needs loss='odm'"),
        ({"n_landmarks": 0}, "n_landmarks must be an integer >= 1"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    X, y = rows_and_labels(30)
    with pytest.raises(ValueError, match=message):
        SODMClassifier(**parameters).fit(X, y)


# ------------------------------------------------------------------------------------------------- stop rules


def test_stops_when_decisions_agree() -> None:
    X, y = rows_and_labels(2000)
    early = SODMClassifier(**MILD, n_partitions=8, stop_tol=1.0).fit(X, y)
    assert early.stop_reason_ == "decisions" and len(early.history_) == 2
    assert early.history_[0]["changed"] is None and 0 <= early.history_[1]["changed"] <= 1


def levels(*seen: tuple[float | None, Any], left: int = 1, n_iter: int = 3) -> list[Record]:
    """Levels of which only the share of decisions that changed and the objective matter; so many follow."""
    parts = 2 ** (left + 1)
    return [
        Record(k, parts, 8, 8, n_iter, n_iter, 0.0, objective, 0.1, True, changed, 0, Seconds(), 0.0)
        for k, (changed, objective) in enumerate(seen)
    ]


def test_decisions_end_it_by_what_is_still_to_come() -> None:
    rule = StopRule(stop_tol=0.01)
    slow = (None, 9.0), (0.009, 9.0), (0.0085, 9.0)  # many such steps may lie before it
    assert rule.reason(levels(*slow, left=1)) == "decisions"
    assert rule.reason(levels(*slow, left=2)) is None
    fast = (None, 9.0), (0.08, 9.0), (0.02, 9.0), (0.005, 9.0)
    assert rule.reason(levels(*fast[:3], left=10)) == "decisions"  # 0.02 (1/4 + 1/16 + ...) < 0.01
    assert rule.reason(levels(*fast[:2], left=10)) is None
    assert rule.reason(levels(*fast, left=10)) == "decisions"
    assert rule.reason(levels(*fast, left=0)) is None  # the last level has a name of its own
    one = (None, 9.0), (0.005, 9.0)  # 0.005 (0.71 + 0.5 + ...) = 0.012
    assert rule.reason(levels(*one, left=2)) == "decisions" and rule.reason(levels(*one, left=20)) is None
    assert rule.reason(levels((None, 9.0), left=3)) is None
    growing = (None, 9.0), (0.002, 9.0), (0.004, 9.0)
    assert rule.reason(levels(*growing, left=1)) == "decisions"
    assert rule.reason(levels(*growing, left=2)) is None


def test_decisions_do_not_end_it_while_the_objective_falls() -> None:
    rule = StopRule(stop_tol=0.0)
    assert rule.reason(levels((None, 10.0), (0.0, 8.0))) is None  # by a quarter
    falling = (None, 10.0), (0.0, 9.2), (0.0, 8.5)
    assert rule.reason(levels(*falling, left=1)) == "decisions"
    assert rule.reason(levels(*falling, left=4)) is None  # each by a twelfth
    assert rule.reason(levels((None, 10.0), (0.0, 8.0), (0.0, 7.9), left=9)) == "decisions"
    assert rule.reason(levels((None, 7.0), (0.0, 8.4), (0.0, 8.4))) is None  # a sixth above the best known
    assert rule.reason(levels((None, [10.0, 5.0]), (0.0, [10.0, 4.0]))) is None
    assert rule.reason(levels((None, 10.0), (0.5, 5.0), n_iter=0)) == "tolerance"


def test_stops_at_the_last_level() -> None:
    X, y = rows_and_labels(2000, noise=1.0)
    machine = SODMClassifier(n_partitions=9, branching=3, stop_tol=0.0, lam=1e4, random_state=0).fit(X, y)
    assert machine.stop_reason_ == "last level"
    assert [record["n_partitions"] for record in machine.history_] == [9, 3]


def test_stops_when_all_starts_are_within_tolerance() -> None:
    X, y = rows_and_labels(6000)
    machine = SODMClassifier(**{**MILD, "lam": 1.0}, n_partitions=4, stop_tol=0.0, tol=0.05).fit(X, y)
    assert machine.stop_reason_ == "tolerance"
    assert machine.history_[-1]["n_iter"] == 0


@pytest.mark.parametrize("system", SYSTEMS)
def test_time_limit_returns_a_machine(system: Any) -> None:
    X, y = rows_and_labels(3000)
    machine = system(n_partitions=10, time_limit=0.0, random_state=0).fit(X, y)
    assert machine.stop_reason_ == "time limit"
    assert 1 <= machine.history_[-1]["n_partitions"] <= 10
    assert machine.score(X, y) > 0.6


INTERRUPTED = """
import sys
sys.path.insert(0, {tests!r})
from problems import rows_and_labels
from sodm import SODMClassifier
X, y = rows_and_labels(30_000, d=20, noise=3.0)
machine = SODMClassifier(n_partitions=4, lam=1e8, tol=1e-9, precision="double")
print("ready", flush=True)
try:
    machine.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", set(machine.__dict__) == set(SODMClassifier().__dict__), flush=True)
"""


def test_interrupt_leaves_the_estimator_as_it_was() -> None:
    code = INTERRUPTED.format(tests=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted True\n"


# --------------------------------------------------------------------------------------- budgets and regions


@pytest.mark.parametrize("loss", ["odm", "hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_budget(loss: str, kernel: str) -> None:
    X, y = rows_and_labels(1500, noise=0.3)
    rows = gram("rbf", X, X, gamma=1.0) if kernel == "precomputed" else X
    tree = {**PARAMETERS, "kernel": kernel, "loss": loss, "n_partitions": 3}
    full, small = SODMClassifier(**tree).fit(rows, y), SODMClassifier(**tree, budget=150).fit(rows, y)
    assert len(full.support_) > 150 >= len(small.support_)
    assert np.mean(full.predict(rows) == small.predict(rows)) > 0.96
    assert small.objective_ == pytest.approx(full.objective_, rel=0.2)
    assert np.isnan(small.dual_gap_)


def test_a_budget_that_is_not_needed_changes_nothing() -> None:
    X, y = rows_and_labels(300)
    full, small = (SODMClassifier(n_partitions=2, random_state=0, budget=b).fit(X, y) for b in (None, 300))
    np.testing.assert_array_equal(full.dual_coef_, small.dual_coef_)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_early_prediction_asks_the_nearest_cluster(fit_intercept: bool) -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    cluster = rng.integers(3, size=600)
    X = centres[cluster] + rng.normal(size=(600, 2))
    # Within each cluster another rule, and each cluster a machine of its own.
    y = np.where(cluster == 0, X[:, 0] > 0, X[:, 1] > centres[cluster, 1]).astype(int)
    tree = {**PARAMETERS, "gamma": 0.2, "lam": 1e3, "tol": 1e-7, "fit_intercept": fit_intercept}
    tree["random_state"] = 1  # one with which k-means finds the three
    machine = DCClassifier(**tree, n_partitions=3, branching=3, early=True).fit(X, y)
    assert machine.score(X, y) > 0.95
    for k in range(3):
        own = cluster == k
        share = own.sum() / 600  # the part of the one dual problem: the same cost for each row
        alone = exact(X[own], y[own], **{**tree, "lam": 1e3 * share})
        np.testing.assert_allclose(
            machine.decision_function(X[own]), alone.decision_function(X[own]), atol=0.1
        )


def test_parts_of_hinge_machines_are_solved_whatever_their_size() -> None:
    """Parts of more than 1,536 rows are solved in parts themselves, from a machine that has nothing yet."""
    rng = np.random.RandomState(0)
    X = rng.randn(6000, 3)
    y = X[:, 0] + 0.3 * rng.randn(len(X)) > 0
    machine = SODMClassifier(loss="hinge", n_partitions=2, gamma=0.5, lam=1e3, random_state=0).fit(X, y)
    assert machine.score(X, y) > 0.85 and machine.history_[0]["n_iter"] > 0
