"""Exact Shapley values of a fitted machine, in polynomial time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from sodm.estimators.kernel_machine import KernelMachine
from sodm.estimators.linear_machine import LinearMachine
from sodm.estimators.threads import threads_for
from sodm.problem.csr import check_sparse
from sodm.problem.pairs import spread_over_pairs
from sodm.problem.rows import canonical
from sodm.shapley.explanation import Explanation
from sodm.shapley.product_sum import Linear, ProductSum, dense

_CHECKED = 8  # rows for which the sum of the values is held against the machine itself


def explain(machine: Any, X: Any, background: Any, *, joint: bool = False) -> Explanation:
    """What each feature adds to the decision values of a machine: exact Shapley values.

    The game: of a row x, the features in S are known and the others are drawn from the background,

        v(S) = E f(x_S, B),

    where B draws each feature for itself from the background's values, or, with `joint`, a whole row of the
    background. An RBF machine is a sum of products over features, so both games are solved exactly: no
    subset is enumerated, none is sampled. A row takes about n_SV d^2 / 2 products (beyond 64 features
    4 n_SV d^1.5), with `joint` times the rows of the background, on ``n_jobs`` threads of the machine.

    Parameters
    ----------
    machine : estimator
        A fitted machine with an RBF, Laplacian or linear kernel, or a linear machine; alone, at the end of a
        pipeline, or inside a parameter search. The features are then those that reach the machine.
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The rows to be explained, as `decision_function` takes them.
    background : array-like or sparse matrix of shape (n_background, n_features)
        What an unknown feature could have been: some rows of the training data, or one row to compare with.
    joint : bool, default=False
        Draw unknown features together, as rows of the background, rather than each for itself. That is the
        game of shap's explainers with an independent masker, and costs one pass for each row of the
        background; with a background of one row both are the same.

    Returns
    -------
    Explanation
        With `values`, `base_values`, `data`, `feature_names` and `output_names`; ``to_shap()`` makes a
        `shap.Explanation` of it, ``importance()`` one number per feature.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sodm import ODMClassifier, explain
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> machine = ODMClassifier().fit(X, y)
    >>> explanation = explain(machine, X[:5], background=X[::10])
    >>> explanation.values.shape
    (5, 30)
    >>> whole = explanation.values.sum(axis=1) + explanation.base_values
    >>> bool(np.allclose(whole, machine.decision_function(X[:5]), atol=1e-4))
    True
    """
    rows, background, names, shown, core = _taken_apart(machine, X, background)
    form = _form(core)
    values, base = form.values(rows, background, joint)
    _check_sums(core, rows, values.sum(axis=1) + base)
    base_values = np.broadcast_to(base, (len(rows), len(base))).copy()
    outputs = _output_names(core, len(base))
    if len(base) == 1:
        values, base_values = values[:, :, 0], base_values[:, 0]
    return Explanation(values, base_values, shown, names, outputs)


def _taken_apart(
    machine: Any, X: Any, background: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str], NDArray[Any], Any]:
    """Rows and background as they reach the machine, names of features, rows to be shown, the machine."""
    while hasattr(machine, "best_estimator_"):
        machine = machine.best_estimator_
    core, before = machine, None
    if isinstance(machine, Pipeline):
        core, before = machine[-1], machine[:-1]
    if not isinstance(core, KernelMachine | LinearMachine):
        check_is_fitted(core)
        raise TypeError(f"explain takes the machines of sodm, got {type(core).__name__}.")
    check_is_fitted(core)
    names = _names(machine if before is None or not len(before) else before, X, core.n_features_in_)
    given, same = X, True
    if before is not None and len(before):
        X, background = before.transform(X), before.transform(background)
        same = np.shape(given) == np.shape(X) and names == _given_names(given, machine, core.n_features_in_)
    rows, background = _checked(core, X), _checked(core, background)
    # Steps that keep every feature in its place, such as scalers, let the values be shown as they were.
    shown = given if same else X
    shown = dense(shown) if hasattr(shown, "toarray") else np.asarray(shown)
    return rows, background, names, shown, core


def _checked(core: Any, X: Any) -> NDArray[np.float64]:
    X = check_sparse(X)
    return dense(canonical(validate_data(core, X, accept_sparse="csr", dtype=np.float64, reset=False)))


def _given_names(X: Any, machine: Any, n: int) -> list[str]:
    """The names of the columns of X, or x0, x1, …"""
    columns = getattr(X, "columns", None)
    if columns is None:
        columns = getattr(machine, "feature_names_in_", None)
    if columns is None or len(columns) != n:
        return [f"x{j}" for j in range(n)]
    return [str(name) for name in columns]


def _names(last: Any, X: Any, n: int) -> list[str]:
    """The names of the features that reach the machine."""
    if isinstance(last, Pipeline):
        try:
            return [str(name) for name in last.get_feature_names_out()]
        except (AttributeError, ValueError):
            return [f"x{j}" for j in range(n)]
    return _given_names(X, last, n)


def _form(core: Any) -> ProductSum | Linear:
    """The machine as a sum that can be explained, or one sentence why it cannot."""
    if not hasattr(core, "dual_coef_"):
        return Linear(np.asarray(core.coef_, dtype=np.float64), np.atleast_1d(core.intercept_))
    kernel = core._fitted_kernel
    if kernel.name == "linear":
        return Linear(np.asarray(core.coef_, dtype=np.float64), np.atleast_1d(core.intercept_))
    if kernel.name not in ("rbf", "laplacian"):
        name = repr(kernel.name) if isinstance(kernel.name, str) else "that is a function"
        raise ValueError(
            "explain takes the kernels 'rbf', 'laplacian' and 'linear', which are products or sums over "
            f"features; this machine has the kernel {name}."
        )
    coefficients = core.dual_coef_
    if getattr(core, "_one_against_one", False):
        classes = np.repeat(np.arange(len(core.classes_)), core.n_support_)
        coefficients = spread_over_pairs(coefficients, classes)
    return ProductSum(
        dense(core.support_vectors_),
        np.ascontiguousarray(coefficients, dtype=np.float64),
        np.atleast_1d(np.asarray(core.intercept_, dtype=np.float64)),
        float(kernel.gamma),
        kernel.name == "laplacian",
        threads_for(core.n_jobs),
    )


def _check_sums(core: Any, rows: NDArray[np.float64], sums: NDArray[np.float64]) -> None:
    """Refuse a machine that is more than one sum over its support vectors."""
    if not hasattr(core, "_decide"):
        return
    decided = core._decide(rows[:_CHECKED]) + core.intercept_
    size = np.abs(decided).max(initial=1.0) if decided.shape[1:] == sums.shape[1:] else 0.0
    if size == 0 or np.abs(decided - sums[:_CHECKED]).max(initial=0.0) > 1e-2 * size:
        raise ValueError(
            f"this {type(core).__name__} decides each row by the machine of its region, which is no sum of "
            "products over features; explain a machine without regions."
        )


def _output_names(core: Any, n_outputs: int) -> list[str] | None:
    if n_outputs == 1 or not hasattr(core, "classes_"):
        return None
    classes = [str(name) for name in core.classes_.tolist()]
    if n_outputs == len(classes) and not getattr(core, "_one_against_one", False):
        return classes
    pairs = [f"{a} against {b}" for i, a in enumerate(classes) for b in classes[i + 1 :]]
    return pairs if len(pairs) == n_outputs else None
