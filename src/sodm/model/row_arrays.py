"""Rows of features as arrays of a model file, written and read: support vectors, and clusters.

What is read is checked before it is used: ValueError with a reason where arrays do not fit each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sodm.model.container import Reader
from sodm.problem.cells import Cells
from sodm.training.local_machines import LocalMachines
from sodm.training.regions import Regions


def rows_out(name: str, rows: Any) -> dict[str, NDArray[Any]]:
    """A dense array as it is, a CSR matrix as its three arrays."""
    if not sparse.issparse(rows):
        return {name: np.asarray(rows)}
    return {f"{name}.data": rows.data, f"{name}.indices": rows.indices, f"{name}.indptr": rows.indptr}


def rows_in(name: str, reader: Reader, mmap: bool) -> Any:
    """Rows of features, dense or CSR as the header says."""
    header = reader.header
    if not header["sparse"]:
        rows = reader.array(name, mapped=mmap)
        if rows.dtype not in (np.float32, np.float64) or not np.isfinite(rows).all():
            raise ValueError("a support vector has values that are not finite numbers")
        return rows
    data, indices, indptr = (
        reader.array(f"{name}.{part}", mapped=mmap) for part in ("data", "indices", "indptr")
    )
    if data.dtype not in (np.float32, np.float64) or not np.isfinite(data).all():
        raise ValueError("a support vector has values that are not finite numbers")
    if indices.dtype.kind != "i" or indptr.dtype.kind != "i" or indptr.ndim != 1 or len(indptr) < 1:
        raise ValueError("the support vectors have no proper indices")
    rows = sparse.csr_matrix(
        (data, indices, indptr), shape=(len(indptr) - 1, header["n_features"]), copy=False
    )
    rows.check_format(full_check=True)
    if not rows.has_canonical_format:
        raise ValueError("the indices of a support vector do not ascend")
    return rows


def regions_out(regions: Regions, of_support: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The clusters of early prediction, and whose each support vector is."""
    return {
        **rows_out("regions.rows", regions.rows),
        "regions.means": regions.means,
        "regions.half_norms": regions.half_norms,
        "regions.of_support": np.asarray(of_support, dtype=np.int64),
    }


def regions_in(
    reader: Reader, n_features: int, n_support: int, *, precomputed: bool, mmap: bool
) -> tuple[Regions, NDArray[np.int64]]:
    """The clusters of early prediction, and whose each support vector is."""
    means, half_norms = reader.array("regions.means"), reader.array("regions.half_norms")
    of_support = reader.array("regions.of_support")
    if precomputed:
        rows = reader.array("regions.rows")
        if rows.dtype != np.int64 or np.any(rows < 0) or np.any(rows >= n_features):
            raise ValueError("a cluster has rows beyond the training rows")
        fits = rows.ndim == 1
    else:
        rows = rows_in("regions.rows", reader, mmap)
        fits = rows.ndim == 2 and rows.shape[1] == n_features
    if not fits or half_norms.ndim != 1 or means.shape != (rows.shape[0], len(half_norms)):
        raise ValueError("the clusters do not have the shapes they should have")
    check_numbers(means)
    check_numbers(half_norms)
    if (
        of_support.dtype != np.int64
        or of_support.shape != (n_support,)
        or np.any((of_support < 0) | (of_support >= len(half_norms)))
    ):
        raise ValueError("a support vector is in none of the clusters")
    return Regions(rows, means, half_norms), of_support


def machines_out(machines: LocalMachines) -> dict[str, NDArray[Any]]:
    """The machines of the regions of two scales."""
    return {
        **rows_out("machines.centres", machines.cells.centres),
        "machines.members": machines.members,
        "machines.bounds": machines.bounds,
        "machines.coefficients": machines.coefficients,
    }


def machines_in(
    reader: Reader, n_features: int, n_support: int, n_machines: int, intercept: float
) -> LocalMachines:
    """The machines of the regions of two scales."""
    centres = rows_in("machines.centres", reader, mmap=False)
    members, bounds, coefficients = (
        reader.array(f"machines.{name}") for name in ("members", "bounds", "coefficients")
    )
    if centres.ndim != 2 or centres.shape[1] != n_features or centres.shape[0] < 1:
        raise ValueError("the regions do not have the shapes they should have")
    if (
        members.dtype != np.int64
        or members.ndim != 1
        or np.any((members < 0) | (members >= n_support))
        or coefficients.shape != (n_machines, len(members))
    ):
        raise ValueError("a region has vectors beyond the support vectors")
    if (
        bounds.dtype != np.int64
        or bounds.shape != (centres.shape[0] + 2,)
        or bounds[0] != 0
        or bounds[-1] != len(members)
        or np.any(np.diff(bounds) < 0)
    ):
        raise ValueError("the regions do not follow each other")
    check_numbers(coefficients)
    return LocalMachines(Cells(centres), members, bounds, coefficients, intercept)


def check_numbers(array: NDArray[Any]) -> None:
    """Refuse what are no finite numbers in double precision."""
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError("a coefficient is not a finite number")
