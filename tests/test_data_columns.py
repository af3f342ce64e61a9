"""Tables of any columns: what each is taken for, and what is asked rather than guessed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sodm.data import DataError
from sodm.data.columns import Reading, Table
from sodm.data.read import format_of
from sodm.data.read_columns import peek_columns, read_columns

UGLY = """when,kg,colour,ok,code,empty,y
2024-03-01,4.5,black,True,1,,a
2024-03-02,,white,false,2,NA,b
2024-03-03,20,black,,1,,b
2024-03-04,5e0,"white",TRUE,2,?,a
"""


def read(path: Path, text: str | bytes, **reading: object) -> Table:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_columns(path, Reading(**reading))  # type: ignore[arg-type]


def test_columns_are_what_all_their_rows_say(tmp_path: Path) -> None:
    table = read(tmp_path / "t.csv", UGLY, ignore=("when",), category=("code",))
    assert [(c.name, c.kind, c.n_missing) for c in table.columns] == [
        ("kg", "number", 1),
        ("colour", "category", 0),
        ("ok", "flag", 1),
        ("code", "category", 0),
    ]
    assert table.y is not None and table.y.tolist() == ["a", "b", "b", "a"] and table.label == "y"
    assert table.columns[0].values[[0, 2, 3]].tolist() == [4.5, 20.0, 5.0]
    assert table.notes == ("column 'empty' was left aside: no value in any row",)
    assert not table.plain_numbers() and table.take([0, 3]).shape == (2, 4)


def test_parquet_says_the_same(tmp_path: Path) -> None:
    text = read(tmp_path / "t.csv", UGLY, ignore=("when",), category=("code",))
    frame = pd.read_csv(tmp_path / "t.csv", parse_dates=["when"])
    frame["ok"] = pd.array([True, False, None, True], dtype="boolean")
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_columns(tmp_path / "t.parquet", Reading(ignore=("when",), category=("code",)))
    assert [(c.name, c.kind) for c in table.columns] == [(c.name, c.kind) for c in text.columns]
    for ours, theirs in zip(table.columns, text.columns, strict=True):
        assert all(a == b or (a != a and b != b) for a, b in zip(ours.values, theirs.values, strict=True))
    with pytest.raises(DataError, match=r"'when' holds dates or times .*leave it out with ignore='when'"):
        read_columns(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (UGLY, r"'when' holds dates or times \('2024-03-01'\)"),
        ("a;y\n1,5;x\n2,5;y\n", r"decimal commas \('1,5'\): say decimal=','"),
        (
            "a,y\n1.5,x\nn.d.,y\n2,x\n3,x\n",
            r"'a' holds numbers, but 'n\.d\.' in line 3: say missing='n\.d\.'",
        ),
        ("a,y\n$1.5,x\n$2,y\n", r"'a' holds numbers with other marks \('\$1\.5'\): write them plainly"),
        ("a;y\n1.234,50;x\n2.345,00;y\n", "numbers with other marks"),
        ("a,y\n5 %,x\n7.5 %,y\n12 %,y\n", "numbers with other marks"),
        ("a,y\nu,€5\nv,€7\nu,€9\n", "'y' holds numbers with other marks"),
        ("a,y\n1,x\n2\n", "line 3, column 1: there are 1 fields where there should be 2"),
        ("a,a,y\n1,2,x\n", "two columns are named 'a'"),
        ("a,y\n1,x\n2,\n", "line 3: the label in column 'y' is missing"),
        (
            "grö,y\n1,x\n".encode("latin-1"),
            "line 1, column 3: byte f6 is not utf-8 text: .*encoding='latin-1'",
        ),
        ("a,y\n1,x\n".encode("utf-16"), "this is UTF-16 text"),
        ('a,y\n"1,x\n', "line 2, column 1: a quotation mark in this row is opened and never closed"),
        ('a,y\n1,x\n2,"x "y" z"\n', "line 3, column 1: a quotation mark stands within a quoted text"),
        ('a,y\n"' + "1,x\n" * 40_000, "line 2, column 1: a field is longer than 131,072 characters; is"),
        ("a,y\r1,x\r2,y\r", "lines end with a carriage return alone"),
        (b"PK\x03\x04\x14\x00", r"a ZIP archive, as the \.xlsx files of Excel are, and no text: save"),
        ("a,y,,\n1,x,,\n", "two columns have no name"),
        ("a,y\n", "there are no rows"),
        ("", "there are no rows"),
        (" \n", "there are no rows"),
        ("sep=;\n", "there are no rows"),
    ],
)
def test_what_may_be_read_in_two_ways_is_asked(tmp_path: Path, text: str | bytes, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read(tmp_path / "t.csv", text)


def test_asked_and_answered(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    assert read(path, "a;y\n1,5;x\n2,5;y\n", decimal=",").columns[0].values.tolist() == [1.5, 2.5]
    assert read(path, "grö,y\n1,x\n".encode("latin-1"), encoding="latin-1").names == ["grö"]
    assert read(path, "a,y\n1,x\n2,y\n".encode("utf-16"), encoding="utf-16").columns[0].values.tolist() == [
        1,
        2,
    ]
    table = read(path, "a,y\n1.5,x\nn.d.,y\n", missing=frozenset(["n.d."]))
    assert table.columns[0].n_missing == 1
    # A model knows its columns: others are not even looked at, and what does not fit is named with its line.
    known = Reading(kinds={"kg": "number", "colour": "category"})
    path.write_text(UGLY)
    assert read_columns(path, known).names == ["kg", "colour"]
    with pytest.raises(DataError, match="line 2, column 1: 'black' in column 'colour' is not a number"):
        read_columns(path, Reading(kinds={"colour": "number"}))
    assert peek_columns(path) == (["when", "kg", "colour", "ok", "code", "empty", "y"], 7)


def test_names_that_look_a_little_like_numbers_are_categories(tmp_path: Path) -> None:
    text = "a,b,c,y\n" + "1.2.3,A-12,10-20,x\n2.0.1,B-12,20-30,y\n" * 3
    assert [column.kind for column in read(tmp_path / "t.csv", text).columns] == ["category"] * 3
    assert read(tmp_path / "t.csv", "a,y\n$1,x\n$1,y\n$2,y\n", category=("a",)).columns[0].kind == "category"
    ranks = read(tmp_path / "t.csv", "a,y\n1,#1\n2,#2\n", category=("y",))
    assert ranks.y is not None and ranks.y.tolist() == ["#1", "#2"]


def test_the_line_that_spreadsheets_put_first(tmp_path: Path) -> None:
    table = read(tmp_path / "t.csv", "sep=;\nkind, of;y\n1;x\n2;y\n")
    assert table.names == ["kind, of"] and table.columns[0].values.tolist() == [1, 2]
    assert peek_columns(tmp_path / "t.csv") == (["kind, of", "y"], 2)
    assert read(tmp_path / "t.csv", "sep=\t\na b\ty\n1\tx\n").names == ["a b"]
    with pytest.raises(DataError, match="its columns are 'sep="):
        read(tmp_path / "t.csv", 'sep="\na,y\n1,x\n')  # no separator: a line like any other
    with pytest.raises(DataError, match="save its sheet as CSV"):
        format_of("book.xlsx")


def test_many_rows_are_read_in_pieces(tmp_path: Path) -> None:
    n = 25_001
    lines = [f"{i % 7}.25,{'ab'[i % 2]},{i % 3}\n" for i in range(n)]
    table = read(tmp_path / "t.csv", "x,c,y\n" + "".join(lines))
    assert table.shape == (n, 2) and table.y is not None and np.array_equal(table.y, np.arange(n) % 3)
    assert np.array_equal(table.columns[0].values, np.arange(n) % 7 + 0.25)
