"""The seed that random_state means."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state


def seed_for(random_state: Any) -> int:
    """A seed: the same one each time for a number, and for None, which is 0; an instance is drawn from.

    Examples
    --------
    >>> seed_for(None) == seed_for(0) == seed_for(0)
    True
    """
    return int(check_random_state(0 if random_state is None else random_state).randint(2**31 - 1))
