"""A short run of the fuzzers in fuzz/; `make fuzz` runs them for a minute each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from mutate import fuzz, mutated  # noqa: E402
from targets import TARGETS, seeds  # noqa: E402

SECONDS = 3.0


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_clear_errors(name: str) -> None:
    assert fuzz(TARGETS[name], seeds(name), seconds=SECONDS) > 10


def test_the_fuzzer_finds_what_is_wrong() -> None:
    def fragile(data: bytes) -> None:
        if b"::" in data:
            raise RuntimeError("two colons")

    with pytest.raises(RuntimeError, match="two colons") as caught:
        fuzz(fragile, seeds("libsvm_reader"), seconds=30)
    assert "input of call" in caught.value.__notes__[0]


def test_mutations_are_the_same_for_a_seed() -> None:
    import random

    good = seeds("libsvm_reader")[0]
    assert [mutated(good, random.Random(3)) for _ in range(3)] == [mutated(good, random.Random(3))] * 3
