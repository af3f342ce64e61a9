"""The outcomes in words: cells of the table, and what to read from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from sodm.demo.contest import Outcome

COLUMNS = ("", "accuracy", "seconds", "support vectors", "duality gap", "margin mean", "margin variance")


def cells(outcome: Outcome) -> list[str]:
    """One row of the table."""
    gap = "–" if outcome.gap is None else f"{'≈ ' * outcome.gap_is_estimate}{outcome.gap:.1g}"
    return [
        outcome.name,
        f"{outcome.accuracy:.2%}",
        f"{outcome.seconds:.2f}",
        "–" if outcome.support_vectors is None else f"{outcome.support_vectors:,}",
        gap,
        "–" if outcome.margins is None else f"{outcome.margin_mean:.2f}",
        "–" if outcome.margins is None else f"{outcome.margin_variance:.3f}",
    ]


def best_cells(outcomes: Sequence[Outcome]) -> set[tuple[int, int]]:
    """Places (row, column) of the highest accuracy, the shortest time and the fewest support vectors."""
    found = set()
    for column, better in (
        (1, lambda o: o.accuracy),
        (2, lambda o: -o.seconds),
        (3, lambda o: -inf if o.support_vectors is None else -o.support_vectors),
    ):
        top = max(map(better, outcomes))
        found |= {(k, column) for k, outcome in enumerate(outcomes) if better(outcome) == top}
    return found


def reading(outcomes: Sequence[Outcome], test_rows: int) -> str:
    """What the table says, and how much of it is chance."""
    highest = max(outcome.accuracy for outcome in outcomes)
    right = " and ".join(outcome.name for outcome in outcomes if outcome.accuracy == highest)
    quick = min(outcomes, key=lambda o: o.seconds)
    slow = max(outcomes, key=lambda o: o.seconds)
    chance = 2 * (highest * (1 - highest) / test_rows) ** 0.5
    return (
        f"Highest accuracy: {highest:.2%}, {right}. With {test_rows:,} test rows an accuracy is known to "
        f"about ±{chance:.2%}. Shortest fit: {quick.seconds:.2f} s, {quick.name}; longest: "
        f"{slow.seconds:.2f} s, {slow.name}. Duality gaps are relative; those with ≈ are estimated from a "
        "sample of the training rows. Margins are those of the test rows, in each machine's own scale."
    )
