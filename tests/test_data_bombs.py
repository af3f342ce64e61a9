"""Files that expand beyond all measure are refused, and the memory this takes is bounded.

The bombs are real files, read in a process of their own, whose largest memory is looked at afterwards.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import zstandard
from scipy import sparse

from sodm import data
from sodm.cli.app import app
from sodm.data import DataError, limits, read
from sodm.data.cache import SUFFIX
from sodm.data.read_columns import peek_columns

MIB = 2**20
MOST = 512  # MiB beyond a multiple of what is returned, as docs/data.md says
STATUS = Path("/proc/self/status")
pytestmark = pytest.mark.skipif(
    not STATUS.exists(), reason="the largest memory of a process is read from /proc"
)

READ = """
import json, sys
import pyarrow.feather, pyarrow.parquet, zstandard
from scipy import sparse
from sodm import data

def largest():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))

before, told = largest(), []
for options in json.loads(sys.argv[1]):
    said, returned = None, 0
    try:
        X, y = data.read(**options)
        parts = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
        returned = sum(part.nbytes for part in [*parts, y]) // 2**20
        del X, y, parts
    except data.DataError as error:
        said = str(error)
    told.append({"said": said, "grew": largest() - before, "returned": returned})
print(json.dumps(told))
"""


def read_apart(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    """What a process of its own says of calls of `read`: the error, how far it has grown, what was returned.

    Both in MiB. The growth is that of the largest call so far.
    """
    command = [sys.executable, "-c", READ, json.dumps(calls)]
    return list(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def read_one(path: Path, **options: Any) -> dict[str, Any]:
    return read_apart({"path": str(path), **options})[0]


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda text: lzma.compress(text, preset=0),
    "zst": zstandard.compress,
}
FILLINGS = {
    "zeros": b"\0" * 2**25,
    "blanks": b" " * 2**25,
    "empty lines": b"\n" * 2**25,
    "lines of blanks": (b" " * 99 + b"\n") * (2**25 // 100),
    "a comment": b"#" + b"x" * (2**25 - 1),
    "digits": b"1 1:0." + b"0" * (2**25 - 6),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMPRESSORS)
def test_text_that_unpacks_without_end(tmp_path: Path, kind: str) -> None:
    for filling, text in FILLINGS.items():
        # a gigabyte in many streams, or as much as is quickly made in one
        (tmp_path / f"{filling}.many").write_bytes(COMPRESSORS[kind](text) * 32)
        if filling in ("zeros", "empty lines"):
            (tmp_path / f"{filling}.one").write_bytes(COMPRESSORS[kind](text * 8))
    bombs = sorted(tmp_path.iterdir())
    calls = [{"path": str(path), "format": form} for path in bombs for form in ("libsvm", "csv")]
    told = read_apart(*calls)
    assert len(told) == 16
    for call, one in zip(calls, told, strict=True):
        assert one["grew"] < 384, call
        expected = ("max_expansion", "longer than") if call["format"] == "libsvm" else ("",)
        assert one["said"] is not None and any(words in one["said"] for words in expected), call


def test_what_is_meant_to_expand_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "data.libsvm.gz"
    rows = 12 * 2**20
    path.write_bytes(gzip.compress(b"1 1:1\n") + gzip.compress(b"0 1:1\n" * (rows - 1)))
    with pytest.raises(DataError, match=r"unpacks to more than 64 MiB.*raise max_expansion"):
        read(path)
    told = read_one(path, max_expansion=2000)
    assert told["said"] is None and told["returned"] >= rows * 24 // MIB
    assert told["grew"] < 4 * told["returned"] + MOST


def numpy_header(shape: tuple[int, ...]) -> bytes:
    text = str({"descr": "<f8", "fortran_order": False, "shape": shape}).encode()
    text += b" " * (118 - len(text) - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize("kind", ["npy", "npz", "npz, packed", "npz, sparse"])
def test_arrays_that_say_they_are_terabytes(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"data.{kind[:3]}"
    bomb = numpy_header((10**12, 1)) + bytes(64)
    if kind == "npy":
        path.write_bytes(bomb)
    else:
        how = zipfile.ZIP_DEFLATED if "packed" in kind else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", how) as archive:
            for name in ("data", "indices", "indptr", "shape") if "sparse" in kind else ("X", "y"):
                archive.writestr(name + ".npy", bomb)
    told = read_one(path, label=0)
    assert "should have 8,000,000,000,000 bytes for its shape, and has 64" in told["said"]
    assert told["grew"] < 16


@pytest.mark.slow
def test_packed_arrays(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=np.zeros((2**22, 8)), y=np.zeros(2**22))
    refused, told = read_apart({"path": str(path)}, {"path": str(path), "max_expansion": 2000})
    assert "max_expansion" in refused["said"] and refused["grew"] < 16
    assert told["said"] is None and told["returned"] == 288 and told["grew"] < 4 * 288 + MOST


def test_other_packers_in_an_npz_are_refused(tmp_path: Path) -> None:
    """Python unpacks them without a limit; NumPy never writes them."""
    path = tmp_path / "data.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive, archive.open("X.npy", "w") as file:
        file.write(numpy_header((2**25, 1)))
        file.write(bytes(2**28))
    told = read_one(path)
    assert "packed in a way that NumPy never uses" in told["said"] and told["grew"] < 16


def test_columns_of_far_more_rows_than_values(tmp_path: Path) -> None:
    """A CSC matrix of a terabyte of empty rows takes no room in a file, and eight terabytes as CSR."""
    path = tmp_path / "data.npz"
    np.savez(
        path,
        data=np.ones(1),
        indices=np.zeros(1, dtype=np.int64),
        indptr=np.array([0, 1]),
        shape=np.array([2**40, 1]),
        format=b"csc",
    )
    told = read_one(path)
    assert "its rows come to more than 64 MiB" in told["said"] and told["grew"] < 16


@pytest.mark.slow
def test_a_cache_never_expands(tmp_path: Path) -> None:
    path, kept = tmp_path / "data.libsvm", tmp_path / ("data.libsvm" + SUFFIX)
    path.write_text("1 1:1\n")
    read(path, cache=True)
    with np.load(kept) as stored:
        arrays = dict(stored)
    arrays["data"] = np.array([42.0])
    np.savez(kept, **arrays)
    assert read(path, cache=True).X[0, 0] == 42  # this one is believed,
    arrays["y"] = np.zeros(2**27)
    np.savez_compressed(kept, **arrays)
    told = read_one(path, cache=True)
    assert told["said"] is None and told["grew"] < 64  # and this one is made anew
    assert read(path, cache=True).X[0, 0] == 1


def test_a_cache_with_indices_that_do_not_fit_is_made_anew(tmp_path: Path) -> None:
    path, kept = tmp_path / "data.libsvm", tmp_path / ("data.libsvm" + SUFFIX)
    path.write_text("1 1:1\n")
    read(path, cache=True)
    with np.load(kept) as stored:
        arrays = dict(stored)
    arrays["indices"] = np.array([7], dtype=np.int32)
    np.savez(kept, **arrays)
    assert read(path, cache=True).X.indices.tolist() == [0]


def test_runs_of_equal_values_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    part = pa.table({"a": np.zeros(2**20), "y": np.zeros(2**20, dtype=np.int64)})
    with pa.parquet.ParquetWriter(path, part.schema) as writer:
        for _ in range(128):
            writer.write_table(part)  # 2 GiB in all
    told = read_one(path)
    assert "max_expansion" in told["said"] and told["grew"] < 64


@pytest.mark.slow
def test_names_that_are_written_once_in_parquet_and_arrow(tmp_path: Path) -> None:
    """A label of a megabyte, a million times: a file has it once, an array has it a million times."""
    names = pa.DictionaryArray.from_arrays(np.zeros(2**20, dtype=np.int32), pa.array(["x" * 2**20]))
    table = pa.table({"a": np.random.default_rng(0).normal(size=2**20), "y": names})
    pa.parquet.write_table(table, tmp_path / "data.parquet")
    pa.feather.write_feather(table, tmp_path / "data.feather")
    for name in ("data.parquet", "data.feather"):
        told = read_one(tmp_path / name)
        assert "labels, the longest of 1,048,576 letters, come to more than" in told["said"]
        assert told["grew"] < 128
    (tmp_path / "data.libsvm").write_bytes(b"x" * 2**20 + b" 1:1\ny 1:1\n" + b"y\n" * 2**20)
    told = read_one(tmp_path / "data.libsvm")
    assert "labels, the longest of 1,048,576 letters, come to more than" in told["said"]
    assert told["grew"] < 256


@pytest.mark.slow
@pytest.mark.parametrize("packer", ["zstd", "lz4"])
def test_packed_buffers_of_arrow(tmp_path: Path, packer: str) -> None:
    path = tmp_path / "data.arrow"
    table = pa.table({"a": np.zeros(2**25), "y": np.zeros(2**25, dtype=np.int64)})
    pa.feather.write_feather(table, path, compression=packer)
    refused, told = read_apart({"path": str(path)}, {"path": str(path), "max_expansion": 1e6})
    assert "max_expansion" in refused["said"] and refused["grew"] < 64
    assert told["said"] is None and told["returned"] == 512 and told["grew"] < 4 * 512 + MOST


@pytest.mark.slow
def test_rows_without_values_in_arrow(tmp_path: Path) -> None:
    path = tmp_path / "data.arrow"
    nothing = pa.Array.from_buffers(pa.null(), 2**31 - 1, [None])
    batch = pa.RecordBatch.from_arrays([nothing, nothing], ["a", "y"])
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
    told = read_one(path)
    assert "its rows come to more than 64 MiB" in told["said"] and told["grew"] < 64


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("data.libsvm", "data.csv")),
        *("data.npz", "data.npy", "data.parquet", "data.arrow"),
    ],
)
def test_reading_takes_four_times_what_it_returns_at_the_most(tmp_path: Path, name: str) -> None:
    rng, path = np.random.default_rng(0), tmp_path / name
    n, d = 500_000, 20
    X, y = np.round(rng.normal(size=(n, d)), 2), np.arange(n) % 2
    if name == "data.libsvm":
        path.write_text("".join(f"{i % 2} 1:{v}\n" for i, v in enumerate(X.ravel()[: 10 * n].tolist())))
    elif name == "data.csv":
        lines = [f"{k}," + ",".join(row) for k, row in zip(y.tolist(), X.astype(str).tolist(), strict=True)]
        path.write_text("\n".join(lines) + "\n")
    elif name == "data.npz":
        rows = sparse.csc_matrix(np.where(rng.random((n, d)) < 0.3, X, 0))
        np.savez(
            path,
            data=rows.data,
            indices=rows.indices,
            indptr=rows.indptr,
            shape=rows.shape,
            format=b"csc",
            y=y,
        )
    elif name == "data.npy":
        np.save(path, np.column_stack([y, X]))
    else:
        table = pa.table({"y": y, **{str(j): X[:, j] for j in range(d)}})
        (pa.parquet.write_table if name == "data.parquet" else pa.feather.write_feather)(table, path)
    told = read_one(path, label=0)
    assert told["returned"] > 30
    assert told["grew"] < 4 * told["returned"] + 128  # far less beyond than the docs allow


# ------------------------------------------------------------------------------------ the option


def test_the_option_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "data.libsvm"
    path.write_text("1 1:1\n")
    for wrong in (0, -1, "many", None, float("nan"), True):
        with pytest.raises(ValueError, match="max_expansion must be a number > 0"):
            read(path, max_expansion=wrong)  # type: ignore[arg-type]
    assert read(path, max_expansion=float("inf")).X.shape == (1, 1)


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FREE_BYTES", 1000)


def packed(folder: Path, name: str) -> Path:
    """A small file that expands a few hundred times."""
    path = folder / name
    if name.endswith(".npz"):
        np.savez_compressed(path, X=np.ones((20_000, 2)), y=np.arange(20_000) % 2)
    elif name.endswith(".parquet"):
        pa.parquet.write_table(pa.table({"a": np.ones(200_000), "y": np.ones(200_000)}), path)
    elif name.endswith(".arrow"):
        table = pa.table({"a": np.ones(200_000), "y": np.ones(200_000)})
        pa.feather.write_feather(table, path, compression="zstd")
    else:
        line = "1,2\n" if ".csv" in name else "1 1:2\n"
        path.write_bytes(
            gzip.compress(line.encode() * 50_000 + line.replace("1", "0", 1).replace("2", "3").encode())
        )
    return path


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("name", ["a.libsvm.gz", "a.csv.gz", "a.npz", "a.parquet", "a.arrow"])
def test_every_reader_has_the_option(tmp_path: Path, name: str) -> None:
    path = packed(tmp_path, name)
    label: Any = 0 if ".csv" in name else "auto"
    with pytest.raises(DataError, match="raise max_expansion"):
        read(path, label=label)
    assert read(path, label=label, max_expansion=1e5).X.shape[0] >= 20_000


def test_blank_lines_in_tables_of_any_columns(tmp_path: Path) -> None:
    """A list of all lines of a block of 32 MiB would be eight times the block, if they are blank."""
    path = tmp_path / "blank.csv"
    path.write_text("a,b\n" + "\n" * 2**23 + "1,2\n")
    tracemalloc.start()
    try:
        names = peek_columns(path)[0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert names == ["a", "b"]
    assert peak < 2**26


@pytest.mark.usefixtures("small_limits")
def test_so_has_the_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    path = packed(tmp_path, "a.libsvm.gz")
    command = ["train", str(path), "--out", str(tmp_path / "m.sodm"), "--quiet"]
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, DataError) and "--max-expansion" in str(refused.exception)
    assert CliRunner().invoke(app, [*command, "--max-expansion", "5000"]).exit_code == 0
    assert "max_expansion" in str(data.read.__doc__)
