"""Which rows each stage of a search is tried on: growing samples, and what is held out of each."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold, check_cv

from sodm.search.stage import Stage, cross_validation, halves, hold_out, nested_order, sizes
from sodm.search.task import Index

FOLDS = 5
FEW_FOLDS = 3  # of classes, from FIRST_ROWS on: each machine still has two thirds of them, and time is halved
FIRST_ROWS, GROWTH, MOST_ROWS = 1000, 2.5, 6250  # of the stages
HELD_ROWS = 20_000  # most rows looked at: with half as many a9a and cod-rna lose .1 points in the mean
MANY = 2  # times the rows of a stage: so many rows hold some out for it, instead of folds


def plan(
    y: NDArray[Any],
    cv: Any,
    groups: Any,
    *,
    classes: bool,
    kept: Index,
    n_given: int,
    largest: int,
    seed: int,
) -> list[Stage]:
    """The stages of a search.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Numbers of classes, or targets, of the rows that are searched on.
    cv : None, int, splitter or iterable
        As of the searches. What names rows, an iterable or a `PredefinedSplit`, names those that were given.
    groups : ndarray, shape (n,), or None
    classes : bool
        Whether y has classes: samples and folds then have them in their proportions.
    kept : ndarray, shape (n,)
        Which of the `n_given` rows are searched on.
    n_given : int
    largest : int
        Most rows of a stage.
    seed : int
    """
    n = len(y)
    if _names_rows(cv):
        splits = check_cv(cv).split(np.zeros((n_given, 1)))
        own = [[np.searchsorted(kept, np.intersect1d(part, kept)) for part in split] for split in splits]
        if not own:
            raise ValueError("cv has no split: give a pair of rows to train on and rows to look at, or more.")
        return [cross_validation(np.arange(n), check_cv(own), y, groups, n, classes)]
    splitter = _folds(y, classes, seed) if cv is None else check_cv(cv, y, classifier=classes)
    largest = min(largest, MOST_ROWS)
    if cv is None and n >= MANY * FIRST_ROWS:
        largest = min(largest, n // MANY)  # rows enough to hold some out of every stage
    order = nested_order(y, classes, seed)
    stages = []
    for m in sizes(n, FIRST_ROWS, GROWTH, largest):
        rows = np.sort(order[:m])
        if cv is None and n >= MANY * m:
            held = np.sort(order[m : m + min(HELD_ROWS, 4 * m)])
            both = m == n // MANY  # as many to look at as to train on
            stages.append((halves if both else hold_out)(rows, held, n))
            continue
        with warnings.catch_warnings():
            if cv is None:  # classes with fewer rows than folds are left to chance
                warnings.simplefilter("ignore", UserWarning)
            stages.append(cross_validation(rows, splitter, y, groups, n, classes))
    return stages


def _names_rows(cv: Any) -> bool:
    if cv is None or isinstance(cv, int | np.integer):
        return False
    return not hasattr(cv, "split") or isinstance(cv, PredefinedSplit)


def _folds(y: NDArray[Any], classes: bool, seed: int) -> Any:
    """Five, three where rows are many, or as many as there can be."""
    if not classes:
        return KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed % 2**32)
    most = int(np.bincount(y).max())
    if most < 2:
        raise ValueError("each class has one row only: a search needs two or more rows per class.")
    folds = FOLDS if len(y) < FIRST_ROWS else FEW_FOLDS
    return StratifiedKFold(min(folds, most), shuffle=True, random_state=seed % 2**32)
