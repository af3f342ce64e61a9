"""Data that comes in pieces: fit_chunks finds the solution of fit, partial_fit comes near it."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from problems import rows_and_labels, weights_for
from scipy import sparse
from sklearn.base import clone

from sodm import LinearODMClassifier
from sodm.data.chunks import read_ahead


def pieces(*arrays: Any, step: int = 100) -> Callable[[], Iterator[tuple[Any, ...]]]:
    return lambda: (tuple(a[i : i + step] for a in arrays) for i in range(0, arrays[0].shape[0], step))


def same(one: LinearODMClassifier, other: LinearODMClassifier, rtol: float = 1e-7) -> None:
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=rtol, atol=1e-10)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("step", [1, 37, 100, 10_000])
def test_chunks_of_any_size_give_the_fit(step: int) -> None:
    X, y = rows_and_labels(500, 5)
    weights = weights_for(500)
    whole = LinearODMClassifier(tol=1e-11).fit(X, y, weights)
    same(LinearODMClassifier(tol=1e-11).fit_chunks(pieces(X, y, weights, step=step)), whole)


def test_chunks_sorted_by_class() -> None:
    X, y = rows_and_labels(500, 5)
    order = np.argsort(y, kind="stable")
    whole = LinearODMClassifier(tol=1e-11).fit(X, y)
    same(LinearODMClassifier(tol=1e-11).fit_chunks(pieces(X[order], y[order])), whole)


@pytest.mark.parametrize("kind", ["sparse", "single", "many"])
def test_chunks_of_other_kinds(kind: str) -> None:
    X, y = rows_and_labels(400, 5)
    if kind == "sparse":
        X = sparse.csr_matrix(X)
    elif kind == "single":
        X = X.astype(np.float32)
    else:  # too many features for the matrix, so that products go over the chunks
        X = sparse.random(400, 9000, density=0.01, format="csr", random_state=0)
    machine = LinearODMClassifier(lam=10.0, theta=0.5, tol=1e-10)
    whole = clone(machine).fit(X, y)
    found = machine.fit_chunks(pieces(X, y), classes=[0, 1])
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e-10)


def test_chunks_of_several_classes_with_class_weights() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.array(["x", "y", "z"])[np.argmax(X[:, :3] + rng.normal(size=(600, 3)), axis=1)]
    for class_weight in ("balanced", {"x": 3.0}, None):
        machine = LinearODMClassifier(class_weight=class_weight, tol=1e-11)
        whole = machine.fit(X, y).coef_
        np.testing.assert_allclose(machine.fit_chunks(pieces(X, y)).coef_, whole, rtol=1e-7)
        np.testing.assert_allclose(
            machine.fit_chunks(pieces(X, y), classes=["z", "y", "x"]).coef_, whole, rtol=1e-7
        )


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_given_classes_are_the_classes(class_weight: str | None) -> None:
    """Whatever class_weight: a class that does not occur is one, and a label that is none of them refused."""
    X, y = rows_and_labels(300, 4)
    weights = np.where(y == 1, 3.0, 1.0)
    machine = LinearODMClassifier(class_weight=class_weight, tol=1e-11)
    whole = clone(machine).fit(X, y, weights)
    found = clone(machine).fit_chunks(pieces(X, y, weights), classes=[1, 0, 7])
    assert found.classes_.tolist() == [0, 1, 7] and found.coef_.shape == (3, 4)
    np.testing.assert_allclose(found.coef_[1], whole.coef_[0], rtol=1e-7, atol=1e-9)
    assert np.all(found.decision_function(X)[:, 2] < 0)
    with pytest.raises(ValueError, match="the label 1, which is not in classes"):
        machine.fit_chunks(pieces(X, y), classes=[0, 5])
    only = clone(machine).fit_chunks(pieces(X, np.zeros(300, dtype=int)), classes=[0, 1])
    assert np.all(only.predict(X) == 0)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_chunks_without_weight_are_left_out(class_weight: str | None, classes: list[int] | None) -> None:
    X, y = rows_and_labels(300, 4)
    weights, labels = np.ones(300), y.copy()
    weights[100:200], labels[100:200] = 0.0, 9
    machine = LinearODMClassifier(class_weight=class_weight, tol=1e-11)
    whole = clone(machine).fit(X[weights > 0], y[weights > 0])
    same(machine.fit_chunks(pieces(X, labels, weights), classes=classes), whole)


def test_arrow_in_all_its_forms(tmp_path: Path) -> None:
    X, y = rows_and_labels(500, 4)
    weights = weights_for(500)
    whole = LinearODMClassifier(tol=1e-11).fit(X, y, weights)
    table = pa.table(
        {f"f{k}": X[:, k] for k in range(4)} | {"label": y, "w": weights, "comment": ["-"] * 500}
    )
    pq.write_table(table.slice(0, 300), tmp_path / "a.parquet", row_group_size=64)
    pq.write_table(table.slice(300), tmp_path / "b.parquet")
    names = {"label": "label", "weight": "w", "features": [f"f{k}" for k in range(4)], "batch_rows": 90}
    for source in (table, ds.dataset(table), ds.dataset(tmp_path), tmp_path, str(tmp_path)):
        same(LinearODMClassifier(tol=1e-11).fit_chunks(source, **names), whole)


@pytest.mark.parametrize(("lam", "before"), [(1000.0, 1), ("auto", 3)])
def test_passes_are_few_and_counted(lam: float | str, before: int) -> None:
    X, y = rows_and_labels(2000, 5)
    calls = []
    make = pieces(X, y)

    def factory() -> Iterator[tuple[Any, ...]]:
        calls.append(1)
        return make()

    machine = LinearODMClassifier(lam=lam).fit_chunks(factory, classes=[0, 1])
    # And the look at the first chunk; where lam is to be found, a pass for it between two such looks.
    assert len(calls) == len(machine.history_) + before
    assert len(calls) <= 7 + before


def test_memory_is_bounded_by_the_chunk() -> None:
    def factory() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        rng = np.random.default_rng(0)
        for _ in range(120):
            X = rng.normal(size=(20_000, 20))  # 3 MB a chunk, 380 MB in all
            yield X, (X[:, 0] + rng.normal(size=20_000) > 0).astype(int)

    machine = LinearODMClassifier(tol=1e-3).fit_chunks(
        lambda: (c for c, _ in zip(factory(), range(3), strict=False))
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    machine.fit_chunks(factory, classes=[0, 1])
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 120_000
    )  # kB; the rest is the allocator's


def test_chunks_that_make_no_sense(tmp_path: Path) -> None:
    X, y = rows_and_labels(200, 3)
    bad = X.copy()
    bad[150, 0] = np.nan
    table = pa.table({"a": X[:, 0], "y": y})
    machine = LinearODMClassifier()
    one_shot = iter([(X, y)])
    for chunks, more, message in [
        (pieces(bad, y), {}, "NaN"),
        (lambda: iter(()), {"classes": [0, 1]}, "no chunk"),
        (lambda: [(X,)], {}, "tuple"),
        (lambda: one_shot, {"classes": [0, 1]}, "start anew"),
        (pieces(X, y), {"classes": [0, 5]}, "not in classes"),
        (pieces(X, np.zeros(200, dtype=int)), {}, "one class"),
        (lambda: [(X, y), (X[:, :2], y)], {}, "features"),
        (pieces(X, y, -np.ones(200)), {"classes": [0, 1]}, "negative"),
        (table, {}, "label"),
        (table, {"label": "z"}, "no column 'z'"),
        (3, {}, "chunks must be"),
        (pieces(X, y), {"batch_rows": 0}, "batch_rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            machine.fit_chunks(chunks, **more)
        assert not hasattr(machine, "coef_")
    with pytest.raises(ValueError, match="hinge"):
        LinearODMClassifier(loss="hinge").fit_chunks(pieces(X, y))


def test_reading_ahead_passes_everything_on() -> None:
    assert list(read_ahead(range(20))) == list(range(20))

    def fails() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        list(read_ahead(fails()))
    reader = read_ahead(iter(range(1000)))
    assert next(reader) == 0
    reader.close()  # ends the other thread too


# --------------------------------------------------------------------------------------------- partial_fit


def test_the_first_partial_fit_is_a_fit() -> None:
    X, y = rows_and_labels(300, 4)
    weights = weights_for(300)
    same(
        LinearODMClassifier(tol=1e-11).partial_fit(X, y, classes=[0, 1], sample_weight=weights),
        LinearODMClassifier(tol=1e-11).fit(X, y, weights),
    )


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_partial_fits_come_near_the_fit(form: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    y = (X @ rng.normal(size=6) + rng.normal(size=20_000) > 0).astype(int)
    rows = sparse.csr_matrix(X) if form == "csr" else X
    whole, stream = (
        LinearODMClassifier(lam=100.0, theta=0.5).fit(rows, y),
        LinearODMClassifier(lam=100.0, theta=0.5),
    )
    far = []
    for i in range(0, 20_000, 2000):
        stream.partial_fit(rows[i : i + 2000], y[i : i + 2000], classes=[0, 1])
        far.append(np.linalg.norm(stream.coef_ - whole.coef_) / np.linalg.norm(whole.coef_))
    assert far[-1] < 0.01 and far[-1] < far[0] / 3
    # Far nearer than the last rows alone would come.
    last = LinearODMClassifier(lam=100.0, theta=0.5).fit(rows[18_000:], y[18_000:])
    assert far[-1] < 0.3 * np.linalg.norm(last.coef_ - whole.coef_) / np.linalg.norm(whole.coef_)


def test_partial_fit_is_exact_where_no_row_changes_sides() -> None:
    """upsilon = 1 and theta = 0 is least squares: the quadratic forgets nothing."""
    X, y = rows_and_labels(600, 4)
    stream = LinearODMClassifier(upsilon=1.0, theta=0.0, tol=1e-12)
    for i in range(0, 600, 150):
        stream.partial_fit(X[i : i + 150], y[i : i + 150], classes=[0, 1])
    whole = LinearODMClassifier(upsilon=1.0, theta=0.0, tol=1e-12).fit(X, y)
    same(stream, whole)
    assert stream.objective_ == pytest.approx(whole.objective_, rel=1e-10)


def test_partial_fit_with_many_features() -> None:
    X = sparse.random(900, 5000, density=0.02, format="csr", random_state=0)
    rng = np.random.default_rng(0)
    y = (np.asarray(X @ rng.normal(size=5000)).ravel() > 0).astype(int)
    stream = LinearODMClassifier(lam=1000.0)
    scores = [
        stream.partial_fit(X[i : i + 100], y[i : i + 100], classes=[0, 1]).score(X, y)
        for i in range(0, 900, 100)
    ]
    assert scores[-1] > scores[0] + 0.1


def test_partial_fit_refuses_what_it_cannot_do() -> None:
    X, y = rows_and_labels(100, 3)
    with pytest.raises(ValueError, match="classes must be given"):
        LinearODMClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="balanced"):
        LinearODMClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(AttributeError, match="partial_fit"):
        LinearODMClassifier(loss="hinge").partial_fit(X, y, classes=[0, 1])
    machine = LinearODMClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not in classes"):
        machine.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="the same at every call"):
        machine.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="features"):
        machine.partial_fit(X[:, :2], y)
