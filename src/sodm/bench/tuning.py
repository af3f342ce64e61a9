"""Parameters by cross-validation on training rows: the same small grids for all systems of a kind.

On a subsample of the training rows the kernel matrix of each gamma is computed once and shared by all folds
and settings: by the library's own search for our machines, side by side on the cores for the others. `lam` is
normalised by the number of rows, so what is best on the subsample is used on all rows; `grown` is another
way.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from sodm.estimators.threads import threads_for
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import make_loss
from sodm.search.classes import ClassTarget
from sodm.search.evaluate import evaluate
from sodm.search.field import Field
from sodm.search.settings import Setting
from sodm.search.stage import cross_validation

ROWS, FOLDS = 2400, 3
UPSILON = 0.5
GAMMAS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)  # times 1 / (features * variance)
GRIDS: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {
    ("odm", "rbf"): {"lam": tuple(2.0**k for k in (6, 10, 14, 18)), "theta": (0.3, 0.6)},
    ("hinge", "rbf"): {"lam": tuple(2.0**k for k in (8, 11, 14, 17))},
    ("svc", "rbf"): {"C": (0.5, 8.0, 64.0, 512.0)},
    ("odm", "linear"): {"lam": tuple(2.0**k for k in (6, 9, 12, 15)), "theta": (0.3, 0.6, 0.9)},
    ("svc", "linear"): {"C": (0.125, 1.0, 8.0, 64.0)},
}


class Tuned:
    """Parameters of a kind of machine for these training rows: asked for by name, found once.

    Parameters
    ----------
    X, y : ndarrays
        Training rows and labels.
    kernel : {"rbf", "linear"}
    seed : int
    known : dict, optional
        Parameters found before, by kind.
    rows : int
        Most rows to try on.
    grow : bool
        Let lam grow with the number of rows, see `grown`.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        kernel: str,
        seed: int,
        known: dict[str, dict[str, float]] | None = None,
        rows: int = ROWS,
        grow: bool = False,
    ) -> None:
        self.X, self.y, self.kernel, self.seed = X, y, kernel, seed
        self.known, self.rows, self.grow = dict(known or {}), rows, grow

    def __call__(self, kind: str) -> dict[str, float]:
        """The best parameters for "odm", "hinge" or "svc"."""
        if kind not in self.known:
            self.known[kind] = tune(kind, self.kernel, self.X, self.y, self.seed, self.rows)["parameters"]
        if not self.grow:
            return self.known[kind]
        tried = min(self.rows, len(self.y)) * (1 - 1 / FOLDS)
        return grown(self.known[kind], len(self.y) / tried)


def grown(parameters: dict[str, float], times: float) -> dict[str, float]:
    """Parameters found on few rows, for so many times as many.

    The loss that lam weighs is a mean over the rows: the same lam on more rows is the same machine, only
    better known. With an RBF kernel it can become a finer one as well: 1 / lam may fall like the root of the
    number of rows, the rate that needs the fewest assumptions (Caponnetto and De Vito 2007). SVC's C weighs
    a sum over the rows, and so grows by itself.

    Examples
    --------
    >>> grown({"lam": 64.0, "gamma": 0.5}, 9.0)
    {'lam': 192.0, 'gamma': 0.5}
    """
    return parameters | {"lam": parameters["lam"] * times**0.5}


def tune(kind: str, kernel: str, X: Any, y: Any, seed: int, rows: int = ROWS) -> dict[str, Any]:
    """Try the grid of a kind of machine on at most `rows` of the training rows.

    Returns
    -------
    dict
        parameters; cv_accuracy, their mean accuracy over the folds; cv_rows; settings, how many were tried;
        at_edge, the names of those parameters that are at an end of their grid.
    """
    at = np.random.default_rng(seed).permutation(len(y))[:rows]
    X, y = X[at], y[at]
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    grid = GRIDS[kind, kernel]
    inner = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    trials: list[tuple[float, dict[str, float]]] = []
    if kernel == "rbf" and kind != "svc":
        settings = [setting | gamma for gamma in _gammas(X) for setting in inner]
        trials = list(zip(_ours(kind, X, y, splitter, settings, seed), settings, strict=True))
    else:
        folds = list(splitter.split(X, y))
        with warnings.catch_warnings(), ThreadPoolExecutor(threads_for(None)) as pool:
            warnings.simplefilter("ignore")  # a setting that does not converge is only a bad one
            for gamma, rows_or_kernel in _inputs(kernel, X):
                settings = [setting | gamma for setting in inner]
                score = partial(_score, kind, kernel, rows_or_kernel, y, folds)
                trials += zip(pool.map(score, settings), settings, strict=True)
    accuracy, parameters = max(trials, key=lambda trial: trial[0])
    choices = grid | ({"gamma": tuple(g["gamma"] for g in _gammas(X))} if kernel == "rbf" else {})
    edge = [name for name, value in parameters.items() if value in (choices[name][0], choices[name][-1])]
    return {
        "parameters": parameters,
        "cv_accuracy": accuracy,
        "cv_rows": len(y),
        "settings": len(trials),
        "at_edge": edge,
    }


def _gammas(X: Any) -> list[dict[str, float]]:
    scale = 1 / (X.shape[1] * float(X.var()))
    return [{"gamma": factor * scale} for factor in GAMMAS]


def _ours(
    kind: str, X: NDArray[Any], y: NDArray[Any], folds: Any, settings: list[dict[str, float]], seed: int
) -> list[float]:
    """Accuracies of our machines with an RBF kernel, by the search of the library."""
    codes = np.unique(y, return_inverse=True)[1].astype(np.int64)
    field = Field(
        X,
        Kernel("rbf"),
        ClassTarget(codes, int(codes.max()) + 1, np.ones(len(y)), pairs=True),
        lambda theta, lam: make_loss(kind, lam, UPSILON, theta),
        seed,
        threads_for(None),
    )
    tried = [Setting(s["gamma"], False, s.get("theta", 0.0), s["lam"]) for s in settings]
    stage = cross_validation(np.arange(len(y)), folds, y, None, len(y))
    found = {trial.setting: trial.score for trial in evaluate(field, stage, tried)}
    return [found[setting] for setting in tried]


def _inputs(kernel: str, X: NDArray[Any]) -> Iterator[tuple[dict[str, float], NDArray[Any]]]:
    """The rows, or for each gamma the matrix of their kernel values."""
    if kernel == "linear":
        yield {}, X
        return
    for gamma in _gammas(X):
        evaluator = KernelEvaluator(Kernel("rbf", gamma=gamma["gamma"]), n_threads=threads_for(None))
        yield gamma, evaluator.block(X, X)


def _score(kind: str, kernel: str, X: Any, y: Any, folds: Any, setting: dict[str, float]) -> float:
    scores = []
    for train, test in folds:
        machine = _machine(kind, kernel, setting)
        X_train, X_test = (
            (X[train], X[test]) if kernel == "linear" else (X[np.ix_(train, train)], X[np.ix_(test, train)])
        )
        scores.append(machine.fit(X_train, y[train]).score(X_test, y[test]))
    return float(np.mean(scores))


def _machine(kind: Any, kernel: str, setting: dict[str, Any]) -> Any:
    setting = {name: value for name, value in setting.items() if name != "gamma"}
    if kind == "svc":
        from sklearn.svm import SVC, LinearSVC

        return LinearSVC(**setting) if kernel == "linear" else SVC(kernel="precomputed", **setting)
    import sodm

    upsilon: dict[str, Any] = {"upsilon": UPSILON} if kind == "odm" else {}
    return sodm.LinearODMClassifier(loss=kind, tol=1e-2, max_iter=50, n_jobs=1, **setting, **upsilon)
