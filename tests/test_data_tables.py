"""CSV, TSV, Parquet, Arrow, .npz and .npy: labels found and kept, text features refused, damage noticed."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from sodm.data import DataError, read, read_csv, read_npy, read_npz


def write(folder: Path, text: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# ------------------------------------------------------------------------------------------------ CSV


def test_header_label_and_separator_are_found(tmp_path: Path) -> None:
    for text in (
        "a,class,b\n1,x,2\n3,y,4\n",
        "a;class;b\r\n1;x;2\r\n3;y;4\r\n",
        '"a","class","b"\n1,"x",2\n3,y,4\n',
    ):
        data = read(write(tmp_path, text))
        assert data.X.tolist() == [[1, 2], [3, 4]]
        assert data.y.tolist() == ["x", "y"] and data.feature_names == ("a", "b")
    data = read(write(tmp_path, gzip.compress(b"1\t2\t0\n3\t4\t1\n"), "data.tsv.gz"), label=-1)
    assert data.X.tolist() == [[1, 2], [3, 4]] and data.y.tolist() == [0, 1] and data.feature_names is None


def test_the_label_is_named_or_numbered_or_absent(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,c\n1,2,3\n4,5,6\n")
    assert read_csv(path, label="b").y.tolist() == [2, 5]
    assert read_csv(path, label=0).feature_names == ("b", "c")
    assert read_csv(path, label=-1).y.tolist() == [3, 6]
    nothing = read_csv(path, label=None)
    assert nothing.y is None and nothing.X.shape == (2, 3)


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("a,b\n1,2\n", {}, "which column has the labels"),
        ("1,2\n", {}, "which column has the labels"),
        ("y,target\n1,2\n", {}, "which column has the labels"),
        ("a,b\n1,2\n", {"label": "c"}, "no column named 'c'"),
        ("1,2\n", {"label": "c"}, "have no names"),
        ("a,b\n1,2\n", {"label": 2}, "no column 2"),
        ("a,a\n1,2\n", {"label": 0}, "two columns are named 'a'"),
        ("a,y\n", {}, "no rows"),
        ("", {}, "no rows"),
        ("\0\1\2", {"label": 0}, "not text"),
        ("\xff\xfe".encode("latin-1"), {"label": 0}, "UTF-8"),
    ],
)
def test_what_cannot_be_decided_is_asked(tmp_path: Path, text: str | bytes, options: dict, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_csv(write(tmp_path, text), **options)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("colour,y\n1,0\nred,1\n", 3, 1, r"text 'red' in column 1 \('colour'\).*OneHotEncoder"),
        ("a,b,y\n1,,0\n", 2, 3, r"no value in column 2 \('b'\).*SimpleImputer"),
        ("a,b,y\n1,NaN,0\n", 2, 3, "SimpleImputer"),
        ("a,b,y\n\n1,2,0\n1,2\n", 4, 4, "2 fields where there should be 3"),
        ("a,b,y\n1,2,0,9\n", 2, 7, "more than 3 fields"),
        ("a,b,y\n1,2,\n", 2, 5, "label is missing"),
        ('a,b,y\n1,"2,0\n', 2, 3, "quote"),
    ],
)
def test_errors_name_line_column_and_remedy(
    tmp_path: Path, text: str, line: int, column: int, says: str
) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read_csv(write(tmp_path, text))
    assert (caught.value.line, caught.value.column) == (line, column)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    X=hnp.arrays(
        np.float64, st.tuples(st.integers(1, 30), st.integers(1, 5)), elements=st.floats(-1e300, 1e300)
    ),
    separator=st.sampled_from(",;\t|"),
)
def test_csv_round_trip(tmp_path: Path, X: np.ndarray, separator: str) -> None:
    lines = [separator.join([*map(repr, row), f'"name ""{i % 3}"" x"']) for i, row in enumerate(X.tolist())]
    data = read_csv(write(tmp_path, "\n".join(lines) + "\n"), label=-1, separator=separator)
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == [f'name "{i % 3}" x' for i in range(len(X))]


# ------------------------------------------------------------------------------------ Parquet and Arrow


@pytest.fixture(params=["data.parquet", "data.feather", "data.arrow"])
def store(request: pytest.FixtureRequest, tmp_path: Path):
    path = tmp_path / request.param

    def write_table(columns: dict) -> Path:
        table = pa.table(columns)
        if path.suffix == ".parquet":
            pyarrow.parquet.write_table(table, path)
        else:
            pyarrow.feather.write_feather(table, str(path))
        return path

    return write_table


def test_arrow_tables(store) -> None:
    path = store(
        {"a": [1, 2], "b": pa.array([0.5, 1.5], pa.float32()), "y": ["cat", "dog"], "c": [True, False]}
    )
    data = read(path)
    assert data.X.tolist() == [[1, 0.5, 1], [2, 1.5, 0]]
    assert data.y.tolist() == ["cat", "dog"] and data.feature_names == ("a", "b", "c")
    coded = store({"a": [1, 2, 3], "y": pa.array(["u", "v", "u"]).dictionary_encode()})
    assert read(coded).y.tolist() == ["u", "v", "u"]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"a": ["red", "blue"], "y": [0, 1]}, "column 'a' holds string.*OneHotEncoder"),
        ({"a": [1, None], "y": [0, 1]}, "row 1 .*column 'a'.*SimpleImputer"),
        ({"a": [1.0, float("nan")], "y": [0, 1]}, "row 1 of column 'a'"),
        ({"a": [1, 2], "y": [0, None]}, "label in row 1"),
        ({"a": [1, 2], "b": [0, 1]}, "which column"),
    ],
)
def test_arrow_tables_that_do_not_do(store, columns: dict, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read(store(columns))


def test_damaged_arrow_files(store) -> None:
    path = store({"a": list(range(1000)), "y": [0, 1] * 500})
    whole = path.read_bytes()
    for cut in (0, 3, 50, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match=r"no whole Parquet or Arrow file"):
            read(path)


# ------------------------------------------------------------------------------------------------ NumPy


def test_npz_dense_and_sparse(tmp_path: Path) -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    np.savez(tmp_path / "dense.npz", X=X.astype(np.float32), y=y, feature_names=["u", "v"])
    data = read(tmp_path / "dense.npz")
    assert np.array_equal(data.X, X) and data.y.tolist() == y.tolist() and data.feature_names == ("u", "v")
    sparse.save_npz(tmp_path / "sparse.npz", sparse.csr_matrix(X))
    data = read(tmp_path / "sparse.npz", n_features=4)
    assert data.y is None and data.X.shape == (3, 4) and np.array_equal(data.X.toarray()[:, :2], X)


def test_npy_with_a_label_column(tmp_path: Path) -> None:
    path = tmp_path / "table.npy"
    np.save(path, np.array([[0.5, 1], [1.5, 2]]))
    X, y = read(path, label=-1)
    assert X.tolist() == [[0.5], [1.5]] and y.tolist() == [1, 2] and y.dtype == np.int64
    np.save(path, np.array([(0.5, 3, b"x")], dtype=[("a", "f4"), ("b", "i8"), ("label", "S1")]))
    data = read_npy(path)
    assert data.X.tolist() == [[0.5, 3]] and data.feature_names == ("a", "b") and len(data.y) == 1


def test_numpy_files_that_do_not_do(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    cases = [
        ({"Z": np.ones(3)}, "expected arrays named X and y"),
        ({"X": np.ones(3)}, "two dimensions"),
        ({"X": np.ones((2, 2)), "y": np.ones(3)}, "one label per row"),
        ({"X": np.array([["a"]])}, "numbers"),
        ({"X": np.array([[np.inf]])}, "finite"),
        ({"X": np.array([[object()]], dtype=object)}, "without pickles"),
        (
            {
                "data": np.ones(1),
                "indices": np.array([7]),
                "indptr": np.array([0, 1]),
                "shape": np.array([1, 2]),
            },
            "no whole .npz",
        ),
    ]
    for arrays, says in cases:
        np.savez(path, **arrays)
        with pytest.raises(DataError, match=says):
            read_npz(path)
    np.savez(path, X=np.ones((50, 3)), y=np.ones(50))
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError):
            read_npz(path)
    plain = tmp_path / "data.npy"
    np.save(plain, np.ones((50, 3)))
    plain.write_bytes(plain.read_bytes()[:-8])
    with pytest.raises(DataError, match="no whole"):
        read_npy(plain, label=0)


def test_the_number_of_features_can_be_fixed(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2,0\n")
    with pytest.raises(DataError, match="2 features where there should be 3"):
        read(path, label=-1, n_features=3)
    assert read(write(tmp_path, "1 1:1\n", "data"), n_features=3).X.shape == (1, 3)
