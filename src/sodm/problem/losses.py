"""The losses: optimal margin distribution (ODM), the same around targets, and hinge.

With margins m_i = y_i f(x_i), sample weights s_i and W = sum s_i, training minimises

    p(f) = 1/2 |f|^2 + primal(m, s)

and its dual, in one signed variable per row with f = sum_i y_i g_i k(x_i, .) and Q_ij = y_i y_j k(x_i, x_j),

    d(g) = 1/2 g' Q g + dual(g, s).

Strong duality reads min d = -min p, so p + d >= 0 is the duality gap. As |f|^2 = g' Q g = sum_i g_i m_i, it
is a sum of one term for each row that is never negative (Fenchel and Young): `young`. Margins with an offset,
m_i = y_i f(x_i) + o_i, add o'g to d, and the gap stays the sum of `young`.

A weight multiplies the loss term of its row and W replaces the number of rows: weight k is k copies of the
row, weight 0 is the row left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sodm import _core

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OdmLoss:
    """Two-sided squared loss with a dead zone, Eq. (1) of the paper.

    primal = lam / (2 W (1 - theta)^2) * sum_i s_i [(1 - theta - m_i)_+^2 + upsilon (m_i - 1 - theta)_+^2]

    Parameters
    ----------
    lam : float
        Weight of the loss against the norm, > 0.
    upsilon : float
        How much a margin above the dead zone counts against one below it, in (0, 1].
    theta : float
        Half-width of the dead zone [1 - theta, 1 + theta], in [0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> loss = OdmLoss(lam=8.0, upsilon=0.5, theta=0.5)
    >>> loss.primal(np.array([0.0, 1.0, 2.0]), np.ones(3))
    2.0
    """

    smooth: ClassVar[bool] = True  # has a gradient everywhere

    lam: float
    upsilon: float
    theta: float

    @property
    def unit(self) -> float:
        """The square of the margin that the zone asks for: losses are measured in it."""
        return (1 - self.theta) ** 2

    def core(self, scale: float) -> _core.OdmLoss:
        """The loss as the core takes it."""
        return _core.OdmLoss(scale, self.upsilon, self.theta)

    def scale(self, total_weight: float) -> float:
        """What the sum of s_i [...] / 2 is multiplied with: lam / (W (1 - theta)^2)."""
        return self.lam / (total_weight * self.unit)

    def excess(self, margins: Array) -> tuple[Array, Array]:
        """How far each margin is below the dead zone, and how far above."""
        return np.maximum(1 - self.theta - margins, 0.0), np.maximum(margins - 1 - self.theta, 0.0)

    def of_rows(self, margins: Array) -> Array:
        """What each row adds to primal, over scale * s_i."""
        below, above = self.excess(margins)
        return (below**2 + self.upsilon * above**2) / 2

    def primal(self, margins: Array, weights: Array) -> float:
        """The loss term of p at the given margins."""
        return float(self.scale(weights.sum()) * np.sum(weights * self.of_rows(margins)))

    def slope(self, margins: Array) -> Array:
        """The derivative of primal by each margin, over scale * s_i."""
        below, above = self.excess(margins)
        return self.upsilon * above - below

    def dual(self, g: Array, weights: Array) -> float:
        """The part of d that depends on g alone."""
        a, b = self.ridges(weights)
        zeta, beta = np.maximum(g, 0.0), np.maximum(-g, 0.0)
        quadratic = (a * zeta**2 + b * beta**2) / 2
        return float(np.sum(quadratic - (1 - self.theta) * zeta + (1 + self.theta) * beta))

    def ridges(self, weights: Array) -> tuple[Array, Array]:
        """What the loss adds to the diagonal of Q, where g_i > 0 and where g_i < 0.

        These are W c upsilon / s_i and W c / s_i with c = (1 - theta)^2 / (lam upsilon).
        """
        a = weights.sum() * self.unit / (self.lam * weights)
        return a, a / self.upsilon

    def derivatives(self, margins: Array, weights: Array, corner: float = 0.0) -> tuple[Array, Array]:
        """First and second derivative of the loss term of each row by its margin; there is no corner."""
        g, (a, b) = self.lift(margins, weights), self.ridges(weights)
        return -g, np.where(g > 0, 1 / a, np.where(g < 0, 1 / b, 0.0))

    def prox(self, r: Array, q: Array, weights: Array) -> Array:
        """The best g_i with all others held, where q = Q_ii and r = q g_i - (Q g)_i; one weight per row."""
        a, b = self.ridges(weights)
        rising, falling = (r + 1 - self.theta) / (q + a), (r + 1 + self.theta) / (q + b)
        return np.where(rising > 0, rising, np.where(falling < 0, falling, 0.0))

    def lift(self, margins: Array, weights: Array) -> Array:
        """The duals that the optimality conditions assign to these margins: g = -d primal / d m."""
        a, b = self.ridges(weights)
        below, above = self.excess(margins)
        return below / a - above / b

    def feasible(self, g: Array, weights: Array) -> Array:
        """These duals where they are allowed: anything for a row that has weight."""
        return np.where(weights > 0, g, 0.0)

    def violation(self, margins: Array, g: Array, weights: Array) -> Array:
        """How far each row is from optimality, in units of the margin: the smallest |subgradient of d|."""
        a, b = self.ridges(weights)
        low, high = 1 - self.theta, 1 + self.theta
        at_zero = np.maximum(*self.excess(margins))
        inside = np.where(g > 0, margins + a * g - low, margins + b * g - high)
        return np.where(g == 0, at_zero, np.abs(inside))

    def young(self, margins: Array, g: Array, weights: Array) -> Array:
        """What each row has of the duality gap, see the module's first lines.

        The terms with the slack t = 1 - theta - m or m - 1 - theta on the side of g make a square,
        (t - a g)^2 / 2 a; a margin on the other side of the zone adds its own.
        """
        a, b = self.ridges(weights)
        low, high = 1 - self.theta - margins, margins - 1 - self.theta  # slacks, negative inside
        up, down = np.maximum(g, 0.0), np.maximum(-g, 0.0)
        below = np.where(low > 0, (low - a * up) ** 2 / (2 * a), up * (a * up / 2 - low))
        above = np.where(high > 0, (high - b * down) ** 2 / (2 * b), down * (b * down / 2 - high))
        return below + above


@dataclass(frozen=True)
class TargetLoss(OdmLoss):
    """The loss of regression: the zone lies around a target t_i, in the target's own units.

    primal = lam / (2 W) * sum_i s_i [(t_i - theta - f_i)_+^2 + upsilon (f_i - t_i - theta)_+^2]

    It is the ODM loss of margins f_i + 1 - t_i (signs 1, offsets 1 - t_i), without its division by
    (1 - theta)^2; theta is the half-width epsilon, any number >= 0, and upsilon any number > 0.

    Examples
    --------
    >>> import numpy as np
    >>> loss = TargetLoss(lam=4.0, upsilon=0.5, theta=0.5)
    >>> t, f = np.array([3.0, 3.0, 3.0]), np.array([1.0, 3.2, 5.5])
    >>> round(loss.primal(f + 1 - t, np.ones(3)), 6)  # 4 / (2 * 3) * (1.5 ** 2 + 0.5 * 2 ** 2)
    2.833333
    """

    @property
    def unit(self) -> float:
        """Targets have their own unit."""
        return 1.0


@dataclass(frozen=True)
class HingeLoss:
    """The loss of the support vector machine, for comparison.

    primal = lam / W * sum_i s_i (1 - m_i)_+

    Its dual variables live in the box 0 <= g_i <= lam s_i / W; lam / W plays the role of LIBSVM's C.

    Parameters
    ----------
    lam : float
        Weight of the loss against the norm, > 0.

    Examples
    --------
    >>> import numpy as np
    >>> HingeLoss(lam=3.0).primal(np.array([0.0, 1.0, 2.0]), np.ones(3))
    1.0
    """

    smooth: ClassVar[bool] = False

    lam: float

    def core(self, scale: float) -> _core.HingeLoss:
        """The loss as the core takes it."""
        return _core.HingeLoss(scale)

    def scale(self, total_weight: float) -> float:
        """What the sum of s_i (1 - m_i)_+ is multiplied with: lam / W."""
        return self.lam / total_weight

    def of_rows(self, margins: Array) -> Array:
        """What each row adds to primal, over scale * s_i."""
        return np.maximum(1 - margins, 0.0)

    def primal(self, margins: Array, weights: Array) -> float:
        """The loss term of p at the given margins."""
        return float(self.scale(weights.sum()) * np.sum(weights * self.of_rows(margins)))

    def slope(self, margins: Array) -> Array:
        """The derivative of primal by each margin, over scale * s_i; at the kink the right one."""
        return np.where(margins < 1, -1.0, 0.0)

    def dual(self, g: Array, weights: Array) -> float:
        """The part of d that depends on g alone; infinite outside the box."""
        slack = 1e-9 * self.bounds(weights)
        if np.any(g < -slack) or np.any(g > self.bounds(weights) + slack):
            return float("inf")
        return float(-np.sum(g))

    def ridges(self, weights: Array) -> tuple[Array, Array]:
        """What the loss adds to the diagonal of Q: nothing."""
        zero = np.zeros_like(weights, dtype=np.float64)
        return zero, zero

    def derivatives(self, margins: Array, weights: Array, corner: float = 0.0) -> tuple[Array, Array]:
        """First and second derivative of the loss term of each row by its margin.

        Parameters
        ----------
        corner : float
            The corner at margin 1 is taken for a parabola of this half-width, > 0: it has no curvature else.
        """
        cost = self.bounds(weights)
        share = np.clip((1 + corner - margins) / (2 * corner), 0.0, 1.0)
        return -cost * share, np.where((share > 0) & (share < 1), cost / (2 * corner), 0.0)

    def bounds(self, weights: Array) -> Array:
        """The largest value of each dual variable, lam s_i / W; the smallest is 0."""
        return self.lam * weights / weights.sum()

    def prox(self, r: Array, q: Array, weights: Array) -> Array:
        """The best g_i with all others held, where q = Q_ii and r = q g_i - (Q g)_i; one weight per row."""
        upper = self.bounds(weights)
        step = np.divide(r + 1, q, out=np.where(r + 1 > 0, np.inf, 0.0), where=np.asarray(q) > 0)
        return np.clip(step, 0.0, upper)

    def lift(self, margins: Array, weights: Array) -> Array:
        """The duals that the optimality conditions assign to these margins: full where a row has a loss."""
        return np.where(margins < 1, self.bounds(weights), 0.0)

    def feasible(self, g: Array, weights: Array) -> Array:
        """These duals brought into their box."""
        return np.clip(g, 0.0, self.bounds(weights))

    def violation(self, margins: Array, g: Array, weights: Array) -> Array:
        """How far each row is from optimality, in units of the margin: the projected gradient of d."""
        gradient = margins - 1
        upper = self.bounds(weights) * (1 - 1e-12)  # the sum of the weights is only known to rounding
        at_zero, at_upper = np.maximum(-gradient, 0.0), np.maximum(gradient, 0.0)
        return np.where(g <= 0, at_zero, np.where(g >= upper, at_upper, np.abs(gradient)))

    def young(self, margins: Array, g: Array, weights: Array) -> Array:
        """What each row has of the duality gap, see the module's first lines."""
        slack = 1 - margins
        return np.maximum(self.bounds(weights) - g, 0.0) * np.maximum(slack, 0.0) + g * np.maximum(
            -slack, 0.0
        )


Loss = OdmLoss | HingeLoss  # TargetLoss is an OdmLoss

LOSSES = ("odm", "hinge")


def make_loss(name: str, lam: float, upsilon: float, theta: float) -> Loss:
    """The loss of this name; the hinge loss has neither upsilon nor theta."""
    return HingeLoss(float(lam)) if name == "hinge" else OdmLoss(float(lam), float(upsilon), float(theta))
