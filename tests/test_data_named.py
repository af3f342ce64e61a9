"""Sets by name and their way here, from a real local server that breaks off, lies and disappears."""

from __future__ import annotations

import bz2
import hashlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from sodm.data import DataError, load, names
from sodm.data.download import download
from sodm.data.named import SETS, NamedSet, load_set

FIRST = b"".join(b"%d 1:%d 2:1\n" % (i % 2, i) for i in range(60_000))
SECOND = b"1 1:5\n0 2:7\n"


class Server(ThreadingHTTPServer):
    """Serves `files`; how it misbehaves is set from outside."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"first.bz2": bz2.compress(FIRST), "second": SECOND, "first": FIRST}
        self.version = '"v1"'
        self.break_after: list[int] = []  # bytes after which each of the next answers breaks off
        self.ranges = True
        self.lengths = True
        self.asked: list[str | None] = []  # the Range of every request

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        body = self.server.files.get(self.path[1:])
        if body is None:
            return self.send_error(404)
        start = 0
        if wanted and self.server.ranges and self.headers.get("If-Range") == self.server.version:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(body):
                return self.send_error(416)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        self.send_header("ETag", self.server.version)
        if self.server.lengths:
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        body = body[start:]
        if self.server.break_after:
            body = body[: self.server.break_after.pop(0)]
        self.wfile.write(body)
        self.wfile.flush()
        self.close_connection = True

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SODM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SODM_DATA", raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_set_is_fetched_once_and_kept(server: Server) -> None:
    wanted = NamedSet("two", 60_002, 2, 30_001, (server.url("first.bz2"), server.url("second")))
    with pytest.warns(UserWarning, match="no checksum of the published file is known") as said:
        X, y = load_set(wanted)
    assert len(said) == 2 and sha256(SECOND) in str(said[1].message)
    assert X.shape == (60_002, 2) and sorted(set(y.tolist())) == [-1, 1] and X[60_001, 1] == 7
    assert len(server.asked) == 2
    again, labels = load_set(wanted, fetch=False)
    assert len(server.asked) == 2
    assert (again != X).nnz == 0 and np.array_equal(y, labels)


def test_a_broken_transfer_is_resumed(server: Server, tmp_path: Path) -> None:
    server.break_after = [1000, 5000]
    target = tmp_path / "file"
    seen: list[tuple[int, int | None]] = []
    digest = download(server.url("first"), target, sha256=sha256(FIRST), progress=lambda *p: seen.append(p))
    assert target.read_bytes() == FIRST and digest == sha256(FIRST)
    assert server.asked == [None, "bytes=1000-", "bytes=6000-"]
    assert seen[-1] == (len(FIRST), len(FIRST))
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_the_next_call_goes_on_where_the_last_gave_up(server: Server, tmp_path: Path) -> None:
    server.break_after = [1000, 1000, 1000]
    target = tmp_path / "file"
    with pytest.raises(ConnectionError, match="run the same command again"):
        download(server.url("first"), target)
    assert not target.exists()
    download(server.url("first"), target, sha256=sha256(FIRST))
    assert server.asked[-1] == "bytes=3000-" and target.read_bytes() == FIRST


def test_a_file_that_changed_meanwhile_is_fetched_anew(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "file"
    server.break_after = [1000, 1000, 1000]
    with pytest.raises(ConnectionError):
        download(server.url("first"), target)
    server.files["first"], server.version = FIRST[::-1], '"v2"'
    download(server.url("first"), target)
    assert target.read_bytes() == FIRST[::-1]


@pytest.mark.parametrize("ranges", [True, False])
def test_servers_without_ranges_or_with_shorter_files(server: Server, tmp_path: Path, ranges: bool) -> None:
    target = tmp_path / "file"
    server.break_after = [9000, 1, 1]
    with pytest.raises(ConnectionError):
        download(server.url("first"), target)
    server.ranges = ranges
    if ranges:
        server.files["first"] = FIRST[:5000]  # shorter than what is here, and no new version: 416
    download(server.url("first"), target)
    assert target.read_bytes() == server.files["first"]


def test_a_wrong_checksum_leaves_nothing(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "file"
    with pytest.raises(DataError, match="SHA-256"):
        download(server.url("first"), target, sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_without_a_length_the_rows_are_counted(server: Server) -> None:
    """A server that gives no length can break off unnoticed; the number of rows tells."""
    server.lengths = False
    cut = len(b"0 1:0 2:1\n") * 10
    server.break_after = [cut]
    wanted = NamedSet("one", 60_000, 2, 30_000, (server.url("first"),))
    with pytest.raises(DataError, match="has 60,000 rows, this has 10"):
        load_set(wanted)
    assert load_set(wanted).X.shape[0] == 60_000  # the bad file was not kept


def test_labels_are_counted_too(server: Server) -> None:
    with pytest.raises(DataError, match="29,999 rows with label 1, this has 30,000"):
        load_set(NamedSet("one", 60_000, 2, 29_999, (server.url("first"),)))


def test_a_kept_file_that_was_damaged_is_refused(server: Server, tmp_path: Path) -> None:
    wanted = NamedSet("one", 60_000, 2, None, (server.url("first"),))
    load_set(wanted)
    kept = tmp_path / "cache" / "one" / "first"
    kept.write_bytes(kept.read_bytes().replace(b"1:7 ", b"1:8 "))
    with pytest.raises(DataError, match="changed since it was fetched"):
        load_set(wanted)


def test_a_full_disk_is_said_so(server: Server, tmp_path: Path) -> None:
    """/dev/full answers every write as a full disk does."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full on this system")
    target = tmp_path / "file"
    (tmp_path / "file.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="no room for first: free some space, or set SODM_CACHE"):
        download(server.url("first"), target)
    assert not target.exists()


def test_not_found_and_offline(server: Server, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="404"):
        download(server.url("nothing"), tmp_path / "file")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(OSError, match=r"cannot be reached .*SODM_DATA"):
        download(f"http://127.0.0.1:{port}/x", tmp_path / "file")
    with pytest.raises(FileNotFoundError, match="download=True"):
        load("ijcnn1", download=False)


def test_two_processes_fetch_one_file(server: Server, tmp_path: Path) -> None:
    code = "import sys, pathlib, sodm.data.download as d; d.download(sys.argv[1], pathlib.Path(sys.argv[2]))"
    command = [sys.executable, "-c", code, server.url("first"), str(tmp_path / "file")]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert (tmp_path / "file").read_bytes() == FIRST
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_sets_in_sodm_data_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    wanted = NamedSet("one", 2, 2, 1, (server.url("first"),))
    (tmp_path / "one.libsvm").write_bytes(SECOND)
    monkeypatch.setenv("SODM_DATA", str(tmp_path))
    assert load_set(wanted).y.tolist() == [1, -1] and server.asked == []
    parts = NamedSet("both", 60_002, 2, 30_001, (server.url("first.bz2"), server.url("second")))
    (tmp_path / "first.bz2").write_bytes(server.files["first.bz2"])
    (tmp_path / "second").write_bytes(SECOND)
    assert load_set(parts).X.shape == (60_002, 2) and server.asked == []


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(ValueError, match="ijcnn1"):
        load("iris")
    assert set(names()) == set(SETS)


SHARED = os.environ.get("SODM_DATA", "")


@pytest.mark.parametrize(
    "name", ["svmguide1", "phishing", "a9a", "a9a.t", "cod-rna", "ijcnn1", "skin-nonskin", "susy-subset"]
)
def test_the_real_sets_are_what_they_should_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path(SHARED, f"{name}.libsvm.xz").is_file():
        pytest.skip(f"{name}.libsvm.xz is not in $SODM_DATA")
    monkeypatch.setenv("SODM_DATA", SHARED)
    X, y = load(name, download=False)
    assert X.shape == (SETS[name].rows, SETS[name].features) and len(y) == X.shape[0]
