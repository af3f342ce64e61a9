"""Shapley values are those of the definition: all subsets enumerated, with the machine's own decisions."""

from __future__ import annotations

from itertools import combinations, product
from math import factorial

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, xlogy
from sklearn.datasets import load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from sodm import DCClassifier, LinearODMClassifier, LinearODMRegressor, ODMClassifier, SODMClassifier, explain
from sodm.shapley.quadrature import gauss_rule


def by_enumeration(value, d):
    """phi_j = sum over S without j of |S|! (d - |S| - 1)! / d! (v(S + j) - v(S)), and v of no feature."""
    values = {S: value(S) for size in range(d + 1) for S in combinations(range(d), size)}
    phi = []
    for j in range(d):
        total = 0.0
        for S, before in values.items():
            if j not in S:
                share = factorial(len(S)) * factorial(d - len(S) - 1) / factorial(d)
                total = total + share * (values[tuple(sorted((*S, j)))] - before)
        phi.append(total)
    return np.array(phi), values[()]


def game_of_machine(machine, x, background, joint):
    """v(S): the mean decision value where features outside S are drawn from the background."""
    d = len(x)

    def value(S):
        drawn = background
        if not joint:  # every combination of the background's values, each as likely
            drawn = np.array(list(product(*background.T)))
        filled = drawn.copy()
        filled[:, list(S)] = x[list(S)]
        return machine.decision_function(filled).mean(axis=0)

    return by_enumeration(value, d)


def problem(d, seed=0, classes=2, n=60):
    return make_classification(
        n, d, n_informative=d, n_redundant=0, n_classes=classes, n_clusters_per_class=1, random_state=seed
    )


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize(("d", "joint"), [(1, False), (4, False), (4, True), (8, True)])
def test_values_are_those_of_enumeration(kernel, d, joint):
    X, y = problem(max(d, 2))
    X = X[:, :d]
    machine = ODMClassifier(kernel=kernel, precision="double", fit_intercept=True).fit(X, y)
    background = X[10:13]
    explanation = explain(machine, X[:2], background, joint=joint)
    for k in range(2):
        phi, base = game_of_machine(machine, X[k], background, joint)
        np.testing.assert_allclose(explanation.values[k], phi, atol=1e-12)
        np.testing.assert_allclose(explanation.base_values[k], base, atol=1e-12)


def test_ten_features_one_baseline_are_those_of_enumeration():
    X, y = problem(10, seed=3)
    machine = ODMClassifier(gamma=2.0, precision="double").fit(X, y)
    baseline = X.mean(axis=0, keepdims=True)
    phi, base = game_of_machine(machine, X[0], baseline, joint=True)
    for joint in (False, True):
        explanation = explain(machine, X[:1], baseline, joint=joint)
        np.testing.assert_allclose(explanation.values[0], phi, atol=1e-12)
        np.testing.assert_allclose(explanation.base_values[0], base, atol=1e-12)


@pytest.mark.parametrize("d", [2, 31, 64, 65, 200, 784])
def test_values_add_up_to_the_decision(d):
    rng = np.random.default_rng(d)
    X = rng.uniform(size=(80, d))
    y = X[:, 0] > X[:, 1]
    for gamma in ("scale", 500.0):  # with the second, factors of 1e-217 and products that underflow
        machine = ODMClassifier(gamma=gamma, precision="double").fit(X, y)
        explanation = explain(machine, X[:5], X[40:])
        whole = explanation.values.sum(axis=1) + explanation.base_values
        np.testing.assert_allclose(whole, machine.decision_function(X[:5]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 64, 65, 300, 1000])
def test_the_rule_is_as_good_as_exact(d):
    """On each t^a (1-t)^b, a + b = d - 1: all integrands are sums of these with positive coefficients."""
    nodes, weights = gauss_rule(d)
    a = np.arange(d)[:, None]
    log_binomial = gammaln(d + 1) - gammaln(a + 1) - gammaln(d - a)
    ones = np.exp(log_binomial + xlogy(a, nodes) + xlogy(d - 1 - a, 1 - nodes)) @ weights
    np.testing.assert_allclose(ones, 1, atol=1e-11)


def test_pairs_of_classes():
    X, y = load_iris(return_X_y=True)
    machine = ODMClassifier(precision="double", decision_function_shape="ovo").fit(X, y)
    explanation = explain(machine, X[::20], X[1::10])
    assert explanation.output_names == ["0 against 1", "0 against 2", "1 against 2"]
    whole = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(whole, machine.decision_function(X[::20]), rtol=1e-9, atol=1e-9)


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    machine = ODMClassifier(precision="double", multi_class="ovr").fit(X, y)
    explanation = explain(machine, X[::20], X[1::10])
    n_outputs = len(machine.dual_coef_)
    assert explanation.values.shape == (8, 4, n_outputs) and explanation.base_values.shape == (8, n_outputs)
    assert len(explanation.output_names) == n_outputs
    single = machine.dual_coef_
    for c in range(n_outputs):  # each output is the explanation of its coefficients alone
        machine.dual_coef_, machine._prepared.value = single[[c]], None
        machine.intercept_ = machine.intercept_[:1]
        alone = explain(machine, X[::20], X[1::10])
        np.testing.assert_allclose(alone.values, explanation.values[:, :, c], atol=1e-12)


def test_linear_machines_add_up_feature_by_feature():
    X, y = problem(4)
    kernel, plain = ODMClassifier(kernel="linear").fit(X, y), LinearODMClassifier().fit(X, y)
    for machine in (kernel, plain):
        explanation = explain(machine, X[:3], X)
        expected = machine.coef_[0] * (X[:3] - X.mean(axis=0))
        np.testing.assert_allclose(explanation.values, expected, atol=1e-12)
        whole = explanation.values.sum(axis=1) + explanation.base_values
        np.testing.assert_allclose(whole, machine.decision_function(X[:3]), atol=1e-6)


def test_linear_regressors_too():
    X = np.random.default_rng(0).normal(size=(100, 3))
    machine = LinearODMRegressor().fit(X, X @ [1.0, -2.0, 3.0])
    explanation = explain(machine, X[:5], X)
    np.testing.assert_allclose(
        explanation.values.sum(axis=1) + explanation.base_values, machine.predict(X[:5])
    )
    np.testing.assert_allclose(explanation.values, (X[:5] - X.mean(axis=0)) * machine.coef_)


def test_threads_and_other_rows_change_nothing():
    X, y = problem(6, n=2500)
    machine = ODMClassifier(lam=1.0).fit(X, y)  # more support vectors than one task takes
    assert len(machine.support_) > 2048
    one = explain(machine.set_params(n_jobs=1), X[:7], X[:50]).values
    three = explain(machine.set_params(n_jobs=3), X[:7], X[:50]).values
    assert np.array_equal(one, three)
    assert np.array_equal(one[3:4], explain(machine, X[3:4], X[:50]).values)


def test_pipelines_searches_frames_and_sparse_rows():
    pandas = pytest.importorskip("pandas")
    X, y = problem(4)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    pipeline = make_pipeline(MinMaxScaler(), ODMClassifier())
    search = GridSearchCV(pipeline, {"odmclassifier__lam": [16.0]}, cv=2).fit(frame, y)
    explanation = explain(search, frame[:3], frame)
    assert explanation.feature_names == ["a", "b", "c", "d"]
    assert np.array_equal(explanation.data, X[:3])  # as they were before scaling
    mixed = make_pipeline(PCA(3), ODMClassifier()).fit(X, y)
    explanation = explain(mixed, X[:3], X)
    assert explanation.feature_names == ["pca0", "pca1", "pca2"] and explanation.data.shape == (3, 3)
    machine = ODMClassifier().fit(sparse.csr_matrix(X), y)
    of_sparse = explain(machine, sparse.csr_matrix(X[:3]), sparse.csr_matrix(X))
    np.testing.assert_allclose(of_sparse.values, explain(machine, X[:3], X).values)


def test_machines_of_parts_are_explained_unless_regions_decide():
    X, y = problem(3, n=400)
    whole = explain(SODMClassifier().fit(X, y), X[:3], X)
    assert whole.values.shape == (3, 3)
    regional = DCClassifier(early=True, n_partitions=4).fit(X, y)
    with pytest.raises(ValueError, match="region"):
        explain(regional, X, X)


def test_what_cannot_be_explained_is_said():
    X, y = problem(3)
    with pytest.raises(ValueError, match="this machine has the kernel 'poly'"):
        explain(ODMClassifier(kernel="poly").fit(X, y), X, X)
    for stranger in (PCA(2), SVC()):
        with pytest.raises(TypeError, match=f"machines of sodm, got {type(stranger).__name__}"):
            explain(stranger.fit(X, y), X, X)
    with pytest.raises(ValueError, match="2 features"):
        explain(ODMClassifier().fit(X, y), X[:, :2], X)


def test_shap_takes_it():
    shap = pytest.importorskip("shap")
    X, y = problem(4)
    machine = ODMClassifier(precision="double").fit(X, y)
    explanation = explain(machine, X[:3], X[:20], joint=True)
    taken = explanation.to_shap()
    assert isinstance(taken, shap.Explanation) and taken.shape == (3, 4)
    theirs = shap.explainers.Exact(machine.decision_function, shap.maskers.Independent(X[:20]))(X[:3])
    np.testing.assert_allclose(taken.values, theirs.values, atol=1e-10)
    np.testing.assert_allclose(taken.base_values, theirs.base_values, atol=1e-10)
