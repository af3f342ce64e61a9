"""A plain pickle of a fitted machine, for places where scikit-learn models live as pickles."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
from scipy import sparse

from sodm.files import atomic_write
from sodm.model.io import split


def to_pickle(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a machine, alone or behind a scaler, as a pickle that ``pickle.load`` and ``joblib.load`` read.

    Reading it needs sodm installed, and runs code: read pickles of people you trust only. The pickle is
    complete in itself: support vectors that are mapped from a model file are copied into it.

    Parameters
    ----------
    model : fitted machine, or Pipeline of a scaler and a machine
    path : path
        An old file is replaced only when the new one is on the disk.
    """
    _, machine = split(model)
    if not hasattr(machine, "support_vectors_"):
        with atomic_write(path) as file:
            pickle.dump(model, file, protocol=5)
        return
    mapped = machine.support_vectors_
    try:
        if sparse.issparse(mapped):
            parts = (np.array(mapped.data), np.array(mapped.indices), np.array(mapped.indptr))
            machine.support_vectors_ = sparse.csr_matrix(parts, shape=mapped.shape)
        else:
            machine.support_vectors_ = np.array(mapped)
        with atomic_write(path) as file:
            pickle.dump(model, file, protocol=5)
    finally:
        machine.support_vectors_ = mapped
