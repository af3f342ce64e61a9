"""Blocks of rows, as they lie in the cache of the executors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sodm.problem.row_types import Rows, is_sparse
from sodm.spark.narrow import NarrowRows, NarrowValues

BLOCK_BYTES = 8 * 2**20  # of features in a block, about

NO_ROWS = np.empty((0, 0))  # of a block with faults

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
    rows: Rows
    labels: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    faults: dict[str, int] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        others = [None if own is None else NarrowValues.of(own) for own in (self.labels, self.weights)]
        return _block, (self.place, NarrowRows.of(self.rows), *others, self.faults)


def _block(
    place: Place,
    rows: NarrowRows,
    labels: NarrowValues | None,
    weights: NarrowValues | None,
    faults: dict[str, int],
) -> PackedBlock:
    own = [None if narrow is None else narrow.widened() for narrow in (labels, weights)]
    return PackedBlock(place, rows.widened(), own[0], own[1], faults)


def in_form(rows: Rows, as_csr: bool) -> Rows:
    """Rows as CSR, if any block of the data is."""
    return sparse.csr_matrix(rows) if as_csr and not is_sparse(rows) else rows


def stack(pieces: Sequence[Rows], n_features: int, as_csr: bool, dtype: DTypeLike) -> Rows:
    """Pieces of rows one below the other."""
    if len(pieces) == 1:
        return pieces[0]
    if as_csr:
        return sparse.vstack(pieces, "csr") if pieces else sparse.csr_matrix((0, n_features), dtype=dtype)
    return np.concatenate(pieces) if pieces else np.empty((0, n_features), dtype=dtype)


def size_of(rows: Rows) -> int:
    """Bytes of rows."""
    if is_sparse(rows):
        return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
    return int(rows.nbytes)
