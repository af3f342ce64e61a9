"""No setting that a search would try may take much longer than the others: the slowest over the median.

All of gamma (a tenth to fifty times "scale") and lam (2^0 to 2^20) on a few thousand rows of sets of
different kinds: noisy (susy-subset), of zeros and ones (a9a), with hard borders (covtype).
"""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import data
import numpy as np
from table import Row
from timing import isolated

SETS = ("susy-subset", "a9a", "covtype")
ROWS = 6000
GAMMAS = (0.1, 0.5, 2.0, 10.0, 50.0)  # times "scale"
LAMS = tuple(2.0**k for k in range(0, 21, 4))
MOST = 10.0  # times the median


def rows(threads: int) -> Iterator[Row]:
    """The slowest setting of each set beside the median."""
    for name in SETS:
        seen = isolated(measure, threads, name=name)
        yield Row(
            f"slowest of {len(GAMMAS) * len(LAMS)} settings, {name} ({ROWS:,} rows)",
            "the median of them",
            f"{seen['slowest']:.2f} s",
            f"{seen['median']:.2f} s",
            seen["slowest"] / seen["median"],
            MOST,
            at_most=True,
            note=f"gamma {seen['gamma']:g} times scale, lam {seen['lam']:g}; largest gap {seen['gap']:.1e}",
        )


def measure(name: str) -> dict[str, Any]:
    """One fit of each setting."""
    from sodm import ODMClassifier

    warnings.simplefilter("ignore")
    X, y, *_ = data.split(name)
    X, y = X[:ROWS].copy(), y[:ROWS]
    scale = 1 / (X.shape[1] * X.var())
    seconds, gaps = {}, []
    ODMClassifier().fit(X[:500], y[:500])  # what is done once
    for factor in GAMMAS:
        for lam in LAMS:
            began = time.perf_counter()
            machine = ODMClassifier(gamma=factor * scale, lam=lam, n_jobs=-1).fit(X, y)
            seconds[factor, lam] = time.perf_counter() - began
            gaps.append(float(np.max(machine.dual_gap_)))
    (gamma, lam), slowest = max(seconds.items(), key=lambda item: item[1])
    median = float(np.median(list(seconds.values())))
    return {"slowest": slowest, "median": median, "gamma": gamma, "lam": lam, "gap": max(gaps)}
