"""Where the parameters of two_scale_fits.py come from: at most 10,000 rows of each set.

    python benchmarks/two_scale_tuning.py cod-rna            # a search on 10,000 rows drawn at random
    python benchmarks/two_scale_tuning.py covtype-7 --near   # five neighbourhoods of 2,000 rows

Borders that are finer than the distances in a random sample of 10,000 rows do not show there, and the search
settles on a kernel that is too wide for all rows. In a neighbourhood rows are as dense as in a region.
"""

import argparse
import itertools
import warnings

import numpy as np
from two_scale_fits import SETS, THETA, UPSILON, load

ROWS, NEAR, TRAINED = 10_000, 2000, 1500
FACTORS = (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)  # on gamma
RIDGES = (3.0, 1.0, 0.3, 0.1)  # factors on the ridge


def by_search(name: str) -> tuple[float, float]:
    """gamma and ridge as the search finds them on random rows."""
    import sodm

    X, y, _, _ = load(name)
    rows = np.random.default_rng(1).permutation(len(y))[:ROWS]
    case, kept = SETS[name], 0.8 * ROWS  # rows that a fold leaves to train on
    lams = [(1 - THETA) ** 2 * kept / (case.ridge * factor) for factor in RIDGES]
    search = sodm.ODMClassifierCV(
        gammas=[case.gamma * factor for factor in FACTORS], lams=lams, thetas=[THETA], refit=False
    ).fit(X[rows], y[rows])
    best = search.best_params_
    return best["gamma"], (1 - THETA) ** 2 * kept / best["lam"]


def by_neighbourhoods(name: str) -> tuple[float, float]:
    """gamma and ridge that decide most rows of some neighbourhoods, each with its other rows trained on."""
    import sodm

    X, y, _, _ = load(name)
    case, rng = SETS[name], np.random.default_rng(1)
    right = dict.fromkeys(itertools.product(FACTORS, RIDGES), 0)
    for centre in rng.choice(len(y), ROWS // NEAR, replace=False):
        rows = rng.permutation(np.argpartition(((X - X[centre]) ** 2).sum(axis=1), NEAR)[:NEAR])
        train, test = rows[:TRAINED], rows[TRAINED:]
        if len(np.unique(y[train])) == 1:
            continue
        for factor, ridge in right:
            lam = (1 - THETA) ** 2 * TRAINED / (case.ridge * ridge)
            machine = sodm.ODMClassifier(gamma=case.gamma * factor, lam=lam, theta=THETA, upsilon=UPSILON)
            right[factor, ridge] += int(np.sum(machine.fit(X[train], y[train]).predict(X[test]) == y[test]))
    factor, ridge = max(right, key=lambda setting: (right[setting], setting))
    return case.gamma * factor, case.ridge * ridge


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", choices=list(SETS))
    parser.add_argument("--near", action="store_true", help="neighbourhoods instead of a random sample")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        gamma, ridge = (by_neighbourhoods if options.near else by_search)(name)
        print(f"{name}: gamma {gamma:g}, ridge {ridge:g}", flush=True)


if __name__ == "__main__":
    main()
