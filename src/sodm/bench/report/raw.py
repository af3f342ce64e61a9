"""The runs as Parquet and CSV: one row each, nested things as JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sodm.bench.results import Record
from sodm.files import atomic_write


def write(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write results.parquet and results.csv."""
    import pyarrow
    import pyarrow.parquet

    rows = [_flat(record) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    with open(folder / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    columns = {name: [row.get(name) for row in rows] for name in names}
    with atomic_write(folder / "results.parquet") as target:
        pyarrow.parquet.write_table(pyarrow.table(columns), target)
    return [folder / "results.csv", folder / "results.parquet"]


def _flat(record: Record) -> dict[str, Any]:
    """Machine, versions and parameters in columns of their own; lists as JSON; numbers as float."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if name in ("machine", "versions", "parameters"):
            flat |= {f"{name}_{key}": item for key, item in value.items()}
        elif isinstance(value, list | dict):
            flat[name] = json.dumps(value)
        else:
            flat[name] = value
    return {k: float(v) if isinstance(v, int) and not isinstance(v, bool) else v for k, v in flat.items()}
