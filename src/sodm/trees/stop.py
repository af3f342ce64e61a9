"""When to stop going up: the stop rule is where the speed of a tree comes from.

tolerance    every part of the level started at its solution (the paper's rule)
decisions    all levels to come would decide next to no row of the probe otherwise, nor move the objective
             much, if changes go on as they came
time limit   the time is up; the machine of the last finished level is returned
last level   there is nothing left to merge
exact        the problem of all rows was solved
regions      all regions were solved (see `two_scale`)
landmarks    the problem was solved in the span of landmarks (see `span`)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sodm.trees.history import Record
from sodm.trees.merge import levels_above
from sodm.trees.probe import Reading

TOLERANCE, DECISIONS, TIME, LAST, EXACT = "tolerance", "decisions", "time limit", "last level", "exact"
REGIONS, LANDMARKS = "regions", "landmarks"

# The objective of an averaged machine falls from level to level; while it is further than this share from the
# best that is known or to be expected, levels still have something to learn, even if no decision of the probe
# shows it.
OBJECTIVE_AGREES = 0.15


@dataclass(frozen=True)
class StopRule:
    """The rules that look at levels.

    Parameters
    ----------
    stop_tol : float
        Share of the probe's rows that all further levels together may give another class.
    branching : int
        So many parts are merged to one of the next level.
    """

    stop_tol: float
    branching: int = 2

    def reason(self, history: Sequence[Record]) -> str | None:
        """The rule that ends the training after the last of these levels, if one does."""
        if len(history) < 2:
            return None
        if history[-1].n_iter == 0:
            return TOLERANCE
        left = levels_above(history[-1].n_partitions, self.branching)
        if left == 0:
            return None
        changes = [record.changed for record in history if record.changed is not None]
        if still_to_come(changes, left, self.branching) > self.stop_tol:
            return None
        agrees = self._objective_to_come(history, left) <= OBJECTIVE_AGREES
        return DECISIONS if agrees else None

    def _objective_to_come(self, history: Sequence[Record], left: int) -> float:
        """How far the objective is from what further levels would bring it to, and from the best one seen, as
        a share of itself; the largest of all problems."""
        values = np.array([np.atleast_1d(record.objective) for record in history])
        falls = np.abs(np.diff(values, axis=0))
        to_come = [still_to_come(fall.tolist(), left, self.branching) for fall in falls.T]
        above = np.maximum(to_come, values[-1] - values.min(axis=0))
        return float(np.max(above / np.maximum(np.abs(values[-1]), 1e-300)))


def still_to_come(changes: Sequence[float], levels: int, branching: int) -> float:
    """What so many further levels would change together.

    Each is thought to change as much less than the one before as the last ones did: by the ratio of the last
    two changes, or the mean ratio of the last three. After a single change, parts are thought to come nearer
    to the truth as the root of their rows.

    Examples
    --------
    >>> (
    ...     still_to_come([0.04, 0.02], 2, 2),
    ...     still_to_come([0.08, 0.05, 0.02], 2, 2),
    ...     still_to_come([0.04], 2, 4),
    ... )
    (0.015, 0.015, 0.03)
    """
    *before, last = changes[-3:]
    ratio = branching**-0.5
    if before and before[0] > 0:
        ratio = (last / before[0]) ** (1 / len(before))
    return float(last * sum(ratio**k for k in range(1, levels + 1)))


def changed(now: Reading, before: Reading) -> float:
    """Share of rows whose class is another one."""
    return float(np.mean(now.classes != before.classes))
