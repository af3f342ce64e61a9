"""One file from the web: resumed where it broke off, checked, and in place only when it is whole."""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from sodm.data.errors import DataError
from sodm.files import atomic_write, exclusive

ATTEMPTS = 3
TIMEOUT = 30.0  # seconds without a byte
BLOCK = 2**18

Progress = Callable[[int, int | None], Any]


def download(url: str, target: Path, *, sha256: str | None = None, progress: Progress | None = None) -> str:
    """Fetch `url` to `target` and return the SHA-256 of what came.

    The bytes go to ``target.part``. If the connection breaks, a few further attempts go on from there, and so
    does the next call. Processes that want the same file wait for each other.

    Parameters
    ----------
    url : str
    target : Path
    sha256 : str, optional
        What the file must hash to. None: not known, so only its length is checked, if the server tells it.
    progress : callable, optional
        Called with the bytes that are here and the bytes there will be (None: not known).

    Raises
    ------
    DataError
        If the checksum is wrong; the file is then thrown away.
    OSError
        With a sentence that says what to do: offline, not found, broken off, disk full.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with exclusive(target.with_name(target.name + ".lock")):
        if target.exists():  # another process fetched it meanwhile
            return _hash_of(target)
        with open(part, "ab") as file:
            _fetch_all(url, file, part, progress)
        digest = _hash_of(part)
        if sha256 is not None and digest != sha256:
            _discard(part)
            raise DataError(
                url,
                f"the file that came has the SHA-256 {digest}, not {sha256}; it was thrown away: "
                f"try again, and "
                "if it stays so, the file at that address has changed",
            )
        os.replace(part, target)
        _discard(part)
    return digest


def _fetch_all(url: str, file: IO[bytes], part: Path, progress: Progress | None) -> None:
    """The whole file, in a few attempts."""
    for attempt in range(ATTEMPTS):
        try:
            return _fetch(url, file, part, progress)
        except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
            if attempt + 1 == ATTEMPTS:
                raise ConnectionError(
                    f"{url}: the connection broke after {part.stat().st_size:,} bytes ({_reason(error)}); "
                    "run the same command again to go on from there."
                ) from error
            time.sleep(0.2 * 2**attempt)


def _fetch(url: str, file: IO[bytes], part: Path, progress: Progress | None) -> None:
    """The rest of the file, appended to what is there if the server still has the same file."""
    have = file.seek(0, os.SEEK_END)
    mark = _read_mark(part) if have else None
    headers = {"User-Agent": "sodm", "Accept-Encoding": "identity"}
    if mark:
        headers |= {"Range": f"bytes={have}-", "If-Range": mark}
    with _open(url, headers) as response:
        if response.status == 206 and _range_start(response) == have:
            total = _content_length(response, have)
        else:
            if have:
                file.truncate(0)
                have = 0
            total = _content_length(response, 0)
            _write_mark(part, response.headers.get("ETag") or response.headers.get("Last-Modified"))
        try:
            if total is not None:
                _check_room(part.parent, total - have)
            while block := response.read(BLOCK):
                file.write(block)
                have += len(block)
                if progress is not None:
                    progress(have, total)
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise OSError(
                    error.errno,
                    f"no room for {urlsplit(url).path.rpartition('/')[2]}: free some space, or set "
                    "SODM_CACHE to a folder on another disk",
                    str(part.parent),
                ) from error
            raise
        if total is not None and have < total:
            raise http.client.IncompleteRead(b"", total - have)
        if total is not None and have > total:
            raise DataError(url, f"{have:,} bytes came where there should be {total:,}")


def _open(url: str, headers: dict[str, str]) -> Any:
    host = urlsplit(url).netloc
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416 and "Range" in headers:  # what is here is longer than what is there: start over
            error.close()
            return _open(url, {k: v for k, v in headers.items() if k not in ("Range", "If-Range")})
        raise OSError(f"{url}: the server answered {error.code} {error.reason}.") from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, ConnectionResetError | TimeoutError):
            raise error.reason from error
        raise OSError(
            f"{host} cannot be reached ({_reason(error)}): connect to the network, or put the file "
            f"of {url} into "
            "the folder that SODM_DATA names."
        ) from error


def _content_length(response: Any, before: int) -> int | None:
    length = response.headers.get("Content-Length")
    return before + int(length) if length is not None and length.isdigit() else None


def _range_start(response: Any) -> int:
    """Where the bytes of a partial answer begin, -1 if it does not say."""
    unit, _, span = response.headers.get("Content-Range", "").partition(" ")
    start = span.partition("-")[0]
    return int(start) if unit == "bytes" and start.isdigit() else -1


def _check_room(folder: Path, needed: int) -> None:
    if shutil.disk_usage(folder).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _mark_path(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _read_mark(part: Path) -> str | None:
    """The server's mark of the file version that a partial file belongs to; None if it is not known."""
    with suppress(OSError, ValueError):
        mark = json.loads(_mark_path(part).read_text()).get("if_range")
        if isinstance(mark, str) and not mark.startswith("W/"):  # a weak mark does not promise equal bytes
            return mark
    return None


def _write_mark(part: Path, mark: str | None) -> None:
    with atomic_write(_mark_path(part)) as file:
        file.write(json.dumps({"if_range": mark}).encode())


def _discard(part: Path) -> None:
    for path in (part, _mark_path(part)):
        with suppress(OSError):
            path.unlink()


def _hash_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: BaseException) -> str:
    reason = getattr(error, "reason", error)
    return str(getattr(reason, "strerror", None) or reason or type(error).__name__)


class Line:
    """Progress as one line on the standard error, rewritten in place; nothing where that is no terminal."""

    def __init__(self, name: str) -> None:
        self._name, self._last = name, 0.0
        self._shown = sys.stderr.isatty()

    def __call__(self, have: int, total: int | None) -> None:
        now = time.monotonic()
        if not self._shown or (now - self._last < 0.1 and have != total):
            return
        self._last = now
        whole = f" of {total / 1e6:.1f}" if total else ""
        print(f"\r{self._name}: {have / 1e6:.1f}{whole} MB ", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line."""
        if self._shown and self._last:
            print(file=sys.stderr)
