"""Blocks of rows, as they lie in the cache of the executors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

BLOCK_BYTES = 8 * 2**20  # of features in a block, about

Place = tuple[int, int]  # number of the partition, and of the block in it: the order of the rows


@dataclass
class PackedBlock:
    """Some consecutive rows of one partition of a DataFrame.

    Attributes
    ----------
    place : Place
    rows : ndarray or CSR matrix
    labels : ndarray or None
    weights : ndarray or None
    faults : dict
        What is wrong with them, and how often; a block with faults has no rows.
    """

    place: Place
    rows: Any
    labels: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    faults: dict[str, int] = field(default_factory=dict)


def in_form(rows: Any, as_csr: bool) -> Any:
    """Rows as CSR, if any block of the data is."""
    return sparse.csr_matrix(rows) if as_csr and not sparse.issparse(rows) else rows


def stack(pieces: Sequence[Any], n_features: int, as_csr: bool, dtype: Any) -> Any:
    """Pieces of rows one below the other."""
    if len(pieces) == 1:
        return pieces[0]
    if as_csr:
        return sparse.vstack(pieces, "csr") if pieces else sparse.csr_matrix((0, n_features), dtype=dtype)
    return np.concatenate(pieces) if pieces else np.empty((0, n_features), dtype=dtype)


def size_of(rows: Any) -> int:
    """Bytes of rows."""
    if sparse.issparse(rows):
        return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
    return int(rows.nbytes)
