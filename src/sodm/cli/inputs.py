"""Data for the commands: read, made dense where that is better, scaled, split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from sodm import data
from sodm.data import DataError, Dataset
from sodm.data.limits import MAX_EXPANSION
from sodm.data.read import format_of

DENSE_BYTES = 2**28  # up to this a sparse matrix is made dense, whatever its density


@dataclass(frozen=True)
class Source:
    """A data file and how to read it."""

    path: str
    format: str = "auto"
    label: str = "auto"
    header: bool | None = None
    separator: str | None = None
    zero_based: bool = False
    cache: bool = False
    n_threads: int | None = None
    max_expansion: float = MAX_EXPANSION

    def read(self, *, n_features: int | None = None, labels_needed: bool = True) -> Dataset:
        """The data; a name that is no file but a known set is loaded by name."""
        if not Path(self.path).exists():
            if self.path in data.names():
                return data.load(self.path)
            known = ", ".join(data.names())
            raise FileNotFoundError(
                f"{self.path} is no file here, nor the name of a data set: those are {known}."
            )
        kind = format_of(self.path) if self.format == "auto" else self.format
        label: str | int | None = self.label
        if kind in ("csv", "arrow", "npy") and isinstance(label, str) and label.lstrip("-").isdigit():
            label = int(label)
        try:
            dataset = self._read(kind, label, n_features)
        except DataError:
            # Rows to predict need no labels: without a label column among them, all columns are features.
            if labels_needed or self.label != "auto" or kind not in ("csv", "arrow", "npy"):
                raise
            dataset = self._read(kind, None, n_features)
        if labels_needed and dataset.y is None:
            raise DataError(self.path, "there are no labels in this file")
        return dataset

    def _read(self, kind: str, label: str | int | None, n_features: int | None) -> Dataset:
        return data.read(
            self.path,
            format=kind,  # type: ignore[arg-type]
            label=label,
            header="auto" if self.header is None else self.header,
            separator=self.separator,
            zero_based=self.zero_based,
            n_features=n_features,
            cache=self.cache,
            n_threads=self.n_threads,
            max_expansion=self.max_expansion,
        )


def dense_if_better(X: Any) -> Any:
    """Dense if that is small, or hardly larger than sparse; kernels on dense rows are faster."""
    if not sparse.issparse(X):
        return X
    dense = X.shape[0] * X.shape[1] * 8
    return X.toarray() if dense <= max(DENSE_BYTES, 2 * X.data.nbytes) else X


def make_scaler(scale: str, X: Any) -> Any | None:
    """The scaler for these rows, not fitted; ValueError with the remedy where sparse rows do not allow it."""
    if scale == "none":
        return None
    if not sparse.issparse(X):
        return {"minmax": MinMaxScaler, "standard": StandardScaler, "maxabs": MaxAbsScaler}[scale]()
    # To move zeros would make every zero a stored value. Where nothing is negative, [0, max] is [min, max].
    if scale == "maxabs" or (scale == "minmax" and (X.nnz == 0 or X.data.min() >= 0)):
        return MaxAbsScaler()
    raise ValueError(
        f"--scale {scale} would turn these {X.shape[0]:,} x {X.shape[1]:,} sparse rows dense: use "
        f"--scale maxabs or "
        "--scale none."
    )


def split_rows(y: NDArray[Any], share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and rows to hold out: that share of each class, at least one row of it kept.

    Examples
    --------
    >>> import numpy as np
    >>> train, held = split_rows(np.array([0] * 8 + [1] * 4), 0.25, seed=0)
    >>> len(train), len(held)
    (9, 3)
    """
    rng = np.random.default_rng(seed)
    held = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        held[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def rows_for(model: Any, X: Any) -> Any:
    """X as the first step of the model takes it: scalers that move zeros take dense rows only."""
    moves_zeros = hasattr(model, "steps") and isinstance(model[0], MinMaxScaler | StandardScaler)
    return X.toarray() if moves_zeros and sparse.issparse(X) else X
