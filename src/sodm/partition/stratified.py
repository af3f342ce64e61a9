"""The partitions of Algorithm 1: strata around landmarks, each dealt to all partitions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sodm.partition.angle import minimal_principal_angle
from sodm.partition.base import KernelLike, Partitioner, check_at_least_one, require_kernel
from sodm.partition.basis import Basis, chunks, diagonal, greedy_pivots, inside
from sodm.partition.dealing import deal, sample_rows
from sodm.problem.row_set import RowSet
from sodm.problem.row_types import Rows


class StratifiedPartitioner(Partitioner):
    """Strata of rows that lie near the same landmark in feature space, each dealt to all partitions.

    So every partition looks like the whole data set, which is what makes the local solutions of SODM near
    the global one. The landmarks are chosen one by one so that the determinant of their Gram matrix grows
    most: the first is the first row, and each next one is the row furthest from the span of those before
    it. That is the pivot rule of partial Cholesky factorisation.

    Parameters
    ----------
    n_landmarks : int, default=50
        S, the number of strata. There are fewer when the landmarks span all rows to working precision, as
        they do when rows are repeated or the kernel has finite rank.
    max_rows : int, default=20_000
        Landmarks are searched in at most so many rows, drawn at random. The search holds max_rows x
        n_landmarks values.
    balance_classes : bool, default=True
        Deal the classes one after the other, so that the numbers of each class differ by at most one between
        partitions. Without, strata are dealt regardless of class, as in the paper.
    angle_rows : int, default=1024
        The principal angle is computed on at most so many rows.

    Attributes
    ----------
    landmarks_ : int array of shape (S,)
        Row numbers of the landmarks, in the order chosen.
    strata_ : int array of shape (n,)
        The stratum of each row: the position in `landmarks_` of the nearest landmark.
    strata_sizes_ : int array of shape (S,)
    minimal_principal_angle_ : float
        tau of Theorem 2 in radians: the smallest angle between two rows of different strata, in feature
        space.
    angle_is_exact_ : bool
        Whether that angle was taken over all rows. Over a sample it is an upper bound of tau; for the exact
        angle of a large data set use `sodm.partition.angle.minimal_principal_angle`.

    Examples
    --------
    >>> import numpy as np
    >>> from sodm.partition import StratifiedPartitioner
    >>> from sodm.problem.kernels import Kernel
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    >>> partitioner = StratifiedPartitioner(n_landmarks=2)
    >>> parts = partitioner.split(X, None, 3, Kernel("rbf", gamma=1.0), random_state=0)
    >>> partitioner.strata_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> [sorted(partitioner.strata_[parts == k].tolist()) for k in range(3)]
    [[0, 1], [0, 1], [0, 1]]
    """

    def __init__(
        self,
        n_landmarks: int = 50,
        max_rows: int = 20_000,
        balance_classes: bool = True,
        angle_rows: int = 1024,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.max_rows = max_rows
        self.balance_classes = balance_classes
        self.angle_rows = angle_rows

    def _split(
        self,
        X: RowSet,
        classes: NDArray[np.intp],
        n_partitions: int,
        kernel: KernelLike | None,
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]:
        kernel = require_kernel(kernel, self)
        searched = sample_rows(X.shape[0], check_at_least_one(self.max_rows, "max_rows"), rng, always=0)
        self.landmarks_ = self._choose_landmarks(X, kernel, searched)
        self.strata_ = nearest_landmark(X, kernel, self.landmarks_)
        self.strata_sizes_ = np.bincount(self.strata_, minlength=len(self.landmarks_))
        angle_rows = check_at_least_one(self.angle_rows, "angle_rows")
        rows = searched[sample_rows(len(searched), angle_rows, rng)]  # at hand, wherever the others are
        self._compared = (inside(kernel, X, rows), self.strata_[rows], kernel)
        self._angle: float | None = None
        self.angle_is_exact_ = len(rows) == X.shape[0]
        alike = np.zeros_like(classes)
        return deal(self.strata_, classes if self.balance_classes else alike, n_partitions, rng)

    @property
    def minimal_principal_angle_(self) -> float:
        """Computed when it is asked for: nothing but people's curiosity depends on it."""
        if self._angle is None:
            self._angle = minimal_principal_angle(*self._compared)
        return self._angle

    def _choose_landmarks(
        self, X: RowSet, kernel: KernelLike, searched: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        rank = check_at_least_one(self.n_landmarks, "n_landmarks")
        pivots = greedy_pivots(kernel, X, searched, rank)
        # No pivot at all means that all rows are zero in feature space: one stratum.
        return searched[pivots] if len(pivots) else searched[:1]


def nearest_landmark(X: RowSet, kernel: KernelLike, landmarks: NDArray[np.intp]) -> NDArray[np.intp]:
    """The position of each row's nearest landmark: argmin_s |phi(x) - phi(z_s)|, the first one of equals.

    The squared distance is k(x, x) - 2 k(x, z_s) + k(z_s, z_s), and its first term is the same for all
    landmarks.
    """
    basis = Basis.of(kernel, X, landmarks)
    half_norms = diagonal(kernel, X, landmarks) / 2

    def of(rows: Rows) -> NDArray[np.intp]:
        nearest = np.empty(rows.shape[0], dtype=np.intp)
        for run in chunks(rows.shape[0], len(half_norms)):
            np.argmax(basis.block(rows[run]) - half_norms, axis=1, out=nearest[run])
        return nearest

    return X.map_rows(of)
