"""The training problem of regression: targets folded, centred, and measured in a unit of their own.

    min 1/2 |w|^2 + lam / (2 W) sum_i s_i [ (t_i - epsilon - f_i)_+^2 + upsilon (f_i - t_i - epsilon)_+^2 ]

is the ODM of margins f_i + 1 - t_i (`TargetLoss`). Three things about it are exact:

Rows equal in x and t are one row with their weights added. Where epsilon = 0 and upsilon = 1, rows equal in x
alone are one row with the mean target: sum_i s_i (t_i - f)^2 = W (mean - f)^2 + sum_i s_i (t_i - mean)^2, and
the last sum does not depend on f.

Targets and epsilon in another unit give f in that unit, with the same lam. The unit here is the power of two
nearest to the root of the mean square, so nothing is rounded, and tolerances mean the same whatever the
targets are. Several targets have a unit each if epsilon is 0; else they share it, and with it one unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodm.problem.fold import fold
from sodm.problem.kernels import Kernel
from sodm.problem.losses import TargetLoss
from sodm.problem.problem import Problem
from sodm.problem.row_set import RowSet

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FoldedTargets:
    """Rows and targets without repeats.

    Attributes
    ----------
    kept : ndarray of int64, shape (n,)
        The rows that are left.
    values : ndarray, shape (n_targets, n)
    weights : ndarray, shape (n,)
    spread : ndarray, shape (n_targets,)
        What taking means has left out: the sum of s_i (t_i - mean)^2.
    """

    kept: NDArray[np.int64]
    values: Array
    weights: Array
    spread: Array


def fold_targets(
    rows: RowSet, values: Array, weights: Array, n_threads: int, *, means: bool
) -> FoldedTargets:
    """Fold rows equal in features and targets; with `means` also those equal in features alone."""
    no_labels = np.zeros(rows.shape[0], dtype=np.int64)
    folded = fold(rows, no_labels, weights, n_threads, offset=values)
    kept, weights, values = folded.first, folded.weights, values[:, folded.first]
    if not means:
        return FoldedTargets(kept, values, weights, np.zeros(len(values)))
    # The rows left are in an order by value: so are the sums, to the last bit.
    again = fold(rows.select(kept), no_labels[: len(kept)], weights, n_threads)
    sums = [np.bincount(again.group, weights * own, len(again.first)) for own in values]
    mean = np.where(np.bincount(again.group) > 1, np.array(sums) / again.weights, values[:, again.first])
    spread = np.sum(weights * (values - mean[:, again.group]) ** 2, axis=1)
    return FoldedTargets(kept[again.first], mean, again.weights, spread)


@dataclass(frozen=True)
class TargetProblem(Problem):
    """A problem of one target, or of several on the same rows.

    Attributes
    ----------
    centre : ndarray, shape (n_targets,)
        What was taken off the targets: f is to have it added.
    unit : ndarray, shape (n_targets,)
        What the targets were divided by: f is to be multiplied with it.
    spread : ndarray, shape (n_targets,)
        As for `FoldedTargets`.
    flat : bool
        Whether there is one target and it was given as one number a row: then predictions are too.
    """

    centre: Array = None  # type: ignore[assignment]
    unit: Array = None  # type: ignore[assignment]
    spread: Array = None  # type: ignore[assignment]
    flat: bool = False

    @property
    def targets(self) -> Array:
        """In the unit of the problem, without the centre."""
        assert self.offset is not None
        return 1 - self.offset


def target_problem(
    rows: RowSet,
    folded: FoldedTargets,
    kernel: Kernel,
    *,
    lam: float,
    upsilon: float,
    epsilon: float,
    centred: bool,
) -> TargetProblem:
    """State the problem of these rows and their targets."""
    values, weights = folded.values, folded.weights
    centre = np.average(values, axis=1, weights=weights) if centred else np.zeros(len(values))
    values = values - centre[:, None]
    unit = units_of(root_mean_squares(values, weights), epsilon)
    loss = TargetLoss(float(lam), float(upsilon), float(epsilon / unit.max()))
    offset = 1 - values / unit[:, None]
    return TargetProblem(
        rows,
        np.ones_like(values),
        weights,
        kernel,
        loss,
        offset=offset,
        centre=centre,
        unit=unit,
        spread=folded.spread,
    )


def root_mean_squares(values: Array, weights: Array) -> Array:
    """Of each row of values, however large or small they are."""
    largest = np.max(np.abs(values), axis=1)
    largest = np.where(largest > 0, largest, 1.0)
    return largest * np.sqrt(np.average((values / largest[:, None]) ** 2, axis=1, weights=weights))


def units_of(sizes: Array, epsilon: float) -> Array:
    """The units of targets of about these sizes: powers of two near them; 1 of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> units_of(np.array([3.0, 0.0, 1e-3]), epsilon=0.0).tolist()
    [4.0, 1.0, 0.0009765625]
    >>> units_of(np.array([3.0, 0.0, 1e-3]), epsilon=0.1).tolist()
    [4.0, 4.0, 4.0]
    """
    powers = np.round(np.log2(np.where(sizes > 0, sizes, 1.0)))
    units = np.exp2(np.clip(powers, -1000, 1000))
    return np.full_like(units, units.max()) if epsilon > 0 else units
