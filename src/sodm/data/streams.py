"""The bytes of a file, block by block, decompressed where it is compressed: whole, or an error.

Python's own file objects take damage after the first of several compressed streams for padding and end there
in silence; these never do. Nor do they ever hold more than a block of what comes out, however much that is.
"""

from __future__ import annotations

import bz2
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from sodm.data.errors import DataError
from sodm.data.limits import MAX_EXPANSION, Limit

BLOCK = 2**25  # bytes handed out at a time, about
PIECE = 2**20  # bytes unpacked at a time
SLICE = 2**14  # compressed bytes taken at a time
# zstandard unpacks all that it is given at once: four bytes may become 128 KiB, these at most 32 MiB.
SMALL_SLICE = 2**10

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)


def blocks(path: str | os.PathLike[str], limit: Limit | None = None) -> Iterator[bytes]:
    """All bytes of the file, gzip, bzip2, xz and zstd undone; which of them it is, the file itself tells.

    Raises
    ------
    DataError
        If compressed data is damaged or cut short, or expands beyond the limit.
    OSError
        If the file cannot be opened or read.
    """
    limit = Limit.of(path, MAX_EXPANSION) if limit is None else limit
    with open(path, "rb") as file:
        head = file.read(max(len(magic) for magic, _ in _MAGIC))
        file.seek(0)
        kind = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
        if kind is None:
            while block := file.read(BLOCK):
                yield block
        else:
            yield from _joined(_decompressed(file, path, kind), limit)


def _joined(pieces: Iterator[bytes], limit: Limit) -> Iterator[bytes]:
    """The same bytes in blocks large enough to share among threads."""
    waiting: list[bytes] = []
    size = total = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        total += len(piece)
        limit.check(total)
        if size >= BLOCK:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


class _Format(NamedTuple):
    """How a format is unpacked."""

    new: Callable[[], Any]  # makes a decompressor
    errors: tuple[type[Exception], ...]  # what it raises
    slice: int = SLICE
    pieces: bool = True  # whether it unpacks piece by piece if asked to


def _decompressed(file: IO[bytes], path: str | os.PathLike[str], kind: str) -> Iterator[bytes]:
    form = _format(path, kind)
    stream = form.new()
    while data := file.read(form.slice):
        while data:
            if stream.eof:  # several streams may follow each other, with zeros between them
                data = data.lstrip(b"\0")
                if not data:
                    break
                stream = form.new()
            try:
                yield from _unpacked(stream, data) if form.pieces else [stream.decompress(data)]
            except form.errors as error:
                raise DataError(path, f"the {kind} data is damaged ({error}): get the file again") from error
            except MemoryError as error:
                raise DataError(path, f"to unpack the {kind} data takes more memory than there is") from error
            data = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise DataError(path, f"the {kind} data ends too early, the file is cut short: get the file again")


def _unpacked(stream: Any, data: bytes) -> Iterator[bytes]:
    """What these bytes unpack to, a piece at a time, to the last of it or to the end of the stream."""
    while piece := stream.decompress(data, PIECE):
        yield piece
        if stream.eof:
            return
        data = getattr(stream, "unconsumed_tail", b"")  # zlib hands back what others keep


def _format(path: str | os.PathLike[str], kind: str) -> _Format:
    if kind == "gzip":
        return _Format(lambda: zlib.decompressobj(wbits=31), (zlib.error,))
    if kind == "bzip2":
        return _Format(bz2.BZ2Decompressor, (OSError, ValueError))
    if kind == "xz":
        return _Format(lzma.LZMADecompressor, (lzma.LZMAError,))
    try:
        from compression.zstd import ZstdDecompressor, ZstdError  # Python 3.14 and newer

        return _Format(ZstdDecompressor, (ZstdError,))
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError as error:
        raise ImportError(
            f"{os.fspath(path)} is compressed with zstd: run `pip install zstandard`, or unpack it first."
        ) from error
    return _Format(
        lambda: zstandard.ZstdDecompressor().decompressobj(),
        (zstandard.ZstdError,),
        slice=SMALL_SLICE,
        pieces=False,
    )
