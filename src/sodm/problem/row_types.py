"""What rows in memory are, for signatures: dense arrays and CSR matrices, and all that can be made one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard

from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Csr: TypeAlias = sparse.csr_matrix | sparse.csr_array
Rows: TypeAlias = NDArray[Any] | Csr  # of float32 or float64, once they are checked
# What users give for X; a kernel that is a function may take objects of any kind.
MatrixLike: TypeAlias = ArrayLike | sparse.spmatrix | sparse.sparray | Sequence[object]


def is_sparse(rows: object) -> TypeGuard[Csr]:
    """`scipy.sparse.issparse`, as the type checker understands it."""
    return bool(sparse.issparse(rows))
