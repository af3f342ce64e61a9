"""Scores as a smooth surface over log gamma and log lam.

Scores on rows held out are noisy, and the highest of many is mostly the luckiest. What they would be on
endless rows hardly changes from one setting to the next: a quadratic through all of them, those near the best
counting most, says where the top is better than any single score.

The constants were settled on 600 to 2,000 rows of magic, covtype, a9a, cod-rna, banana and phishing, and
checked on susy-subset, ijcnn1, letter (two halves of the alphabet), marketing, svmguide1 and covtype (1
against the rest).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sodm.search.settings import Setting, Trial

Array = NDArray[np.float64]

NEAR = 2.0  # standard errors: scores that are so much below the best count e times less
UNIT = 4.0  # factors of two: the unit in which settings are apart
RIDGE = 1e-3  # of the slopes and curvatures: for where settings are too few to tell them


def surface(trials: Sequence[Trial]) -> Array:
    """The surface at each of the settings; those of another theta or intercept have one of their own."""
    scores = np.array([trial.score for trial in trials])
    reach = NEAR * max(trials[int(scores.argmax())].error, 1e-12)
    found = np.empty(len(trials))
    for kind in {trial.setting.kind for trial in trials}:
        own = [k for k, trial in enumerate(trials) if trial.setting.kind == kind]
        found[own] = quadratic([trials[k].setting for k in own], scores[own], reach)
    return found


def quadratic(settings: Sequence[Setting], scores: Array, reach: float) -> Array:
    """Of least squares, scores that are `reach` below the best counted e times less."""
    best = int(scores.argmax())
    below = scores - scores[best]
    place = np.log2([[setting.gamma, setting.lam] for setting in settings])
    x, y = ((place - place[best]) / UNIT).T
    terms = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    moments = terms.T * np.exp(below / reach)
    held = RIDGE * np.diag([0.0, 1, 1, 1, 1, 1])
    return scores[best] + terms @ np.linalg.solve(moments @ terms + held, moments @ below)
