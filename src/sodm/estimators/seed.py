"""The seed that random_state means."""

from __future__ import annotations

from functools import lru_cache
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

RandomState = int | np.random.RandomState | None


def seed_for(random_state: RandomState) -> int:
    """A seed: the same one each time for a number, and for None, which is 0; an instance is drawn from.

    Examples
    --------
    >>> seed_for(None) == seed_for(0) == seed_for(0)
    True
    """
    if random_state is None or isinstance(random_state, Integral):
        return _seed_of(0 if random_state is None else int(random_state))
    return int(check_random_state(random_state).randint(2**31 - 1))


@lru_cache(maxsize=64)  # to make a generator takes as long as a small fit
def _seed_of(number: int) -> int:
    return int(check_random_state(number).randint(2**31 - 1))
