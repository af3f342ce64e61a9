"""A plain pickle of a fitted machine, for places where scikit-learn models live as pickles."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from sodm.files import atomic_write
from sodm.model.machines import has_kernel, regions_of, split


def to_pickle(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a machine, alone or behind a scaler, as a pickle that ``pickle.load`` and ``joblib.load`` read.

    Reading it needs sodm installed, and runs code: read pickles of people you trust only. The pickle is
    complete in itself: support vectors that are mapped from a model file are copied into it. The model is
    left alone, and may decide in other threads meanwhile.

    Parameters
    ----------
    model : fitted machine, or Pipeline of a scaler and a machine
    path : path
        An old file is replaced only when the new one is on the disk.
    """
    _, machine = split(model)
    unmapped = _twin(machine)
    if has_kernel(machine):
        unmapped.support_vectors_ = _in_memory(machine.support_vectors_)
    regions = regions_of(machine)
    if regions is not None:
        unmapped._regions = replace(regions, rows=_in_memory(regions.rows))
    if model is not machine:
        pipeline = _twin(model)
        pipeline.steps = [(name, unmapped if step is machine else step) for name, step in model.steps]
        model = pipeline
    else:
        model = unmapped
    with atomic_write(path) as file:
        pickle.dump(model, file, protocol=5)


def _twin(estimator: Any) -> Any:
    """Another estimator with the same attributes, that can be given others."""
    twin = object.__new__(type(estimator))
    twin.__dict__.update(estimator.__dict__)
    return twin


def _in_memory(rows: Any) -> Any:
    """The same rows, none of them mapped from a file."""
    if sparse.issparse(rows):
        parts = (np.array(rows.data), np.array(rows.indices), np.array(rows.indptr))
        return sparse.csr_matrix(parts, shape=rows.shape)
    return np.array(rows)
