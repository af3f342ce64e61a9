"""One against one: a machine for each pair of classes, and how their numbers are laid out.

Of K classes the pairs are (0, 1), (0, 2), ..., (1, 2), ...; in the pair (c, d), c < d, rows of c are +1. A
row of class c is in K - 1 pairs, so that duals, signs and coefficients have K - 1 rows, as in scikit-learn's
SVC: of a row of class c, row d - 1 belongs to the pair with a class d > c, row d to that with a class d < c.
Then

    f_(c, d)(x) = sum_{j in c} a[d - 1, j] k(x_j, x) + sum_{j in d} a[c, j] k(x_j, x).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, combinations, pairwise
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.problem.row_types import Rows

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@lru_cache(maxsize=16)
def pairs_of(n_classes: int) -> Index:
    """The pairs in order, shape (n_pairs, 2).

    Examples
    --------
    >>> pairs_of(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    pairs = np.column_stack(np.triu_indices(n_classes, 1)).astype(np.int64)
    pairs.setflags(write=False)
    return pairs


def pair_signs(codes: Index, n_classes: int) -> Array:
    """The signs of rows of these classes, shape (n_classes - 1, n).

    Examples
    --------
    >>> import numpy as np
    >>> pair_signs(np.array([0, 1, 2]), 3).tolist()
    [[1.0, -1.0, -1.0], [1.0, 1.0, -1.0]]
    """
    return np.where(np.arange(n_classes - 1)[:, None] >= codes, 1.0, -1.0)


def codes_of(signs: Array) -> Index:
    """The classes that such signs were made of."""
    return np.count_nonzero(signs < 0, axis=0).astype(np.int64)


def sums_of_pairs(of_class: Array) -> Array:
    """f of the pairs, from what the rows of each class contribute: shapes (K, K - 1, m) and (n_pairs, m)."""
    first, second = pairs_of(len(of_class)).T
    return of_class[first, second - 1] + of_class[second, first]


def row_sums(values: Array) -> Array:
    """The sum of each row, rounded once: in whatever order the values are, it is the same."""
    return np.array([fsum(row) for row in values.tolist()])


def pair_sums(coefficients: Array, counts: NDArray[Any]) -> Array:
    """The sums of the coefficients of each pair, support vectors class by class, so many of each class."""
    bounds = list(pairwise(accumulate(counts.tolist(), initial=0)))
    rows = coefficients.tolist()
    sums = [[fsum(row[a:b]) for row in rows] for a, b in bounds]
    return np.array([sums[c][d - 1] + sums[d][c] for c, d in combinations(range(len(counts)), 2)])


def votes(decision: Array, n_classes: int) -> Array:
    """One column per class: votes of its pairs, and margins within (-1/3, 1/3) to break ties.

    scikit-learn's rule (`_ovr_decision_function`): a pair votes for its first class where f > 0.

    Parameters
    ----------
    decision : ndarray, shape (n, n_pairs)
    n_classes : int

    Examples
    --------
    >>> import numpy as np
    >>> votes(np.array([[1.0, 0.5, -3.0]]), 3).argmax(axis=1).tolist()
    [0]
    """
    first, second = pairs_of(n_classes).T
    own = np.ascontiguousarray(decision.T)  # pair by pair: sums of whole columns
    won = own >= 0
    counts, margins = np.zeros((n_classes, len(decision))), np.zeros((n_classes, len(decision)))
    for k, (c, d) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        counts[c] += won[k]
        counts[d] += ~won[k]
        margins[c] += own[k]
        margins[d] -= own[k]
    return np.ascontiguousarray((counts + margins / (3 * (np.abs(margins) + 1))).T)


def decided(decision: NDArray[Any], n_classes: int) -> NDArray[np.int64]:
    """The class with the most `votes`, several times as fast; equal ones may be told apart by rounding.

    Examples
    --------
    >>> import numpy as np
    >>> decided(np.array([[1.0, 0.5, -3.0], [-1.0, -2.0, 1.0]]), 3).tolist()
    [0, 1]
    """
    first, second = pairs_of(n_classes).T
    signs = np.zeros((len(first), n_classes))
    signs[np.arange(len(first)), first], signs[np.arange(len(first)), second] = 1, -1
    own = np.asarray(decision, dtype=np.float64)
    margins = own @ signs
    counts = (
        np.where(own >= 0, 0.5, -0.5) @ signs
    )  # half the difference of won and lost: as good as those won
    return (counts + margins / (3 * (np.abs(margins) + 1))).argmax(axis=1)


def spread_over_pairs(coefficients: Array, codes: Index) -> Array:
    """A row of coefficients for each pair, zero for the rows of other classes, shape (n_pairs, n).

    Examples
    --------
    >>> import numpy as np
    >>> spread_over_pairs(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([0, 1, 2])).tolist()
    [[1.0, 2.0, 0.0], [4.0, 0.0, 3.0], [0.0, 5.0, 6.0]]
    """
    first, second = pairs_of(len(coefficients) + 1).T
    out = np.where(codes == first[:, None], coefficients[second - 1], 0.0)
    return np.where(codes == second[:, None], coefficients[first], out)


def at_rows_of_pairs(decision: Array, codes: Index) -> Array:
    """Of f of all pairs at some rows those of the pairs of each row: (n_pairs, n) to (n_classes - 1, n)."""
    n_classes = int(1 + np.sqrt(1 + 8 * len(decision))) // 2
    number = np.zeros((n_classes, n_classes), dtype=np.int64)
    first, second = pairs_of(n_classes).T
    number[first, second] = number[second, first] = np.arange(len(first))
    others = np.arange(n_classes - 1)[:, None]
    others = others + (others >= codes)  # row r belongs to the pair with class r, or r + 1 from its own on
    return decision[number[codes, others], np.arange(len(codes))]


def tagged(coefficients: Array, codes: Index) -> Array:
    """Coefficients with one row more: the class of each support vector, counted from 1; 0 for other rows.

    So they can go wherever coefficients of rows go, and `untagged` tells what they are.
    """
    used = np.any(coefficients != 0, axis=0)
    return np.vstack([coefficients, np.where(used, codes + 1.0, 0.0)])


def untagged(coefficients: Array) -> tuple[Array, Index]:
    """The coefficients, and the class of each; -1 for rows that have none."""
    return coefficients[:-1], coefficients[-1].astype(np.int64) - 1


def linear_coefficients(coefficients: Array, codes: Index, rows: Rows) -> Array:
    """w of each pair for the linear kernel, shape (n_pairs, n_features)."""
    n_classes = len(coefficients) + 1
    of_class = [np.asarray(coefficients[:, codes == c] @ rows[codes == c]) for c in range(n_classes)]
    return sums_of_pairs(np.stack(of_class))
