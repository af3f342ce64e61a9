"""When to stop going up: the stop rule is where the speed of a tree comes from.

tolerance    every part of the level started at its solution (the paper's rule)
decisions    next to no row of the probe is decided otherwise than a level below, and the objective agrees
time limit   the time is up; the machine of the last finished level is returned
last level   there is nothing left to merge
exact        the problem of all rows was solved
regions      all regions were solved (see `two_scale`)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sodm.trees.probe import Reading

TOLERANCE, DECISIONS, TIME, LAST, EXACT = "tolerance", "decisions", "time limit", "last level", "exact"
REGIONS = "regions"

# The objective of an averaged machine falls from level to level; while it falls by more than this share, the
# next level still has something to learn, even if no decision of the probe shows it.
OBJECTIVE_AGREES = 0.15


@dataclass(frozen=True)
class StopRule:
    """The rules that look at two levels.

    Parameters
    ----------
    stop_tol : float
        Share of the probe's rows that may change class.
    """

    stop_tol: float

    def reason(self, level: int, n_iter: int, now: Reading, before: Reading | None) -> str | None:
        """The rule that ends the training after this level, if one does.

        Parameters
        ----------
        level : int
            0 for the first.
        n_iter : int
            Most iterations that a part of this level needed.
        now, before : Reading
            Of the machines of this level and of the one below.
        """
        if before is None or level == 0:
            return None
        if n_iter == 0:
            return TOLERANCE
        if changed(now, before) <= self.stop_tol and drift(now, before) <= OBJECTIVE_AGREES:
            return DECISIONS
        return None


def changed(now: Reading, before: Reading) -> float:
    """Share of rows whose class is another one."""
    return float(np.mean(now.classes != before.classes))


def drift(now: Reading, before: Reading) -> float:
    """Largest relative change of an objective."""
    return float(np.max(np.abs(now.objective - before.objective) / np.maximum(np.abs(now.objective), 1e-300)))
