"""Settings of one gamma along lam: which come next, and from which solutions.

No machine is begun at a very large lam: from zero all rows seem to matter there, and it takes several times
as long. So lam comes up in steps, or from the largest one that was solved on the stage before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sodm.search.path import Path
from sodm.search.settings import Setting, Trial

RUNG = 4.0  # from one lam to the next on the way up
TURNED = 0.5  # of a standard error, below the best of the same gamma


@dataclass(frozen=True)
class Solved:
    """Machines of one lam, which those of a larger one may start from: the tasks of each sample."""

    lam: float
    paths: list[list[Path]]

    @classmethod
    def last_of(cls, settings: Sequence[Setting], paths: Sequence[Sequence[Path]]) -> Solved:
        """Of settings that were solved together, the one of the largest lam."""
        return cls(settings[-1].lam, [[path.after(len(settings) - 1) for path in own] for own in paths])


Known = dict[Setting, Solved]  # by the setting without its lam


@dataclass
class Ladder:
    """Settings that differ in lam alone, which ascends, and how far they have come."""

    settings: list[Setting]
    found: list[Trial] = dataclasses.field(default_factory=list)
    last: Solved | None = None  # the next wave goes on from it

    @property
    def gamma(self) -> float:
        return self.settings[0].gamma

    @property
    def theta(self) -> float:
        return self.settings[0].theta

    @property
    def _key(self) -> Setting:
        return self.settings[0].with_lam(0.0)

    def begin(self, known: Known) -> None:
        """Go on from what is known, if that is of a smaller lam."""
        before = known.get(self._key)
        if before is not None and before.lam <= self.settings[0].lam:
            self.last = before

    def leave(self, known: Known) -> None:
        """Let others go on from here: the largest lam is kept."""
        if self.last is not None and (self._key not in known or known[self._key].lam < self.last.lam):
            known[self._key] = self.last

    def goes_on(self, best: Trial | None, behind: float) -> bool:
        """Whether the next lam is worth its time; `behind` as of a `Target`."""
        if len(self.found) == len(self.settings):
            return False
        if best is None or not self.found:
            return True
        last, own = self.found[-1], max(self.found, key=lambda trial: trial.score)
        if np.isinf(behind):
            return not last.score < own.score - TURNED * last.error  # nan is not
        turned = last.score < own.score - TURNED * _error_between(own, last)
        return not (turned or last.score < best.score - behind * _error_between(best, last))

    def next(self, count: int) -> list[Setting]:
        return self.settings[len(self.found) : len(self.found) + count]

    def rungs(self, easy: float) -> list[Setting]:
        """What is solved on the way to the next setting, for machines may be begun at `easy`."""
        first, begun = self.next(1)[0], easy if self.last is None else self.last.lam
        found, lam = [], first.lam / RUNG
        while lam > begun:
            found.append(first.with_lam(lam))
            lam /= RUNG
        return found[::-1]


def _error_between(best: Trial, other: Trial) -> float:
    """Standard error of a difference, as far as few folds can tell: on a fold that is hard both are bad."""
    if len(best.scores) < 3:
        return best.error
    paired = float((best.scores - other.scores).std(ddof=1) / np.sqrt(len(best.scores)))
    return min(max(paired, best.error / 2), best.error)
