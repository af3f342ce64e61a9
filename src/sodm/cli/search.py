"""A search over lam, gamma, theta and upsilon by successive halving.

All settings are tried on a small subsample, the best of them on a subsample three times as large, and so
on. On
a subsample the kernel matrix is computed once per gamma and shared by all settings with that gamma; along
lam each
fit starts from the solution of the one before.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sodm import ODMClassifier
from sodm.cli.inputs import split_rows
from sodm.estimators.threads import threads_for
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel, resolve_gamma

GAMMAS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)  # times gamma="scale"
LAMS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
THETAS = (0.1, 0.3, 0.5, 0.9)
UPSILONS = (0.2, 0.5, 1.0)
FIRST_ROWS, GROWTH, SHARE_KEPT, FEWEST_KEPT = 500, 3, 0.25, 6
VALIDATION_SHARE, VALIDATION_ROWS = 0.25, 2000


@dataclass(frozen=True, order=True)
class Setting:
    """Parameters to try."""

    gamma: float
    theta: float
    upsilon: float
    lam: float


@dataclass(frozen=True)
class Trial:
    """A setting, on how many rows it was tried, and how it did on the validation rows."""

    setting: Setting
    rows: int
    accuracy: float
    support_vectors: int

    def rank(self) -> tuple[float, ...]:
        """Best first: more rows, more right, then the smoother and the sparser machine."""
        return (-self.rows, -self.accuracy, self.setting.lam, self.setting.gamma, self.support_vectors)


def search(
    X: Any,
    y: NDArray[Any],
    kernel: Kernel,
    *,
    seed: int,
    memory_mb: float,
    n_threads: int | None,
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[str], Any] = lambda line: None,
) -> list[Trial]:
    """All trials, best first; fewer if `stop` says so.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Scaled rows.
    y : ndarray
        Labels.
    kernel : Kernel
        Its gamma is searched, all else kept.
    seed : int
    memory_mb : float
        For kernel values; bounds the largest subsample.
    n_threads : int or None
    stop : callable
        Asked before every fit.
    report : callable
        Told what happens, line by line.
    """
    train, held = split_rows(y, VALIDATION_SHARE, seed)
    rng = np.random.default_rng(seed)
    train, held = rng.permutation(train), rng.permutation(held)[:VALIDATION_ROWS]
    if len(held) == 0:
        raise ValueError("there are too few rows to hold some out: tuning needs two or more rows per class.")
    fixed = kernel.name == "linear"
    base = 1.0 if fixed else resolve_gamma("scale", X[train[: 20 * FIRST_ROWS]])
    gammas = (1.0,) if fixed else tuple(base * factor for factor in GAMMAS)
    settings = [Setting(*s) for s in product(gammas, THETAS, UPSILONS, LAMS)]
    trials: dict[Setting, Trial] = {}
    for rows in subsample_sizes(len(train), len(held), memory_mb):
        report(f"{len(settings)} settings on {rows:,} rows")
        for trial in _try_all(X, y, train[:rows], held, kernel, sorted(settings), n_threads, seed, stop):
            trials[trial.setting] = trial
        if stop():
            break
        settings = _best(trials.values(), settings)
    return sorted(trials.values(), key=Trial.rank)


def subsample_sizes(n_rows: int, n_held: int, memory_mb: float) -> list[int]:
    """Sizes of the subsamples; the kernel matrix of the largest fits in the memory, twice.

    Examples
    --------
    >>> subsample_sizes(10_000, 2_000, 1000)
    [500, 1500, 4500, 8401]
    """
    # m (m + n_held) values of eight bytes, and half as much again for the solver's own copy.
    values = memory_mb * 2**20 / 12
    largest = min(n_rows, max(2, int((n_held**2 / 4 + values) ** 0.5 - n_held / 2)))
    sizes = [min(FIRST_ROWS, largest)]
    while sizes[-1] < largest:
        following = GROWTH * sizes[-1]
        sizes.append(following if 1.5 * following < largest else largest)  # no step that is hardly one
    return sizes


def _best(trials: Iterable[Trial], settings: list[Setting]) -> list[Setting]:
    tried = set(settings)
    ranked = sorted((trial for trial in trials if trial.setting in tried), key=Trial.rank)
    return [trial.setting for trial in ranked[: max(FEWEST_KEPT, round(SHARE_KEPT * len(ranked)))]]


def _try_all(
    X: Any,
    y: NDArray[Any],
    train: NDArray[np.int64],
    held: NDArray[np.int64],
    kernel: Kernel,
    settings: list[Setting],
    n_threads: int | None,
    seed: int,
    stop: Callable[[], bool],
) -> Iterable[Trial]:
    """Trials on one subsample. Sorted settings have those of one gamma together, lam ascending within."""
    if len(np.unique(y[train])) < 2:
        return
    for gamma, same_gamma in groupby(settings, key=lambda s: s.gamma):
        at = KernelEvaluator(replace(kernel, gamma=gamma), n_threads=threads_for(n_threads))
        points = at.points(X[train])
        matrix = at.block(points, points).astype(np.float32)
        to_held = at.block(at.points(X[held], like=points), points)
        for _, along_lam in groupby(same_gamma, key=lambda s: (s.theta, s.upsilon)):
            machine = ODMClassifier(
                kernel="precomputed", warm_start=True, n_jobs=n_threads, random_state=seed, tol=1e-2
            )
            for setting in along_lam:
                if stop():
                    return
                machine.set_params(lam=setting.lam, theta=setting.theta, upsilon=setting.upsilon)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    warnings.simplefilter("ignore", UserWarning)  # sigmoid kernels are rarely definite
                    machine.fit(matrix, y[train])
                accuracy = float(np.mean(machine.predict(to_held) == y[held]))
                yield Trial(setting, len(train), accuracy, len(machine.support_))
