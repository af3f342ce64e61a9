"""Values on their way between processes, in as few bytes as tell them exactly.

Every pass sends all blocks from Java to Python, and a shuffle sends them back, compressed, and there again.
Doubles are often numbers that single precision has too (counts, marks, whatever was measured in it), and the
places of a sparse row's values need four bytes only where features are many.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.problem.row_types import Rows, is_sparse

LOOKED_AT = 256  # values that tell in most cases that there is no use in looking at all


class NarrowValues(NamedTuple):
    """Values of an array, and the type that they are to have again."""

    values: NDArray[Any]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, values: NDArray[Any]) -> NarrowValues:
        """Doubles in single precision, if that tells them exactly; integers >= 0 as short as they are."""
        return cls(_narrow(values), values.dtype)

    def widened(self) -> NDArray[Any]:
        """As they were."""
        return self.values.astype(self.dtype, copy=False)


class NarrowRows(NamedTuple):
    """Rows, the values of which are narrow; `places` are the columns and bounds of a CSR matrix."""

    values: NarrowValues
    shape: tuple[int, int]
    places: tuple[NarrowValues, NDArray[np.integer]] | None

    @classmethod
    def of(cls, rows: Rows) -> NarrowRows:
        """Of an array or CSR matrix."""
        if not is_sparse(rows):
            return cls(NarrowValues.of(rows), rows.shape, None)
        places = NarrowValues.of(rows.indices), rows.indptr
        return cls(NarrowValues.of(rows.data), rows.shape, places)

    def widened(self) -> Rows:
        """As they were, to the last bit."""
        if self.places is None:
            return self.values.widened()
        columns, bounds = self.places
        rows = sparse.csr_matrix(self.shape, dtype=self.values.dtype)
        # Not by the constructor, which goes over all of them to see whether they are right.
        rows.data, rows.indices, rows.indptr = self.values.widened(), columns.widened(), bounds
        return rows


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "i" and values.size and values.min() >= 0:
        return values.astype(np.min_scalar_type(int(values.max())))
    if values.dtype != np.float64:
        return values
    with np.errstate(over="ignore"):  # what is too large for single precision is not the same in it
        some = values.ravel()[:LOOKED_AT]
        if not np.array_equal(some.astype(np.float32), some):
            return values
        narrow = values.astype(np.float32)
    return narrow if np.array_equal(narrow, values) else values
