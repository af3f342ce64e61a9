"""How far a file may expand: a few kilobytes can unpack to terabytes, or say that they do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Real

from sodm.data.errors import DataError

MAX_EXPANSION = 200.0  # real sets expand 3 to 60 times, what is made to do harm a thousand times and more
FREE_BYTES = 2**26  # so much every file may become, however small it is


@dataclass(frozen=True)
class Limit:
    """How many bytes a file may become when it is read.

    Attributes
    ----------
    path : path
    held : int
        Bytes of the file.
    most : float
        Bytes it may become: `expansion` times as many, or 64 MiB if that is more.
    """

    path: str | os.PathLike[str]
    held: int
    most: float

    @classmethod
    def of(cls, path: str | os.PathLike[str], expansion: float) -> Limit:
        """The limit of this file; ValueError if `expansion` is no number above 0."""
        if not isinstance(expansion, Real) or isinstance(expansion, bool) or not expansion > 0:
            raise ValueError(f"max_expansion must be a number > 0, got {expansion!r}.")
        held = os.stat(path).st_size
        return cls(path, held, max(FREE_BYTES, float(expansion) * held))

    def check(self, n_bytes: int, what: str = "it unpacks") -> None:
        """Refuse so many bytes if they are too many; `what` begins the sentence."""
        if n_bytes > self.most:
            raise DataError(
                self.path,
                f"{what} to more than {self.most / 2**20:,.0f} MiB, {self.most / max(1, self.held):,.0f} "
                "times the size of the file: if it is meant to, raise max_expansion (--max-expansion)",
            )
