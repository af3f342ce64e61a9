"""Probabilities from decisions on rows that were held out.

    two classes       a sigmoid of f by maximum likelihood, with Platt's targets
    pairs of classes  a sigmoid for each pair, and the p that agrees best with all (Wu, Lin, Weng 2004)
    one against rest  softmax(a f_k)

Coupled ones are given a temperature, p^t / sum p^t: the number that makes them as sure as they are right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp

from sodm.problem.ordered_sums import dot, row_sums

Array = NDArray[np.float64]
TINY = 1e-12
NEWTON_STEPS = 100
LEAST_SLOPE = 1e-3  # over the range of the decisions: what is decided for is never the less probable


def first_is(probabilities: Array, decided: NDArray[np.intp]) -> None:
    """Give the class that is decided for the largest probability, in place, and its own to the largest.

    Coupled probabilities and votes may differ on a row that hangs between classes; those who ask for both are
    to hear the same.

    Examples
    --------
    >>> p = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    >>> first_is(p, np.array([1, 2]))
    >>> p.tolist()
    [[0.3, 0.5, 0.2], [0.1, 0.2, 0.7]]
    """
    rows, largest = np.arange(len(probabilities)), probabilities.argmax(axis=1)
    before = probabilities[rows, decided].copy()
    probabilities[rows, decided] = probabilities[rows, largest]
    probabilities[rows, largest] = np.where(largest == decided, probabilities[rows, largest], before)


@dataclass(frozen=True)
class Sigmoid:
    """The probability of the positive class, p = expit(slope f + shift), the slope one below zero, one above.

    Without a shift p is 1/2 where f is 0: the more probable class is the one decided for. Two slopes then do
    what a shift would: a machine may be surer on one side than on the other.

    Examples
    --------
    >>> import numpy as np
    >>> f = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> fitted = Sigmoid.fit(f, f > 0, np.ones(4))
    >>> bool(fitted(np.array([3.0]))[0] > 0.7), bool(fitted(np.array([-3.0]))[0] < 0.3)
    (True, True)
    """

    below: float
    above: float
    shift: float

    def __call__(self, f: Array) -> Array:
        return expit(self.below * np.minimum(f, 0) + self.above * np.maximum(f, 0) + self.shift)

    @classmethod
    def fit(cls, f: Array, positive: NDArray[np.bool_], weights: Array, shifted: bool = False) -> Sigmoid:
        """By maximum likelihood; targets a little inside 0 and 1, so that separable data have a solution."""
        f = np.asarray(f, dtype=np.float64)
        n_positive, n_negative = weights[positive].sum(), weights[~positive].sum()
        target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
        scale = max(float(np.abs(f).max(initial=0.0)), TINY)
        sides = np.column_stack([np.minimum(f, 0), np.maximum(f, 0)]) / scale
        if shifted:  # one slope and a shift: Platt's sigmoid
            sides = np.column_stack([sides.sum(axis=1), np.ones(len(f))])

        prior = float(np.log((n_positive + 1) / (n_negative + 1)))
        first, second = _most_likely(
            sides, target, weights, np.array([0.0, prior] if shifted else [1.0, 1.0])
        )
        if shifted:
            return cls(first / scale, first / scale, second)
        if not np.any(f < 0):  # a side that no row was on is as sure as the other
            first = second
        if not np.any(f > 0):
            second = first
        # Each slope is about rows of its own, so the least one allowed is best where the best one is less.
        return cls(max(first, LEAST_SLOPE) / scale, max(second, LEAST_SLOPE) / scale, 0.0)


def _most_likely(sides: Array, target: Array, weights: Array, v: Array) -> tuple[float, float]:
    """The v that minimises sum_i weights_i (log(1 + exp(z_i)) - target_i z_i), z = sides v, by Newton."""

    def loss(v: Array) -> float:
        z = row_sums(sides, v)
        return dot(weights, np.logaddexp(0, z) - target * z)

    value = loss(v)
    for _ in range(NEWTON_STEPS):
        p = expit(row_sums(sides, v))
        slope = row_sums(sides.T, weights * (p - target))
        scaled = sides * (weights * p * (1 - p))[:, None]
        curvature = np.einsum("ij,ik->jk", scaled, sides) + TINY * np.eye(2)
        step, share = np.linalg.solve(curvature, slope), 1.0
        while loss(v - share * step) > value and share > TINY:
            share /= 2
        v = v - share * step
        before, value = value, loss(v)
        if before - value <= 1e-10 * (1 + abs(value)):
            break
    return float(v[0]), float(v[1])


@dataclass(frozen=True)
class TwoClasses:
    """Of one decision, positive for the second class."""

    sigmoid: Sigmoid

    def __call__(self, decisions: Array) -> Array:
        p = self.sigmoid(decisions[:, 0])
        return np.column_stack([1 - p, p])


@dataclass(frozen=True)
class Pairs:
    """Of one decision for each pair of classes, coupled."""

    pairs: list[tuple[int, int]]
    sigmoids: list[Sigmoid]
    n_classes: int
    temperature: float = 1.0

    def __call__(self, decisions: Array) -> Array:
        r = np.full((len(decisions), self.n_classes, self.n_classes), 0.0)
        for k, (a, b) in enumerate(self.pairs):
            p = np.clip(self.sigmoids[k](decisions[:, k]), 1e-7, 1 - 1e-7)
            r[:, a, b], r[:, b, a] = p, 1 - p
        return tempered(coupled(r), self.temperature)


@dataclass(frozen=True)
class Rest:
    """Of one decision for each class. One slope for all, so that the most probable is the one decided for."""

    slope: float

    def __call__(self, decisions: Array) -> Array:
        z = self.slope * decisions
        return np.exp(z - logsumexp(z, axis=1, keepdims=True))


Calibrator = TwoClasses | Pairs | Rest


def fit_calibrator(
    decisions: Array,
    codes: NDArray[np.int64],
    weights: Array,
    n_classes: int,
    pairs: list[tuple[int, int]],
    shifted: bool = False,
) -> Calibrator:
    """The map from raw decisions to probabilities, fitted to rows held out.

    Parameters
    ----------
    decisions : ndarray, shape (n, n_outputs)
    codes, weights : ndarrays, shape (n,)
    n_classes : int
    pairs : list of tuples
        Of classes, one for each output; empty if outputs are classes.
    shifted : bool
        Whether f = 0 is not p = 1/2: of machines that were trained with other weights than the rows have.
    """
    decisions = np.asarray(decisions, dtype=np.float64)
    if n_classes == 2:
        return TwoClasses(Sigmoid.fit(decisions[:, 0], codes == 1, weights, shifted))
    if not pairs:
        return Rest(_best_temperature(decisions, codes, weights))
    sigmoids = []
    for k, (a, b) in enumerate(pairs):
        own = (codes == a) | (codes == b)
        sigmoids.append(Sigmoid.fit(decisions[own, k], codes[own] == a, weights[own], shifted=True))
    coupling = Pairs(pairs, sigmoids, n_classes)
    p = coupling(decisions)
    return Pairs(pairs, sigmoids, n_classes, _best_temperature(np.log(p), codes, weights))


def coupled(r: Array) -> Array:
    """The p with sum 1 that minimises sum_{a != b} (r_ba p_a - r_ab p_b)^2, row by row.

    Parameters
    ----------
    r : ndarray, shape (n, k, k)
        r_ab is the probability of a among a and b; r_ab + r_ba = 1.
    """
    n, k = r.shape[:2]
    q = -np.swapaxes(r, 1, 2) * r
    q[:, np.arange(k), np.arange(k)] = np.sum(np.swapaxes(r, 1, 2) ** 2, axis=2)
    # Lagrange: [Q 1; 1' 0] [p; b] = [0; 1]
    system = np.ones((n, k + 1, k + 1))
    system[:, :k, :k] = q + TINY * np.eye(k)
    system[:, k, k] = 0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1
    p = np.clip(np.linalg.solve(system, right)[:, :k, 0], TINY, None)
    return p / p.sum(axis=1, keepdims=True)


def tempered(p: Array, temperature: float) -> Array:
    """p^t / sum p^t."""
    z = temperature * np.log(p)
    return np.exp(z - logsumexp(z, axis=1, keepdims=True))


def _best_temperature(z: Array, codes: NDArray[np.int64], weights: Array) -> float:
    """The t for which softmax(t z) is most likely.

    A class is taken for one that was seen once more among its rows, as all others were: Platt's targets, of
    several classes. Without them a machine that errs on none of the rows would be sure of everything.
    """
    n_classes = z.shape[1]
    others = 1 / (np.bincount(codes, weights, minlength=n_classes)[codes] + n_classes)
    own = (1 - n_classes * others) * z[np.arange(len(z)), codes] + others * z.sum(axis=1)

    def loss(log_t: float) -> float:
        t = np.exp(log_t)
        return dot(weights, logsumexp(t * z, axis=1) - t * own)

    return float(np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x))
