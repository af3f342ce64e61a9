"""Which settings are tried: a coarse grid first, and what lies around the best of it after that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sodm.search.settings import Setting

GAMMAS = tuple(4.0**k for k in range(-2, 3))  # times gamma="scale"
GAMMA_STEP, LAM_STEP = 2.0, 4.0  # from the best of them
# Of classes, times half the rows where theta is 0.6; the last only where wanted.
LAMS = tuple(4.0**k for k in range(-3, 5))
LAMS_OF_NUMBERS = LAMS[:6]  # times the rows: larger ones took twice the time, and R^2 was no better


@dataclass(frozen=True)
class Grid:
    """Candidates.

    Attributes
    ----------
    gammas, intercepts : tuples
        Those to begin with.
    lams : mapping of tuples
        Those of each theta: lam / (1 - theta)^2 is what a row weighs.
    free_gamma, free_lam : bool
        Whether values between and beyond them may be tried; not where a user has given them.
    """

    gammas: tuple[float, ...]
    lams: Mapping[float, tuple[float, ...]]
    intercepts: tuple[bool, ...]
    free_gamma: bool
    free_lam: bool

    @property
    def usual_lams(self) -> dict[float, float]:
        """Of each theta the one in the middle, the smaller of two."""
        return {theta: sorted(own)[(len(own) - 1) // 2] for theta, own in self.lams.items()}

    def coarse(self) -> list[Setting]:
        """All combinations."""
        return [
            Setting(gamma, intercept, theta, lam)
            for gamma in self.gammas
            for intercept in self.intercepts
            for theta, own in self.lams.items()
            for lam in own
        ]

    def around(self, best: Setting) -> list[Setting]:
        """The setting, and those a step away in gamma, in lam or in both."""
        given = self.lams[best.theta]
        gammas = self._steps(best.gamma, GAMMA_STEP, self.gammas, self.free_gamma)
        # A lam beyond the largest is hard to solve and hardly ever better than a larger gamma.
        steps = self._steps(best.lam, LAM_STEP, given, self.free_lam)
        lams = [lam for lam in steps if lam <= max(given)]
        return [Setting(g, best.intercept, best.theta, lam) for g in gammas for lam in lams]

    def beside(self, best: Setting) -> list[Setting]:
        """Those of them that are a step away in gamma or in lam, not in both: half as many."""
        return [s for s in self.around(best) if (s.gamma == best.gamma) != (s.lam == best.lam)]

    def nearest_lam(self, setting: Setting) -> Setting:
        """With its own lam where that is free, up to the largest, else with the nearest of those given."""
        given = self.lams[setting.theta]
        if self.free_lam:
            return setting.with_lam(min(setting.lam, max(given)))
        return setting.with_lam(min(given, key=lambda lam: abs(np.log(lam / setting.lam))))

    @staticmethod
    def _steps(value: float, step: float, given: Sequence[float], free: bool) -> list[float]:
        if free:
            return [value / step, value, value * step]
        ordered = sorted(given)
        at = ordered.index(value)
        return ordered[max(0, at - 1) : at + 2]
