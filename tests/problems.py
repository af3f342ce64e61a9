"""Random training problems, and the many forms in which their rows may come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise

PAIRWISE = {
    "linear": pairwise.linear_kernel,
    "rbf": pairwise.rbf_kernel,
    "poly": pairwise.polynomial_kernel,
    "sigmoid": pairwise.sigmoid_kernel,
    "laplacian": pairwise.laplacian_kernel,
}
NEEDS = {
    "linear": (),
    "rbf": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "laplacian": ("gamma",),
}


def gram(name: str, A: Any, B: Any, **parameters: Any) -> np.ndarray:
    """scikit-learn's values of the kernel of this name, in double."""
    wanted = {key: value for key, value in parameters.items() if key in NEEDS[name]}
    return PAIRWISE[name](A.astype(np.float64), B.astype(np.float64), **wanted)


def rows_and_labels(n: int, d: int = 5, seed: int = 0, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, 0 and 1, that overlap; both occur."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, -1] + noise * rng.normal(size=n) > 0).astype(int)
    y[:2] = 0, 1
    return X, y


def weights_for(n: int, seed: int = 0) -> np.ndarray:
    """Positive weights over two orders of magnitude."""
    return 10 ** np.random.default_rng(seed).uniform(-1, 1, size=n)


def _wide(X: sparse.csr_matrix) -> sparse.csr_matrix:
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _memmap(X: np.ndarray, folder: Path) -> np.ndarray:
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


def _strided(X: np.ndarray) -> np.ndarray:
    room = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    room[::2, ::3] = X
    return room[::2, ::3]


def _unsorted(X: np.ndarray) -> sparse.csr_matrix:
    """CSR with columns in falling order and every value split in two."""
    forward = sparse.csr_matrix(X).tocoo()
    row, column, value = (np.repeat(part[::-1], 2) for part in (forward.row, forward.col, forward.data / 2))
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=X.shape[0]))])
    return sparse.csr_matrix((value[order], column[order], indptr), shape=X.shape)


# Every form holds the values of X exactly, if those are exact in single precision.
FORMS = {
    "double": lambda X, _: X,
    "single": lambda X, _: X.astype(np.float32),
    "fortran": lambda X, _: np.asfortranarray(X),
    "fortran-single": lambda X, _: np.asfortranarray(X, dtype=np.float32),
    "strided": lambda X, _: _strided(X),
    "reversed": lambda X, _: X[::-1].copy()[::-1],
    "memmap": _memmap,
    "csr": lambda X, _: sparse.csr_matrix(X),
    "csr-single": lambda X, _: sparse.csr_matrix(X, dtype=np.float32),
    "csr-int64": lambda X, _: _wide(sparse.csr_matrix(X)),
    "csr-int64-single": lambda X, _: _wide(sparse.csr_matrix(X, dtype=np.float32)),
    "csr-array": lambda X, _: sparse.csr_array(X),
    "csr-unsorted": lambda X, _: _unsorted(X),
    "csc": lambda X, _: sparse.csc_matrix(X),
}


def exact_in_single(X: np.ndarray) -> np.ndarray:
    """The values rounded to single precision, held in double."""
    return X.astype(np.float32).astype(np.float64)
