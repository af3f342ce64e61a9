"""What is raised when a model file is not what it should be."""

from __future__ import annotations

import os


class ModelFileError(ValueError):
    """A model file is damaged, of another kind, or of a later version; the message says which and what to do.

    Examples
    --------
    >>> print(ModelFileError("a.sodm", "this is no zip file"))
    a.sodm: this is no zip file.
    """

    def __init__(self, path: str | os.PathLike[str], message: str) -> None:
        self.path, self.message = os.fspath(path), message
        super().__init__(f"{self.path}: {message}.")

    def __reduce__(self) -> tuple[object, ...]:
        return ModelFileError, (self.path, self.message)
