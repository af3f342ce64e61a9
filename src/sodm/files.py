"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of `path` when the block ends, and vanishes if it fails.

    It is written beside `path`, flushed to the disk and then renamed, so a crash at any moment leaves the old
    file or the new one. Links are followed; the mode of an old file is kept.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(6)}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno and error.filename in (temporary, None):
            # The name that the caller knows; there is none where writing failed, as on a full disk.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise
    with suppress(OSError):  # make the rename last, where the system lets a folder be flushed
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def exclusive(path: str | os.PathLike[str]) -> Iterator[None]:
    """A block that only one process at a time is in, of those that name the same file; others wait."""
    while True:
        file = open(path, "ab")  # noqa: SIM115 - closed below; that gives the lock free
        _wait_for_lock(file)
        with suppress(OSError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                break
        file.close()  # who had it before has removed it: others may lock a new one already
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps it while it is open
            os.unlink(path)
        file.close()


def _wait_for_lock(file: IO[bytes]) -> None:
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        return
    import msvcrt

    while True:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            return
        except OSError:
            time.sleep(0.1)
