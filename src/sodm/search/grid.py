"""Which settings are tried: a coarse grid first, and what lies around the best of it after that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sodm.search.settings import Setting

GAMMAS = tuple(4.0**k for k in range(-2, 3))  # times gamma="scale"
GAMMA_STEP, LAM_STEP = 2.0, 4.0  # from the best of them
LAMS = tuple(4.0**k for k in range(-3, 5))  # of classes, times half the rows; the last only where wanted
LAMS_OF_NUMBERS = LAMS[:6]  # times the rows: larger ones took twice the time, and R^2 was no better


@dataclass(frozen=True)
class Grid:
    """Candidates.

    Attributes
    ----------
    gammas, lams, thetas, intercepts : tuples
        Those to begin with.
    free_gamma, free_lam : bool
        Whether values between and beyond them may be tried; not where a user has given them.
    """

    gammas: tuple[float, ...]
    lams: tuple[float, ...]
    thetas: tuple[float, ...]
    intercepts: tuple[bool, ...]
    free_gamma: bool
    free_lam: bool

    @property
    def usual_lam(self) -> float:
        """The one in the middle, the smaller of two."""
        return sorted(self.lams)[(len(self.lams) - 1) // 2]

    def coarse(self) -> list[Setting]:
        """All combinations."""
        return [Setting(*s) for s in product(self.gammas, self.intercepts, self.thetas, self.lams)]

    def around(self, best: Setting) -> list[Setting]:
        """The setting, and those a step away in gamma, in lam or in both."""
        gammas = self._steps(best.gamma, GAMMA_STEP, self.gammas, self.free_gamma)
        # A lam beyond the largest is hard to solve and hardly ever better than a larger gamma.
        steps = self._steps(best.lam, LAM_STEP, self.lams, self.free_lam)
        lams = [lam for lam in steps if lam <= max(self.lams)]
        return [Setting(g, best.intercept, best.theta, lam) for g in gammas for lam in lams]

    def beside(self, best: Setting) -> list[Setting]:
        """Those of them that are a step away in gamma or in lam, not in both: half as many."""
        return [s for s in self.around(best) if (s.gamma == best.gamma) != (s.lam == best.lam)]

    def nearest_lam(self, lam: float) -> float:
        """The lam itself where it is free, up to the largest, else the nearest of those given."""
        if self.free_lam:
            return min(lam, max(self.lams))
        return min(self.lams, key=lambda given: abs(np.log(given / lam)))

    @staticmethod
    def _steps(value: float, step: float, given: Sequence[float], free: bool) -> list[float]:
        if free:
            return [value / step, value, value * step]
        ordered = sorted(given)
        at = ordered.index(value)
        return ordered[max(0, at - 1) : at + 2]
