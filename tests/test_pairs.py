"""One against one: a machine for each pair of classes, as if it were alone; votes, attributes, files."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.multiclass import OneVsOneClassifier
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

import sodm
from sodm import CascadeClassifier, DCClassifier, DiPClassifier, ODMClassifier, SODMClassifier
from sodm.problem.pairs import (
    at_rows_of_pairs,
    codes_of,
    decided,
    pair_signs,
    pairs_of,
    spread_over_pairs,
    votes,
)

TIGHT = {"tol": 1e-8, "precision": "double"}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return minmax_scale(X), y


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return minmax_scale(X)[:700], y[:700]


def of_pairs(machine_of, X, y, classes, weights=None):
    """f of machines of pairs fitted alone, with the ridge of all rows, positive for the first class."""
    weights = np.ones(len(y)) if weights is None else weights
    columns = []
    for a, b in combinations(classes, 2):
        own = (y == a) | (y == b)
        machine = machine_of(weights[own].sum() / weights.sum())
        columns.append(-machine.fit(X[own], y[own], sample_weight=weights[own]).decision_function(X))
    return np.column_stack(columns)


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"fit_intercept": True},
        {"kernel": "linear"},
        {"kernel": "poly", "gamma": 1.0, "coef0": 1.0},
        {"loss": "hinge"},
        {"solver": "dcd"},
        {"cache_size": 0.01},  # all pairs are large ones
    ],
)
def test_decisions_are_those_of_pairs_solved_alone(iris, kwargs):
    X, y = iris
    kwargs = {"gamma": 2.0, "lam": 2000.0, **TIGHT, **kwargs}
    machine = ODMClassifier(decision_function_shape="ovo", **kwargs).fit(X, y)
    alone = of_pairs(lambda share: ODMClassifier(**{**kwargs, "lam": 2000 * share}), X, y, [0, 1, 2])
    np.testing.assert_allclose(machine.decision_function(X), alone, atol=2e-3)
    assert machine.dual_gap_.shape == (3,)
    assert machine.dual_gap_.max() <= 1e-8 or kwargs.get("loss") == "hinge"


def test_the_same_as_scikit_learns_one_against_one(digits):
    """Classes of equal size: its pairs have lam as it is where ours have lam / 5."""
    X, y = digits
    keep = np.concatenate([np.flatnonzero(y == c)[:60] for c in range(10)])
    X, y = X[keep], y[keep]
    ours = ODMClassifier(lam=5000.0, gamma=0.5, **TIGHT).fit(X, y)
    theirs = OneVsOneClassifier(ODMClassifier(lam=1000.0, gamma=0.5, **TIGHT)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_weights_and_class_weights(iris):
    X, y = iris
    weights = np.random.default_rng(0).uniform(0.5, 3, len(y))
    machine = ODMClassifier(decision_function_shape="ovo", lam=2000.0, gamma=2.0, **TIGHT)
    machine.fit(X, y, sample_weight=weights)
    alone = of_pairs(lambda s: ODMClassifier(lam=2000 * s, gamma=2.0, **TIGHT), X, y, [0, 1, 2], weights)
    np.testing.assert_allclose(machine.decision_function(X), alone, atol=1e-4)
    factors = {0: 1.0, 1: 2.0, 2: 5.0}
    by_class = ODMClassifier(class_weight=factors, lam=2000.0, gamma=2.0, **TIGHT).fit(X, y)
    by_row = ODMClassifier(lam=2000.0, gamma=2.0, **TIGHT)
    by_row.fit(X, y, sample_weight=np.array([1.0, 2.0, 5.0])[y])
    np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-6)


def test_attributes_are_laid_out_like_those_of_svc(iris):
    X, y = iris
    ours, svc = ODMClassifier(loss="hinge", lam=150.0, gamma=1.0).fit(X, y), SVC(C=1.0, gamma=1.0).fit(X, y)
    for machine in (ours, svc):
        assert machine.dual_coef_.shape == (2, len(machine.support_))
        assert machine.intercept_.shape == (3,)
        assert machine.n_support_.sum() == len(machine.support_)
        classes = y[machine.support_]
        np.testing.assert_array_equal(classes, np.repeat([0, 1, 2], machine.n_support_))
        # Coefficients are positive for the first class of a pair.
        assert np.all(machine.dual_coef_ * pair_signs(classes, 3) >= 0)
        K = np.exp(-((X[:, None] - X[machine.support_]) ** 2).sum(axis=2))
        f = K @ spread_over_pairs(machine.dual_coef_, classes).T + machine.intercept_
        machine.decision_function_shape = "ovo"
        np.testing.assert_allclose(f, machine.decision_function(X), atol=1e-5)


def test_votes_are_scikit_learns(iris):
    X, y = iris
    machine = SVC(decision_function_shape="ovo").fit(X, y)
    f = machine.decision_function(X)
    machine.decision_function_shape = "ovr"
    np.testing.assert_allclose(votes(f, 3), machine.decision_function(X), atol=1e-12)


def test_ties_are_broken_by_margins():
    circle = np.array([[0.5, -0.3, 2.0]])  # 0 beats 1, 2 beats 0, 1 beats 2: one vote each
    values = votes(circle, 3)
    assert np.all(np.round(values) == 1)
    assert values.argmax() == 1  # 2.0 - 0.5 is most
    assert votes(np.zeros((1, 3)), 3).argmax() == 0
    for n_classes in (3, 4, 10):
        f = np.random.default_rng(0).normal(size=(500, n_classes * (n_classes - 1) // 2))
        np.testing.assert_array_equal(decided(f, n_classes), votes(f, n_classes).argmax(axis=1))


def test_predict_does_not_depend_on_the_shape(digits):
    X, y = digits
    machine = ODMClassifier().fit(X[:400], y[:400])
    by_class, labels = machine.decision_function(X), machine.predict(X)
    assert by_class.shape == (len(X), 10)
    np.testing.assert_array_equal(machine.classes_[by_class.argmax(axis=1)], labels)
    machine.set_params(decision_function_shape="ovo")
    assert machine.decision_function(X).shape == (len(X), 45)
    np.testing.assert_array_equal(machine.predict(X), labels)


def test_against_the_rest_has_no_pairs(iris):
    X, y = iris
    machine = ODMClassifier(multi_class="ovr").fit(X, y)
    assert machine.dual_coef_.shape[0] == 3
    assert machine.n_support_.sum() == len(machine.support_)
    with pytest.raises(ValueError, match="multi_class='ovo'"):
        machine.set_params(decision_function_shape="ovo").decision_function(X)
    with pytest.raises(ValueError, match="multi_class"):
        ODMClassifier(multi_class="all").fit(X, y)


def test_layout_helpers():
    codes = np.array([2, 0, 1, 3, 3, 0])
    signs = pair_signs(codes, 4)
    np.testing.assert_array_equal(codes_of(signs), codes)
    f = np.arange(6.0)[:, None] * np.ones(6) + np.arange(6) / 10
    own = at_rows_of_pairs(f, codes)
    for i, c in enumerate(codes):
        others = [d for d in range(4) if d != c]
        expected = [
            f[[tuple(p) for p in pairs_of(4).tolist()].index((min(c, d), max(c, d))), i] for d in others
        ]
        np.testing.assert_array_equal(own[:, i], expected)


@pytest.mark.parametrize("kind", ["sparse", "precomputed", "callable", "features"])
def test_other_kinds_of_rows(iris, digits, kind):
    X, y = digits if kind == "features" else iris
    X, y = X[:300], y[:300]
    plain = ODMClassifier(gamma=1.0, **TIGHT).fit(X, y)
    if kind == "sparse":
        other, Z = ODMClassifier(gamma=1.0, **TIGHT).fit(sparse.csr_matrix(X), y), sparse.csr_matrix(X)
    elif kind == "features":  # many: kernel values of all rows are kept if there is memory, and not otherwise
        other, Z = ODMClassifier(gamma=1.0, cache_size=1.0, **TIGHT).fit(X, y), X
    else:

        def rbf(A, B):
            return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))

        Z = rbf(X, X) if kind == "precomputed" else X
        other = ODMClassifier(kernel="precomputed" if kind == "precomputed" else rbf, **TIGHT).fit(Z, y)
    np.testing.assert_allclose(plain.decision_function(X), other.decision_function(Z), atol=1e-4)


def test_threads_and_order_of_rows_do_not_matter(digits):
    X, y = digits
    one = ODMClassifier(n_jobs=1).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    for other in (ODMClassifier(n_jobs=3).fit(X, y), ODMClassifier(n_jobs=2).fit(X[order], y[order])):
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_pairs_share_kernel_values(digits):
    """Of 64 features and more, each pair of rows is evaluated once, for however many pairs of classes."""
    X, y = digits
    machine = ODMClassifier(multi_class="ovo").fit(X, y)
    n, tile = len(X), 128
    assert machine.n_kernel_evaluations_ <= n * n / 2 + tile * n
    counts = np.unique(y, return_counts=True)[1]
    alone = sum((a + b) ** 2 for i, a in enumerate(counts) for b in counts[:i]) / 2
    assert machine.n_kernel_evaluations_ < alone


def test_warm_start(digits):
    X, y = digits
    machine = ODMClassifier(warm_start=True).fit(X, y)
    first = machine.decision_function(X)
    machine.fit(X, y)
    assert np.max(machine.n_iter_) <= 1
    np.testing.assert_allclose(machine.decision_function(X), first, atol=0.05)
    machine.set_params(multi_class="ovr").fit(X, y)  # what is known of pairs is of no use here
    assert machine.dual_coef_.shape[0] == 10


def test_progress_and_a_warning_that_names_the_pair(iris, capsys):
    X, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    ODMClassifier(verbose=1).fit(X, labels)
    assert "iterations" in capsys.readouterr().out
    with pytest.warns(sodm_warning(), match="for classes 'versicolor' and 'virginica'"):
        ODMClassifier(max_iter=1, solver="dcd", lam=1e6, gamma=10.0).fit(X, labels)


def sodm_warning():
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning


@pytest.mark.parametrize(
    "tree",
    [
        SODMClassifier(n_partitions=4, refine=True, multi_class="ovo"),
        SODMClassifier(n_partitions=4, merge="lift", multi_class="ovo"),
        CascadeClassifier(n_partitions=4, feedback=2),
        DiPClassifier(n_partitions=2),
        DCClassifier(n_partitions=4),
        DCClassifier(n_partitions=3, early=True, fit_intercept=True),
        SODMClassifier(n_partitions=2, budget=60, multi_class="ovo"),
        SODMClassifier(n_partitions=2, loss="hinge", multi_class="ovo"),
    ],
    ids=lambda tree: f"{type(tree).__name__}-{tree.n_partitions}-{tree.budget}-{tree.loss}",
)
def test_trees_know_pairs(tree):
    X, y = make_classification(
        900,
        6,
        n_informative=6,
        n_redundant=0,
        n_classes=4,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    exact = ODMClassifier(loss=tree.loss).fit(X[:600], y[:600])
    tree.fit(X[:600], y[:600], eval_set=(X[600:], y[600:]))
    assert tree.dual_coef_.shape[0] == 3
    score = tree.score(X[600:], y[600:])
    assert score > exact.score(X[600:], y[600:]) - 0.04
    if tree.budget is None and not getattr(tree, "early", False):
        assert tree.history_[-1]["accuracy"] == pytest.approx(score)
    if tree.refine:
        assert tree.stop_reason_ == "exact"
        assert np.max(tree.dual_gap_) <= tree.tol
        assert np.mean(tree.predict(X) == exact.predict(X)) > 0.99
    else:
        assert len(np.atleast_1d(tree.history_[-1]["objective"])) == 6


def test_a_part_may_lack_a_class():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.3, (200, 2)) for c in (0, 2)] + [rng.normal((0, 2), 0.3, (6, 2))])
    y = np.repeat([0, 1, 2], [200, 200, 6])
    tree = SODMClassifier(n_partitions=12, start="zero", stop_tol=1.0, multi_class="ovo").fit(X, y)
    assert tree.score(X, y) > 0.97


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_model_files(iris, tmp_path, kernel):
    X, y = iris
    machine = ODMClassifier(kernel=kernel, fit_intercept=True)
    rows = X @ X.T if kernel == "precomputed" else X
    machine.fit(rows, y)
    sodm.save(machine, tmp_path / "m.sodm")
    again = sodm.load(tmp_path / "m.sodm")
    np.testing.assert_array_equal(again.decision_function(rows), machine.decision_function(rows))
    np.testing.assert_array_equal(again.n_support_, machine.n_support_)
    assert sodm.load(tmp_path / "m.sodm", mmap=False).multi_class == "auto"
