"""A seeded mutation fuzzer without coverage: the same seed, the same inputs, on every machine."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

PIECES = (
    *(
        b"0",
        b"-1",
        b"1",
        b"1:1",
        b" 1:1",
        b"\n",
        b"\r\n",
        b":",
        b" ",
        b"#",
        b",",
        b'"',
        b"\t",
        b"\0",
        b"\xff",
    ),
    *(b"nan", b"inf", b"1e999", b"1e-999", b"9223372036854775807", b"9223372036854775808", b"4294967296"),
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"../", b"[", b"{", b"null", b"true", b"\xef\xbb\xbf"),
    *(b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\xff\xff\xff\x7f"),
)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A few random changes: bytes set, flipped or removed, pieces inserted, parts copied, cut or swapped."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(out) + 1)
        to = min(len(out), at + rng.choice((1, 2, 4, 30, 400)))
        change = rng.randrange(7)
        if change == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif change == 1 and at < len(out):
            out[at] = rng.randrange(256)
        elif change == 2:
            del out[at:to]
        elif change == 3:
            out[at:at] = rng.choice(PIECES) * rng.choice((1, 1, 1, 50))
        elif change == 4:
            out[at:at] = out[at:to]
        elif change == 5:
            piece = rng.choice(PIECES)
            out[at : at + len(piece)] = piece
        elif rng.random() < 0.2:
            del out[at:]
    return bytes(out)


def fuzz(target: Callable[[bytes], None], seeds: list[bytes], *, seconds: float, seed: int = 0) -> int:
    """Call the target with mutated seeds for so long; the number of calls. Errors carry their input."""
    rng = random.Random(seed)
    pool = list(seeds)
    end = time.monotonic() + seconds
    calls = 0
    while time.monotonic() < end:
        data = mutated(rng.choice(pool), rng)
        try:
            target(data)
        except BaseException as error:
            error.add_note(f"input of call {calls} with seed {seed}: {data[:2000]!r}")
            raise
        calls += 1
        if len(data) < 20_000 and rng.random() < 0.02:  # so that changes add up, beside the good seeds
            pool = [*pool[: len(seeds)], *pool[len(seeds) :][-50:], data]
    return calls
