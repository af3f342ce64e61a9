"""Arrays of .npy and .npz files, without pickles: no memory is taken for what a file only says it holds."""

from __future__ import annotations

import errno
import math
import os
import tokenize
import zipfile
from collections.abc import Iterable
from typing import IO, Any

from numpy.lib import format as npy
from numpy.typing import NDArray

from sodm.data.errors import DataError
from sodm.data.limits import Limit

Array = NDArray[Any]
# What NumPy writes. Python unpacks these piece by piece, and all others at once, however much comes out.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def load_npy(path: str | os.PathLike[str]) -> Array:
    """The array of a .npy file."""
    with open(path, "rb") as file:
        _check_size(file, os.fstat(file.fileno()).st_size, "the array")
        file.seek(0)
        return npy.read_array(file, allow_pickle=False)


def load_npz(
    path: str | os.PathLike[str], limit: Limit, wanted: Iterable[str]
) -> tuple[dict[str, Array], list[str]]:
    """Those of the wanted arrays that a .npz file holds, and the names of all that it holds."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            chosen = {name: members[name] for name in wanted if name in members}
            for name, info in chosen.items():
                if info.compress_type not in _METHODS:
                    raise DataError(
                        path, f"{name} is packed in a way that NumPy never uses: save it with NumPy"
                    )
            limit.check(sum(info.file_size for info in chosen.values()))
            return {name: _member(archive, info, name) for name, info in chosen.items()}, sorted(members)
    except OSError as error:
        if error.errno == errno.EINVAL:  # a member that would begin before the file does
            raise zipfile.BadZipFile("an array is not where it should be") from error
        raise


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Array:
    with archive.open(info) as file:
        _check_size(file, info.file_size, name)
    with archive.open(info) as file:
        return npy.read_array(file, allow_pickle=False)


def _check_size(file: IO[bytes], size: int, name: str) -> None:
    """Refuse an array that would have more bytes than there are."""
    version = npy.read_magic(file)
    # Version 3 differs from 2 in the letters that names may have, which is nothing to its size.
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        shape, _, dtype = read_header(file)
    except tokenize.TokenError as error:  # of NumPy's search for what Python 2 wrote
        raise ValueError(f"the header of {name} is not whole") from error
    needed, there = math.prod(shape) * dtype.itemsize, size - file.tell()
    if min(shape, default=0) < 0 or needed > there:
        raise ValueError(f"{name} should have {needed:,} bytes for its shape, and has {there:,}")
