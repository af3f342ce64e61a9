"""Files that commands write, looked at before anything is computed: nobody waits for a fit that is lost."""

from __future__ import annotations

import os
from pathlib import Path


def check_target(target: str | Path, *read: str | Path) -> None:
    """Refuse what cannot be written, and what is one of the files that are read."""
    target = Path(target)
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist: make the folder first.")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: name a file in it.")
    if not os.access(target if target.exists() and not target.is_file() else folder, os.W_OK):
        raise PermissionError(f"{folder} is a folder that nothing can be written to: choose another.")
    for source in map(Path, read):
        if target.exists() and source.exists() and target.samefile(source):
            raise ValueError(f"{target} is read by this command: write to another file, or it would be lost.")
