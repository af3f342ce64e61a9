"""What Parquet and Arrow files expand to, from what they say of themselves, before anything is unpacked.

A page or buffer of a few kilobytes may unpack to gigabytes, and a run of equal values in a Parquet file may
be as long as it likes. pyarrow tells the sizes of Parquet; those of Arrow's IPC files are read here, from
their flatbuffers (https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

MAGIC = b"ARROW1"
_DICTIONARY, _RECORDS = 2, 3  # kinds of messages


def parquet_bytes(metadata: Any) -> int:
    """Bytes of all values of a Parquet file in memory, at the least, from its pyarrow metadata."""
    total = 0
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        for c in range(group.num_columns):
            column = group.column(c)
            total += max(8 * column.num_values, column.total_uncompressed_size)
    return max(total, 8 * metadata.num_rows * max(1, metadata.num_columns))


def ipc_bytes(view: memoryview) -> int:
    """Bytes of all buffers of an Arrow IPC file, unpacked; struct.error if it is no such file."""
    (length,) = struct.unpack_from("<i", view, len(view) - len(MAGIC) - 4)
    start = len(view) - len(MAGIC) - 4 - length
    if length <= 0 or start < 0:
        raise struct.error("the footer is not where it should be")
    footer = _Table.root(view, start)
    return sum(
        _message_bytes(view, *struct.unpack_from("<qi4x", view, block))
        for field in (2, 3)  # dictionaries and record batches
        for block in footer.vector(field, 24)
    )


def _message_bytes(view: memoryview, offset: int, metadata_length: int) -> int:
    """Bytes of the buffers of one message, unpacked."""
    if offset < 0 or metadata_length < 0:
        raise struct.error("a message is not where it should be")
    continued = struct.unpack_from("<I", view, offset)[0] == 0xFFFFFFFF
    message = _Table.root(view, offset + (8 if continued else 4))
    kind, batch = message.number(1, "<B"), message.table(2)
    if batch is not None and kind == _DICTIONARY:
        batch = batch.table(1)
    if batch is None or kind not in (_DICTIONARY, _RECORDS):
        return 0
    packed, body, total = batch.table(3) is not None, offset + metadata_length, 0
    for buffer in batch.vector(2, 16):
        at, length = struct.unpack_from("<qq", view, buffer)
        if packed and length >= 8:
            unpacked = struct.unpack_from("<q", view, body + at)[0]
            length = length if unpacked == -1 else unpacked  # -1: this buffer was left as it is
        if length < 0:
            raise struct.error("a buffer has no proper length")
        total += length
    return total


class _Table:
    """A table of a flatbuffer: a list of fields, each of which may be absent."""

    def __init__(self, view: memoryview, at: int) -> None:
        self.view, self.at = view, at
        self.fields = at - struct.unpack_from("<i", view, at)[0]
        if self.fields < 0 or at < 0:
            raise struct.error("a table is not where it should be")
        self.size = struct.unpack_from("<H", view, self.fields)[0]

    @classmethod
    def root(cls, view: memoryview, at: int) -> _Table:
        return cls(view, at + struct.unpack_from("<I", view, at)[0])

    def _place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry + 2 > self.size:
            return None
        offset = struct.unpack_from("<H", self.view, self.fields + entry)[0]
        return self.at + offset if offset else None

    def number(self, field: int, form: str) -> int:
        place = self._place(field)
        return 0 if place is None else int(struct.unpack_from(form, self.view, place)[0])

    def table(self, field: int) -> _Table | None:
        place = self._place(field)
        return None if place is None else _Table.root(self.view, place)

    def vector(self, field: int, width: int) -> Iterator[int]:
        """Where the elements of a list begin, each so many bytes wide."""
        place = self._place(field)
        if place is None:
            return iter(())
        start = place + struct.unpack_from("<I", self.view, place)[0]
        (count,) = struct.unpack_from("<I", self.view, start)
        if start + 4 + count * width > len(self.view):
            raise struct.error("a list is longer than the file")
        return iter(range(start + 4, start + 4 + count * width, width))
