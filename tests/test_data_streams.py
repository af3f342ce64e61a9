"""Compressed files are read whole or refused: cut or damaged anywhere, in one stream or several."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from sodm.data import DataError, read_libsvm
from sodm.data.streams import blocks

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
RNG = np.random.default_rng(0)
TEXT = "".join(f"{i % 2} 1:{v!r} 2:{i}\n" for i, v in enumerate(RNG.normal(size=4000).tolist())).encode()


@pytest.fixture(params=COMPRESSORS)
def compress(request: pytest.FixtureRequest) -> Callable[[bytes], bytes]:
    return COMPRESSORS[request.param]


def test_compressed_is_plain(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "data"  # the bytes tell how it is compressed, not the name
    path.write_bytes(compress(TEXT))
    assert b"".join(blocks(path)) == TEXT
    assert read_libsvm(path).X.shape == (4000, 2)


def test_several_streams_are_read_to_the_end(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "data"
    half = len(TEXT) // 2
    path.write_bytes(compress(TEXT[:half]) + compress(TEXT[half:]))
    assert b"".join(blocks(path)) == TEXT


def test_every_cut_is_noticed(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "data"
    whole = compress(TEXT[:1000]) + compress(TEXT[1000:3000])
    boundary = len(compress(TEXT[:1000]))
    for cut in [*range(7, len(whole), 61), len(whole) - 1]:
        if cut == boundary:
            continue
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match=r"cut short|damaged"):
            list(blocks(path))


def test_damage_is_noticed(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    """A flipped bit gives an error or, where it was in a part that carries no data, the same text."""
    path = tmp_path / "data"
    whole = bytearray(compress(TEXT[:2000]) + compress(TEXT[2000:4000]))
    refused = 0
    for at in range(6, len(whole), 37):
        whole[at] ^= 0x10
        path.write_bytes(whole)
        try:
            assert b"".join(blocks(path)) == TEXT[:4000]
        except DataError:
            refused += 1
        whole[at] ^= 0x10
    assert refused > len(range(6, len(whole), 37)) * 0.9


def test_garbage_after_the_end_is_noticed(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "data"
    path.write_bytes(compress(TEXT) + b"garbage")
    with pytest.raises(DataError):
        list(blocks(path))
    path.write_bytes(compress(TEXT) + bytes(512))  # padding, as from a tape
    assert b"".join(blocks(path)) == TEXT
