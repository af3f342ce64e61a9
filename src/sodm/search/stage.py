"""A stage of the search: how many rows, and which of them are held out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodm.search.task import Index

EXPONENT = 0.5  # by which lam is carried to samples: in the middle, as long as two sizes have not been seen


@dataclass(frozen=True)
class Fold:
    """Positions in the Gram matrix to train on, and rows of X held out.

    Attributes
    ----------
    train : ndarray
        Positions in the Gram matrix.
    held : ndarray
        Row numbers in X.
    inside : ndarray or None
        The positions of `held`, if they are rows of the Gram matrix.
    """

    train: Index
    held: Index
    inside: Index | None


@dataclass(frozen=True)
class Stage:
    """Rows to be tried on.

    Attributes
    ----------
    rows : ndarray
        Row numbers in X of the Gram matrix.
    folds : list of Fold
    share : float
        Rows trained on at this stage, over the rows that the final machine is trained on.
    other : Stage or None
        Another sample of the same size that trials are made on too: the other half.
    exponent : float
        lam of this stage is to that of all rows as share^exponent is to 1: where more rows can bear a closer
        fit, lam, which weighs the mean loss, grows with them, between 0, "lam stays", and 1, "C stays" (lam /
        rows).
    pooled : bool
        Whether rows held out of all samples are scored together, as one fold: of neighbourhoods, which
        may have one class only.
    """

    rows: Index
    folds: list[Fold]
    share: float
    other: Stage | None = None
    exponent: float = EXPONENT
    pooled: bool = False

    @property
    def parts(self) -> list[Stage]:
        """The samples, each on its own."""
        return [replace(self, other=None), *(self.other.parts if self.other is not None else [])]

    @property
    def all_folds(self) -> list[Fold]:
        """In the order of the scores of a trial."""
        return self.folds + (self.other.all_folds if self.other is not None else [])

    @property
    def held(self) -> Index:
        """Row numbers in X of all that is held out, in the order of the decisions of a trial."""
        return np.concatenate([fold.held for fold in self.all_folds])

    def lam_there(self, lam: float) -> float:
        """The lam for the rows of this stage that `lam` for all rows stands for."""
        return lam * self.share**self.exponent


def cross_validation(
    rows: Index, cv: Any, y: NDArray[Any], groups: Any, n: int, classes: bool = True
) -> Stage:
    """A stage with the folds of a splitter on these rows of all `n`; `classes` says whether y has such.

    All rows stand for all: the fold that is missing is not counted, as in any cross-validation. The rows are
    laid out by class and fold: what a machine is trained on then lies together in the Gram matrix, and is
    copied several times as fast.
    """
    own = None if groups is None else np.asarray(groups)[rows]
    splits = list(cv.split(np.zeros((len(rows), 1)), y[rows], own))
    fold_of = np.full(len(rows), len(splits))
    for k, (_, test) in enumerate(splits):
        fold_of[test] = np.minimum(fold_of[test], k)
    order = np.lexsort((fold_of, y[rows]) if classes else (fold_of,))
    rows, place = rows[order], np.argsort(order)
    folds = []
    for split in splits:
        train, held = (np.sort(place[part]) for part in split)
        folds.append(Fold(train, rows[held], held))
    return Stage(rows, folds, len(rows) / n)


def hold_out(rows: Index, held: Index, n: int) -> Stage:
    """A stage that trains on some rows and looks at others."""
    return Stage(rows, [Fold(np.arange(len(rows)), held, None)], len(rows) / n)


def halves(rows: Index, held: Index, n: int) -> Stage:
    """A stage that trains on each of two halves and looks at the other."""
    return Stage(
        rows, hold_out(rows, held, n).folds, (len(rows) + len(held)) / 2 / n, hold_out(held, rows, n)
    )


def nested_order(y: NDArray[Any], stratify: bool, seed: int) -> Index:
    """An order of all rows in which every beginning is a sample, with the classes in their proportions."""
    order = np.random.default_rng(seed).permutation(len(y))
    if not stratify:
        return order
    _, codes, counts = np.unique(y[order], return_inverse=True, return_counts=True)
    # The j-th row of a class with c rows stands at (j + 1/2) / c: all classes run out together.
    place = np.empty(len(y))
    for code, count in enumerate(counts):
        place[codes == code] = (np.arange(count) + 0.5) / count
    return order[np.argsort(place, kind="stable")]


def sizes(n: int, first: int, growth: float, largest: int) -> Iterator[int]:
    """Rows of the stages, growing up to `largest` or all.

    Examples
    --------
    >>> list(sizes(20_000, 1000, 3, 9000))
    [1000, 3000, 9000]
    >>> list(sizes(1400, 1000, 3, 9000))
    [1400]
    """
    end = min(n, largest)
    size = float(first)
    while size * np.sqrt(growth) < end:  # no step that is hardly one
        yield int(size)
        size *= growth
    yield end
