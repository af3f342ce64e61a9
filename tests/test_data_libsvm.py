"""LIBSVM text: what is written reads back to the last bit; what is wrong is named by line and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from sodm.data import DataError, read_libsvm, write_libsvm

SAME_FOLDER = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder: Path, text: str | bytes, name: str = "data") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


LABELS = st.one_of(
    st.lists(st.integers(-(10**17), 10**17), min_size=1),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.lists(
        st.text(
            st.characters(exclude_characters=": #\ufeff\x7f", exclude_categories=("Cc", "Cs")), min_size=1
        ),
        min_size=1,
    ),
)


@SAME_FOLDER
@given(data=st.data(), zero_based=st.booleans())
def test_round_trip(tmp_path: Path, data: st.DataObject, zero_based: bool) -> None:
    labels = data.draw(LABELS)
    width = data.draw(st.integers(1, 6))
    X = data.draw(
        hnp.arrays(
            np.float64, (len(labels), width), elements=st.floats(allow_nan=False, allow_infinity=False)
        )
    )
    path = tmp_path / "data"
    write_libsvm(path, X, labels, zero_based=zero_based)
    read, y = read_libsvm(path, n_features=width, zero_based=zero_based)
    assert np.array_equal(read.toarray(), X)
    if isinstance(labels[0], str):
        assert list(map(str, y.tolist())) == labels or [float(v) for v in y] == [float(v) for v in labels]
    else:
        assert y.tolist() == labels


@pytest.mark.filterwarnings("ignore:.*cut short")
@SAME_FOLDER
@given(text=st.binary(max_size=300) | st.text("01289:.-+ e#\n\tnax", max_size=300).map(str.encode))
def test_any_bytes_are_rows_or_a_clear_error(tmp_path: Path, text: bytes) -> None:
    path = write(tmp_path, text)
    try:
        X, y = read_libsvm(path)
    except DataError as error:
        assert str(path) in str(error)
    else:
        assert X.shape[0] == len(y) > 0
        X.check_format(full_check=True)
        assert np.isfinite(X.data).all()


def test_agrees_with_scikit_learn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(
        500, 80, 0.1, random_state=1, data_rvs=lambda n: rng.normal(size=n) * 10.0 ** rng.integers(-9, 9, n)
    )
    y = rng.integers(-3, 4, 500)
    path = tmp_path / "data"
    write_libsvm(path, X, y)
    theirs, labels = load_svmlight_file(str(path), n_features=80)
    ours, mine = read_libsvm(path, n_features=80)
    assert (theirs != ours).nnz == 0 and np.array_equal(labels, mine)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_change_nothing(tmp_path: Path, n_threads: int) -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"{'abc'[i % 3]} 1:{v!r} {i % 90 + 2}:1" for i, v in enumerate(rng.normal(size=120_000).tolist())
    ]
    path = write(tmp_path, "\n".join(lines) + "\n")
    one, y_one = read_libsvm(path, n_threads=1)
    many, y_many = read_libsvm(path, n_threads=n_threads)
    assert (one != many).nnz == 0 and np.array_equal(y_one, y_many)
    assert one.shape == (120_000, 91)


def test_labels_keep_their_kind(tmp_path: Path) -> None:
    def labels(text: str) -> np.ndarray:
        return read_libsvm(write(tmp_path, text)).y

    assert labels("+1 1:1\n-1 1:1\n").dtype == np.int64
    assert labels("1 1:1\n0.5 1:1\n").tolist() == [1.0, 0.5]
    assert labels("1 1:1\ncat 1:1\n").tolist() == ["1", "cat"]
    assert labels("nan 1:1\n1 1:1\n").tolist() == ["nan", "1"]
    assert labels("größer 1:1\n猫 1:1\n").tolist() == ["größer", "猫"]
    assert labels("99999999999999999999 1:1\n1 1:1\n").dtype == np.float64


def test_index_width_follows_need(tmp_path: Path) -> None:
    assert read_libsvm(write(tmp_path, "1 2147483647:1\n")).X.indices.dtype == np.int32
    wide = read_libsvm(write(tmp_path, "1 2147483648:1\n")).X
    assert wide.indices.dtype == wide.indptr.dtype == np.int64
    assert wide.shape == (1, 2147483648)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("1 1:1\n1 0:1\n", 2, 3, "zero_based=True"),
        ("1 1:1\n\n# note\n1 3:1 2:1\n", 4, 7, "ascend"),
        ("1 1:1 1:1\n", 1, 7, "ascend"),
        ("1 1:a\n", 1, 5, "expected a number"),
        ("1 1:1,2\n", 1, 6, "after a number"),
        ("1 1\n", 1, 3, "index:value"),
        ("1 1:\n", 1, 5, "expected a number"),
        ("1:1 2:1\n", 1, 1, "label"),
        ("1 1:inf\n", 1, 5, "finite"),
        ("1 1:1e999\n", 1, 5, "too large"),
        ("1 qid:1 1:1\n", 1, 3, "qid"),
        ("1 1:0.5\n1 9:1\n", 2, 3, "beyond the 8 features"),
    ],
)
def test_errors_name_file_line_and_column(
    tmp_path: Path, text: str, line: int, column: int, says: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=says) as caught:
        read_libsvm(path, n_features=8)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"{path}, line {line}, column {column}: ")


def test_an_error_deep_in_a_large_file_has_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "1 1:0.123456\n" * 300_000 + "1 1:oops\n" + "1 1:bad\n" * 100_000)
    with pytest.raises(DataError) as caught:
        read_libsvm(path, n_threads=4)
    assert (caught.value.line, caught.value.column) == (300_001, 5)


def test_empty_files_and_missing_files(tmp_path: Path) -> None:
    for text in ("", "\n\n", "# only a comment\n"):
        with pytest.raises(DataError, match="no rows"):
            read_libsvm(write(tmp_path, text))
    with pytest.raises(FileNotFoundError):
        read_libsvm(tmp_path / "absent")


def test_a_last_line_without_newline_is_read_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="cut short"):
        X, _ = read_libsvm(write(tmp_path, "1 1:1\n-1 1:0.25"))
    assert X.toarray().ravel().tolist() == [1, 0.25]


def test_windows_lines_tabs_comments_and_byte_order_mark(tmp_path: Path) -> None:
    X, y = read_libsvm(write(tmp_path, b"\xef\xbb\xbf1\t1:1  3:+2 \r\n\r\n2 2:.5#note\r\n"))
    assert X.toarray().tolist() == [[1, 0, 2], [0, 0.5, 0]] and y.tolist() == [1, 2]


def test_the_locale_does_not_matter(tmp_path: Path) -> None:
    import locale

    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C"):
            try:
                locale.setlocale(locale.LC_NUMERIC, name)
            except locale.Error:
                continue
            assert read_libsvm(write(tmp_path, "1 1:0.25\n")).X[0, 0] == 0.25
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def test_the_writer_refuses_what_cannot_be_read_back(tmp_path: Path) -> None:
    path = write(tmp_path, "old")
    for label in ("", "a b", "a:b", "#a", "a\nb"):
        with pytest.raises(ValueError, match="label"):
            write_libsvm(path, np.ones((1, 1)), [label])
    with pytest.raises(ValueError, match="NaN"):
        write_libsvm(path, [[np.nan]], [1])
    with pytest.raises(ValueError, match="one label per row"):
        write_libsvm(path, [[1.0]], [1, 2])
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_known_result_of_a_real_set() -> None:
    """svmguide1 by the LIBSVM guide: an RBF SVM on raw values has 2,677 of 4,000 right."""
    import os

    from sklearn.svm import SVC

    folder = os.environ.get("SODM_DATA")
    if not folder or not Path(folder, "svmguide1.libsvm.xz").exists():
        pytest.skip("svmguide1.libsvm.xz is not in $SODM_DATA")
    X, y = read_libsvm(Path(folder, "svmguide1.libsvm.xz"))
    machine = SVC(C=1, gamma=0.25).fit(X[:3089], y[:3089])
    assert np.sum(machine.predict(X[3089:]) == y[3089:]) == 2677
