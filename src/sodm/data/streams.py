"""The bytes of a file, block by block, decompressed where it is compressed: whole, or an error.

Python's own file objects take damage after the first of several compressed streams for padding and end there
in silence; these never do.
"""

from __future__ import annotations

import bz2
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

from sodm.data.errors import DataError

BLOCK = 2**25  # bytes handed out at a time, about
SLICE = 2**14  # compressed bytes taken at a time: what they unpack to must fit in memory

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)


def blocks(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """All bytes of the file, gzip, bzip2, xz and zstd undone; which of them it is, the file itself tells.

    Raises
    ------
    DataError
        If compressed data is damaged or cut short.
    OSError
        If the file cannot be opened or read.
    """
    with open(path, "rb") as file:
        head = file.read(max(len(magic) for magic, _ in _MAGIC))
        file.seek(0)
        kind = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
        if kind is None:
            while block := file.read(BLOCK):
                yield block
        else:
            yield from _joined(_decompressed(file, path, kind))


def _joined(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks large enough to share among threads."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _decompressed(file: IO[bytes], path: str | os.PathLike[str], kind: str) -> Iterator[bytes]:
    new, errors = _decompressor(path, kind)
    stream = new()
    while data := file.read(SLICE):
        while data:
            if stream.eof:  # several streams may follow each other, with zeros between them
                data = data.lstrip(b"\0")
                if not data:
                    break
                stream = new()
            try:
                yield stream.decompress(data)
            except errors as error:
                raise DataError(path, f"the {kind} data is damaged ({error}): get the file again") from error
            data = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise DataError(path, f"the {kind} data ends too early, the file is cut short: get the file again")


def _decompressor(
    path: str | os.PathLike[str], kind: str
) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """How to make a decompressor, and what it raises."""
    if kind == "gzip":
        return lambda: zlib.decompressobj(wbits=31), (zlib.error,)
    if kind == "bzip2":
        return bz2.BZ2Decompressor, (OSError, ValueError)
    if kind == "xz":
        return lzma.LZMADecompressor, (lzma.LZMAError,)
    try:
        from compression.zstd import ZstdDecompressor, ZstdError  # Python 3.14 and newer

        return ZstdDecompressor, (ZstdError,)
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError as error:
        raise ImportError(
            f"{os.fspath(path)} is compressed with zstd: run `pip install zstandard`, or unpack it first."
        ) from error
    return lambda: zstandard.ZstdDecompressor().decompressobj(), (zstandard.ZstdError,)
