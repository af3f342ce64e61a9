"""Which settings are tried: a coarse grid first, and what lies around the best of it after that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sodm.search.settings import Setting

GAMMAS = tuple(4.0**k for k in range(-2, 3))  # times gamma="scale"
LAMS = tuple(4.0**k for k in range(-3, 3))  # times the middle, half the rows


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
        """The one in the middle."""
        return sorted(self.lams)[len(self.lams) // 2]

    def coarse(self) -> list[Setting]:
        """All combinations."""
        return [Setting(*s) for s in product(self.gammas, self.intercepts, self.thetas, self.lams)]

    def around(self, best: Setting, gamma_step: float, lam_step: float) -> list[Setting]:
        """The setting, and those a step away in gamma, in lam or in both."""
        gammas = self._beside(best.gamma, gamma_step, self.gammas, self.free_gamma)
        # A lam beyond the largest is hard to solve and hardly ever better than a larger gamma.
        beside = self._beside(best.lam, lam_step, self.lams, self.free_lam)
        lams = [lam for lam in beside if lam <= max(self.lams)]
        return [Setting(g, best.intercept, best.theta, lam) for g in gammas for lam in lams]

    def nearest_lam(self, lam: float) -> float:
        """The lam itself where it is free, up to the largest, else the nearest of those given."""
        if self.free_lam:
            return min(lam, max(self.lams))
        return min(self.lams, key=lambda given: abs(np.log(given / lam)))

    @staticmethod
    def _beside(value: float, step: float, given: Sequence[float], free: bool) -> list[float]:
        if free:
            return [value / step, value, value * step]
        ordered = sorted(given)
        at = ordered.index(value)
        return ordered[max(0, at - 1) : at + 2]
