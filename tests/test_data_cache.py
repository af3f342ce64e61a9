"""The cache beside a text file: used only while file and options are the same, never trusted blindly."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sodm.data import read
from sodm.data.cache import SUFFIX


def test_the_cache_gives_the_same_rows(tmp_path: Path) -> None:
    for name, text in (("a", "x 1:1.5 3:2\ny 2:1\n"), ("b.csv", "u,v,y\n1,2,k\n3,4,l\n")):
        path = tmp_path / name
        path.write_text(text)
        plain = read(path)
        first, second = read(path, cache=True), read(path, cache=True)
        assert (tmp_path / (name + SUFFIX)).exists()
        for data in (first, second):
            assert (data.X != plain.X).sum() == 0 and data.X.shape == plain.X.shape
            assert data.y.tolist() == plain.y.tolist() and data.feature_names == plain.feature_names


def test_it_is_really_used_and_really_checked(tmp_path: Path) -> None:
    path, kept = tmp_path / "a", tmp_path / ("a" + SUFFIX)
    path.write_text("1 1:1\n")
    read(path, cache=True)
    with np.load(kept) as stored:
        arrays = dict(stored)
    arrays["data"] = np.array([42.0])
    np.savez(kept, **arrays)
    assert read(path, cache=True).X[0, 0] == 42  # so it was the cache that answered

    status = path.stat()
    path.write_text("1 1:2\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # same size, same time, other content
    assert read(path, cache=True).X[0, 0] == 2


def test_options_are_part_of_the_key(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1 1:1\n")
    assert read(path, cache=True).X.shape == (1, 1)
    assert read(path, cache=True, n_features=5).X.shape == (1, 5)
    assert read(path, cache=True, zero_based=True).X.shape == (1, 2)


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    path, kept = tmp_path / "a", tmp_path / ("a" + SUFFIX)
    path.write_text("1 1:1\n")
    read(path, cache=True)
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert read(path, cache=True).X[0, 0] == 1
    assert len(kept.read_bytes()) == len(whole)


def test_a_file_that_cannot_be_parsed_leaves_no_cache(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1 1:1\n1 x\n")
    with pytest.raises(ValueError, match="line 2"):
        read(path, cache=True)
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
