"""Tables that nothing can be learnt from: one sentence that names what, where and what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
from sodm.cli.check import check_labels, check_rows, refuse_too_large
from sodm.cli.inputs import Rows, Source
from sodm.cli.main import _sentence
from sodm.cli.targets import check_target
from sodm.cli.task import numbers
from sodm.data import DataError
from sodm.files import atomic_write

N = 60


def rows_of(tmp_path: Path, row: Callable[[int], str], head: str = "a,b,class") -> tuple[str, Rows]:
    """The rows of a table written line by line."""
    path = tmp_path / "t.csv"
    path.write_text("\n".join([head, *map(row, range(N))]) + "\n")
    return str(path), Source(str(path), label=head.rsplit(",", 1)[1]).rows()


@pytest.mark.parametrize(
    ("label", "says"),
    [
        (lambda i: "no", "column 'class' has the label 'no' in every row, .*--label"),
        (lambda i: "3.5", "the label 3.5 in every row"),
        (lambda i: f"{i / 7}" if i else "n.a.", "numbers for labels, but 'n.a.' in 1 of 60 rows"),
        (lambda i: f"2024-{1 + i % 12:02}-{1 + i % 28:02}", r"dates or times for labels \('2024-01-01'\)"),
        (lambda i: f"name {i}", "60 different labels in 60 rows, such as 'name 0'.*--task classification"),
    ],
)
def test_labels_that_cannot_be_learnt(tmp_path: Path, label: Callable[[int], str], says: str) -> None:
    path, rows = rows_of(tmp_path, lambda i: f"{i * i},{-i},{label(i)}")
    with pytest.raises(DataError, match=says):
        check_labels(path, rows, "auto")


@pytest.mark.parametrize("label", [lambda i: "yes" if i % 2 else "no", lambda i: f"{i % 3}", lambda i: i / 7])
def test_labels_that_can(tmp_path: Path, label: Callable[[int], object]) -> None:
    check_labels(*rows_of(tmp_path, lambda i: f"{i * i},{-i},{label(i)}"), "auto")


def test_classes_that_are_asked_for_are_classes(tmp_path: Path) -> None:
    path, rows = rows_of(tmp_path, lambda i: f"{i * i},{-i},{f'{i / 7}' if i else 'n.a.'}")
    check_labels(path, rows, "classification")
    with pytest.raises(DataError, match="in 1 of 60 rows"):
        check_labels(path, rows, "regression")


def test_numbers_that_cannot_be_squared(tmp_path: Path) -> None:
    path, rows = rows_of(tmp_path, lambda i: f"{1e300 if i == 5 else i * i},{-i},{i % 2}")
    with pytest.raises(DataError, match=r"column 'a' has 1e\+300 in row 6, .*mend"):
        check_rows(path, rows)
    with pytest.raises(DataError, match="column 'length'"):  # as the model calls it
        refuse_too_large(path, rows, ["length", "width"])
    with pytest.raises(DataError, match=r"size 1e\+200, .*larger unit"):
        numbers("t.csv", np.array([1.0, -1e200]))
    with pytest.raises(DataError, match=r"text, such as 'n\.a\.'"):  # not the first, which is none
        numbers("t.csv", np.array(["1.5", "n.a."]))


def test_columns_of_one_value(tmp_path: Path) -> None:
    path, rows = rows_of(tmp_path, lambda i: f"{i * i},7,{i % 2}")
    assert check_rows(path, rows) == (
        "a column with one value only: 'b'; what says nothing can be left out with --ignore NAME",
    )
    path, rows = rows_of(tmp_path, lambda i: f"1,7,{i % 2}")
    with pytest.raises(DataError, match="every column has one value only in all 60 rows"):
        check_rows(path, rows)


def test_a_value_that_hides_all_others_is_noted(tmp_path: Path) -> None:
    path, rows = rows_of(tmp_path, lambda i: f"{-1e9 if i == 5 else i * i},{-i},{i % 2}")
    (note,) = check_rows(path, rows)
    assert note.startswith("column 'a' goes to -1e+09, ")
    path, rows = rows_of(tmp_path, lambda i: f"{1e4 if i == 5 else i * i},{i == 7:d},{i % 2}")
    assert check_rows(path, rows) == ()
    path, rows = rows_of(tmp_path, lambda i: f"{'' if i == 3 else 1e9 if i == 5 else i * i},{-i},{i % 2}")
    assert len(check_rows(path, rows)) == 1  # with gaps it is a table


def test_what_is_read_is_never_written_over(tmp_path: Path) -> None:
    """And what cannot be written is said before anything is computed."""
    data, link = tmp_path / "data.csv", tmp_path / "link.csv"
    data.write_text("a,b,class\n1,2,x\n")
    link.symlink_to(data)
    for source in (data, link, tmp_path / ".." / tmp_path.name / "data.csv"):
        with pytest.raises(ValueError, match="is read by this command: write to another file"):
            check_target(data, source)
    with pytest.raises(FileNotFoundError, match="make the folder first"):
        check_target(tmp_path / "none" / "m.sodm", data)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_target(tmp_path, data)
    check_target(tmp_path / "m.sodm", data, "a9a")  # a name of a data set is no file


def test_a_full_disk_is_named_with_the_file_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught, atomic_write(tmp_path / "m.sodm"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as file.write has it: without a name
    assert _sentence(caught.value) == f"{tmp_path / 'm.sodm'}: No space left on device."
    assert "write it elsewhere" in _sentence(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_refused_because_data_are_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for path in ("-", str(tmp_path / "pipe.csv")):
        with pytest.raises(ValueError, match=r"is a pipe, .*save it to a file first"):
            Source(path).rows()
