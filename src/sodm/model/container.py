"""The container of model files: a zip with a JSON header and raw arrays, nothing compressed.

    header.json         what the arrays mean, and of each array its type, shape and SHA-256
    arrays/NAME         the values, little-endian, row by row, at a multiple of 64 bytes

Reading runs no code and unpacks nothing: sizes are checked against the file before anything of that size is
allocated, the header is checked against its CRC and every array against its hash, and names are only
compared, never used as paths.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import zipfile
import zlib
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sodm.files import atomic_write
from sodm.model.errors import ModelFileError

FORMAT = "sodm-model"
VERSION = 2  # 2: machines of pairs of classes, and what was done to the columns of a table
HEADER = "header.json"
FOLDER = "arrays/"
ALIGNMENT = 64
MOST_MEMBERS = 64
MOST_HEADER_BYTES = 2**26
MOST_DIRECTORY_BYTES = 2**16
DTYPES = ("<f8", "<f4", "<i8", "<i4")

_END, _END64, _LOCATOR64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
_LOCAL = struct.Struct("<4s5H3L2H")
_PADDING = 0x4453  # the identifier of the zip extra field that holds zeros for alignment
_OPTIONAL_FLAGS = 0x800  # names in UTF-8


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write header and arrays, replacing `path` only when all is on the disk. Same content, same bytes."""
    stored = {name: np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("<")) for name, a in arrays.items()}
    for name, array in stored.items():
        if array.dtype.str not in DTYPES:
            raise TypeError(f"the array {name} is of type {array.dtype}, which model files do not hold.")
    header = {"format": FORMAT, "version": VERSION, **header}
    header["arrays"] = {
        name: {
            "dtype": a.dtype.str,
            "shape": list(a.shape),
            "sha256": hashlib.sha256(_bytes_of(a)).hexdigest(),
        }
        for name, a in stored.items()
    }
    text = json.dumps(header, indent=1, allow_nan=False).encode()
    if len(text) > MOST_HEADER_BYTES:
        raise ValueError(f"the header of {os.fspath(path)} would have {len(text):,} bytes: too many names.")
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, file, HEADER, memoryview(text))
        for name, array in stored.items():
            _add(archive, file, FOLDER + name, _bytes_of(array))


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))


def _add(archive: zipfile.ZipFile, file: IO[bytes], name: str, data: memoryview) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.external_attr = 0o644 << 16
    info.file_size = len(data)
    large = len(data) >= zipfile.ZIP64_LIMIT
    before = file.tell() + _LOCAL.size + len(name) + 4 + (20 if large else 0)
    info.extra = struct.pack("<HH", _PADDING, -before % ALIGNMENT) + bytes(-before % ALIGNMENT)
    with archive.open(info, "w", force_zip64=large) as member:
        member.write(data)


class Reader:
    """An open container: its header, checked, and its arrays.

    Parameters
    ----------
    path : path

    Raises
    ------
    ModelFileError
        For anything that is not a whole container of this version.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file = open(path, "rb")  # noqa: SIM115 - closed by `close`
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            self._members = self._read_directory()
            self.header = self._read_header()
            self._check_arrays()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; arrays that were mapped stay."""
        self._file.close()

    def fail(self, message: str) -> ModelFileError:
        """The error to raise about this file."""
        return ModelFileError(self.path, message)

    def array(self, name: str, *, mapped: bool = False) -> NDArray[Any]:
        """An array, its hash checked; `mapped` leaves it in the file until it is used, and read-only."""
        entry = self.header["arrays"][name]
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        offset, size = self._members[FOLDER + name]
        if mapped and size and offset % dtype.itemsize == 0:
            self._check_hash(name, offset, size)
            return np.memmap(self._file, dtype=dtype, mode="r", offset=offset, shape=shape)
        values = np.empty(shape, dtype)
        self._file.seek(offset)
        if size and self._file.readinto(memoryview(values.reshape(-1).view(np.uint8))) != size:
            raise self.fail(f"the array {name} is cut short")
        if hashlib.sha256(_bytes_of(values)).hexdigest() != entry["sha256"]:
            raise self.fail(f"the array {name} is damaged (its checksum is wrong): get the file again")
        return values

    # ------------------------------------------------------------------------------------------ checks

    def _read_directory(self) -> dict[str, tuple[int, int]]:
        """Of every member, where its bytes begin and how many there are."""
        self._check_end_record()
        try:
            with zipfile.ZipFile(self._file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error) as error:
            raise self.fail(f"this is no whole model file ({error})") from error
        members: dict[str, tuple[int, int]] = {}
        for info in infos:
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                raise self.fail(
                    f"the member {_shown(info.filename)} is compressed, which model files never are"
                )
            if info.flag_bits & ~_OPTIONAL_FLAGS:
                raise self.fail(f"the member {_shown(info.filename)} is encrypted or otherwise special")
            if info.filename in members:
                raise self.fail(f"the member {_shown(info.filename)} is there twice")
            members[info.filename] = (self._data_offset(info), info.file_size)
            if info.filename == HEADER:
                self._header_crc = info.CRC
        end = 0
        for name, (offset, size) in sorted(members.items(), key=lambda member: member[1]):
            if offset < end or offset + size > self._size:
                raise self.fail(f"the member {_shown(name)} overlaps another or the end of the file")
            end = offset + size
        if HEADER not in members:
            raise self.fail("this is a zip file, but no model of sodm: it has no header.json")
        return members

    def _check_end_record(self) -> None:
        """Look at the end record first: it tells how large a directory zipfile would read into memory."""
        record = self._bytes_at(self._size - _END.size, _END.size)
        if record[:4] != b"PK\x05\x06":
            what = (
                "it is cut short or something else" if self._bytes_at(0, 2) == b"PK" else "it is no zip file"
            )
            raise self.fail(f"this is no whole model file: {what}")
        _, _, _, _, count, length, start, _ = _END.unpack(record)
        if count == 0xFFFF or 0xFFFFFFFF in (length, start):
            locator = self._bytes_at(self._size - _END.size - _LOCATOR64.size, _LOCATOR64.size)
            if locator[:4] != b"PK\x06\x07":
                raise self.fail("this is no whole model file: its end record is damaged")
            record64 = self._bytes_at(_LOCATOR64.unpack(locator)[2], _END64.size)
            if record64[:4] != b"PK\x06\x06":
                raise self.fail("this is no whole model file: its end record is damaged")
            *_, count, length, start = _END64.unpack(record64)
        if count > MOST_MEMBERS or length > MOST_DIRECTORY_BYTES:
            raise self.fail(
                f"there are {count:,} members in {length:,} bytes of directory: this is no model file"
            )

    def _data_offset(self, info: zipfile.ZipInfo) -> int:
        local = self._bytes_at(info.header_offset, _LOCAL.size)
        if local[:4] != b"PK\x03\x04":
            raise self.fail(f"the member {_shown(info.filename)} is not where the directory says")
        *_, name_length, extra_length = _LOCAL.unpack(local)
        return info.header_offset + _LOCAL.size + name_length + extra_length

    def _read_header(self) -> dict[str, Any]:
        offset, size = self._members[HEADER]
        if size > MOST_HEADER_BYTES:
            raise self.fail(f"the header has {size:,} bytes, more than any model's")
        text = self._bytes_at(offset, size)
        if zlib.crc32(text) != self._header_crc:
            raise self.fail("the header is damaged (its checksum is wrong): get the file again")
        try:
            header = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.fail(f"the header is not JSON ({error})") from error
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise self.fail("this is a zip file, but no model of sodm: its header says something else")
        version: Any = header.get("version")
        if not _is_count(version) or version < 1:
            raise self.fail(f"the header gives no version, but {version!r}")
        if version > VERSION:
            raise self.fail(
                f"this model file is of version {version}, written by sodm "
                f"{_shown(header.get('library'))}; this "
                f"sodm reads versions up to {VERSION}: upgrade sodm"
            )
        return header

    def _check_arrays(self) -> None:
        """Every array has its bytes, every member is an array, and shapes agree with sizes."""
        arrays = self.header.get("arrays")
        if not isinstance(arrays, dict):
            raise self.fail("the header lists no arrays")
        expected = {HEADER, *(FOLDER + name for name in arrays)}
        if surplus := set(self._members) - expected:
            raise self.fail(f"there is a member {_shown(min(surplus))} that does not belong in a model file")
        if missing := expected - set(self._members):
            raise self.fail(f"the member {_shown(min(missing))} is missing")
        for name, entry in arrays.items():
            if not isinstance(entry, dict) or entry.get("dtype") not in DTYPES:
                raise self.fail(f"the array {_shown(name)} is of no known type")
            shape, digest = entry.get("shape"), entry.get("sha256")
            if not isinstance(shape, list) or len(shape) > 2 or not all(_is_count(n) for n in shape):
                raise self.fail(f"the array {_shown(name)} has no proper shape")
            if not isinstance(digest, str) or len(digest) != 64:
                raise self.fail(f"the array {_shown(name)} has no proper checksum")
            needed = math.prod(shape) * np.dtype(entry["dtype"]).itemsize
            if needed != self._members[FOLDER + name][1]:
                raise self.fail(
                    f"the array {_shown(name)} should have {needed:,} bytes for its shape {shape}, and has "
                    f"{self._members[FOLDER + name][1]:,}"
                )

    def _check_hash(self, name: str, offset: int, size: int) -> None:
        digest = hashlib.sha256()
        buffer = bytearray(min(size, 2**20))
        self._file.seek(offset)
        while size > 0:
            n = self._file.readinto(memoryview(buffer)[: min(size, len(buffer))])
            if not n:
                raise self.fail(f"the array {name} is cut short")
            digest.update(memoryview(buffer)[:n])
            size -= n
        if digest.hexdigest() != self.header["arrays"][name]["sha256"]:
            raise self.fail(f"the array {name} is damaged (its checksum is wrong): get the file again")

    def _bytes_at(self, offset: int, size: int) -> bytes:
        if offset < 0 or offset + size > self._size:
            raise self.fail("this is no whole model file: it is cut short or something else")
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) != size:
            raise self.fail("this is no whole model file: it is cut short")
        return data


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _shown(text: Any) -> str:
    return repr(text if len(str(text)) <= 60 else str(text)[:60] + "...")
