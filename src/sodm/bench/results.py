"""The file of results: one JSON line for each run, only ever added to."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Record = dict[str, Any]
DONE, FAILED, NOT_FINISHED = "done", "failed", "not finished"


class Results:
    """Records by key; of several lines with one key, the last counts.

    A line that was cut off, as by a crash while it was being written, is taken for absent; a line in the
    middle that is no JSON is an error, for somebody has changed the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.records: dict[str, Record] = {}
        self._whole = 0
        if self.path.exists():
            self._read(self.path.read_bytes())

    def _read(self, text: bytes) -> None:
        lines = text.splitlines(keepends=True)
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                self.records[record["key"]] = record
            except (ValueError, KeyError, TypeError):
                if number == len(lines) and not line.endswith(b"\n"):
                    return
                raise ValueError(
                    f"{self.path}, line {number}: no result of a run; delete the line to run it again."
                ) from None
            self._whole += len(line)

    def add(self, record: Record) -> None:
        """Write a record, on the disk when this returns."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            file.truncate(self._whole)  # a line cut off before
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        self._whole += len(line.encode())
        self.records[record["key"]] = json.loads(line)  # as it will be read, so that both are the same

    def __iter__(self) -> Any:
        return iter(self.records.values())

    def __len__(self) -> int:
        return len(self.records)

    def has(self, key: str, limit: float) -> bool:
        """Whether a run is there: done, or not finished in as much time as it would get now."""
        record = self.records.get(key)
        if record is None or record["status"] == FAILED:
            return False
        return record["status"] == DONE or record["limit"] >= limit
