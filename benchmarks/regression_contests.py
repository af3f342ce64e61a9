"""The contests of `regression.py`: what is fitted, by whom, with which parameters."""

import lzma
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from data import directory, read, scaled
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler
from table import Row
from threadpoolctl import threadpool_limits
from timing import best_of, isolated, isolated_peer

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

# By --tune: gamma and the ridge (1 / C, alpha), and epsilon in units of the target. Those of elevation by
# hand, on 60,000 (Nystroem) and 120,000 (ours) of the training rows, 20,000 others of them held out.
TUNED: dict[str, dict[str, float]] = {
    "ours": {"gamma": 0.25, "ridge": 0.1},
    "svr": {"gamma": 0.25, "C": 10.0, "epsilon": 0.2},
    "ridge": {"gamma": 0.25, "alpha": 0.1},
    "elevation": {"gamma": 16.0, "ridge": 0.03},
    "nystroem": {"gamma": 1.0, "alpha": 0.001},
}


def california() -> Split:
    """X_train, y_train, X_test, y_test."""
    text = lzma.decompress((directory() / "california-housing.csv.xz").read_bytes()).decode()
    table = np.array([[float(v) for v in line.split(",")] for line in text.splitlines()[1:]])
    X, y = table[:, :-1], table[:, -1] / 100_000
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:16_512], order[16_512:]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def estimator(side: str, threads: int, parameters: dict[str, float] | None = None) -> Any:
    """The regressor of a side with its tuned parameters."""
    p = dict(TUNED["svr" if side == "onedal" else side] if parameters is None else parameters)
    if side == "ours":
        from sodm import ODMRegressor

        return ODMRegressor(gamma=p["gamma"], lam=p["n"] / p["ridge"], n_jobs=threads, cache_size=4000)
    if side in ("svr", "onedal"):
        if side == "onedal":
            from sklearnex.svm import SVR
        else:
            from sklearn.svm import SVR
        return SVR(gamma=p["gamma"], C=p["C"], epsilon=p["epsilon"], cache_size=4000)
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(kernel="rbf", gamma=p["gamma"], alpha=p["alpha"])


def fit(side: str, threads: int, repeat: int) -> dict[str, Any]:
    """Seconds, R^2 on the test rows, and the first predictions there."""
    X, y, X_test, y_test = california()
    parameters = dict(TUNED["svr" if side == "onedal" else side]) | {"n": float(len(y))}
    own = estimator(side, threads, parameters)
    mean = y.mean() if side == "ridge" else 0.0  # KernelRidge has no intercept
    # OpenBLAS's factorisation of so many rows ends in a segmentation fault with two threads.
    with threadpool_limits(1, "blas") if side == "ridge" else nullcontext():
        seconds, runs = best_of(lambda: own.fit(X, y - mean), repeat, slow_once=True)
    values = own.predict(X_test) + mean
    return {
        "seconds": seconds,
        "runs": runs,
        "r2": r2_score(y_test, values),
        "values": values.tolist(),
        "gap": getattr(own, "dual_gap_", None),
    }


def tune(threads: int) -> None:
    """The parameters of each side that do best on a fifth of the training rows."""
    X, y, _, _ = california()
    held = np.arange(len(y)) % 5 == 0
    mean, rows = y[~held].mean(), float(np.sum(~held))
    grids: dict[str, list[dict[str, float]]] = {
        "ours": [
            {"gamma": g, "ridge": r, "n": rows} for g in (0.25, 0.35, 0.5, 0.7) for r in (0.05, 0.1, 0.2, 0.4)
        ],
        "onedal": [
            {"gamma": g, "C": C, "epsilon": e}
            for g in (0.125, 0.25, 0.5)
            for C in (3.0, 10.0, 30.0)
            for e in (0.1, 0.2)
        ],
    }
    for side, grid in grids.items():
        best = (-np.inf, {})
        for parameters in grid:
            own = estimator(side, threads, parameters).fit(X[~held], y[~held] - mean)
            best = max(best, (r2_score(y[held], own.predict(X[held]) + mean), parameters), key=lambda b: b[0])
        print(f"{side}: {best[1]}, R^2 {best[0]:.4f} on rows held out", flush=True)


def california_rows(threads: int, repeat: int, peers: list[str]) -> Iterator[Row]:
    """The exact machine against its peers."""
    bars = {"svr": ("SVR", 10.0), "onedal": ("oneDAL's SVR", 2.0), "ridge": ("KernelRidge", 10.0)}
    ours = isolated(fit, threads, side="ours", threads=threads, repeat=repeat)
    for side in peers:
        name, bar = bars[side]
        theirs = isolated_peer(fit, threads, side=side, threads=threads, repeat=1)
        if theirs is None:
            yield Row("california", name, f"{ours['seconds']:.2f} s", "not done", note="gave up")
            continue
        note = f"R² {ours['r2']:.4f} and {theirs['r2']:.4f}"
        if side == "ridge":
            off = np.sqrt(np.mean((np.array(ours["values"]) - np.array(theirs["values"])) ** 2))
            note += f", KernelRidge on one thread; gap {ours['gap']:.1e}, "
            note += f"predictions differ by {off:.1e} (root mean square)"
        ratio = theirs["seconds"] / ours["seconds"]
        yield (
            Row(
                "california",
                name,
                f"{ours['seconds']:.2f} s",
                f"{theirs['seconds']:.2f} s",
                ratio,
                bar,
                note=note,
            )
        )


def elevation(by_blocks: bool) -> Split:
    """X_train, y_train, X_test, y_test; at most 50,000 rows to test on."""
    X, _ = read("covtype")
    y, X = X[:, 0].astype(np.float64), X[:, 1:]
    X = scaled(X, X.min(0), X.max(0))
    rng = np.random.default_rng(0)
    if by_blocks:
        block = np.arange(len(y)) // 2000
        held = np.isin(block, rng.permutation(block[-1] + 1)[: (block[-1] + 1) // 5])
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
    else:
        train, test = np.split(rng.permutation(len(y)), [int(0.8 * len(y))])
    test = test[:: max(1, len(test) // 50_000)]
    return X[train], y[train], X[test], y[test]


def fit_elevation(side: str, threads: int, by_blocks: bool) -> dict[str, Any]:
    """Seconds, and the root mean square error on the test rows in metres."""
    X, y, X_test, y_test = elevation(by_blocks)
    if side == "ours":
        from sodm import SODMRegressor

        p = TUNED["elevation"]
        own: Any = SODMRegressor(gamma=p["gamma"], lam=len(y) / p["ridge"], n_jobs=threads)
    elif side == "nystroem":
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline

        p = TUNED["nystroem"]
        features = Nystroem(gamma=p["gamma"], n_components=2000, random_state=0)
        own = make_pipeline(features, Ridge(alpha=p["alpha"]))
    else:
        from sklearn.ensemble import HistGradientBoostingRegressor

        own = HistGradientBoostingRegressor(max_iter=500, max_leaf_nodes=127, random_state=0)
    mean = y.mean()
    seconds, _ = best_of(lambda: own.fit(X, y - mean), 1)
    error = np.sqrt(np.mean((own.predict(X_test) + mean - y_test) ** 2))
    return {"seconds": seconds, "error": float(error), "rows": len(y)}


def elevation_rows(threads: int, peers: list[str]) -> Iterator[Row]:
    """The machine for many rows; the bar is its time, and an error not above Nystroem's."""
    names = {"nystroem": "Nystroem(2000) + Ridge", "boosting": "HistGradientBoostingRegressor"}
    for by_blocks in (False, True):
        what = "elevation, by blocks" if by_blocks else "elevation"
        ours = isolated(fit_elevation, threads, side="ours", threads=threads, by_blocks=by_blocks)
        yield (
            Row(
                what,
                "a minute",
                f"{ours['seconds']:.1f} s",
                "60 s",
                60 / ours["seconds"],
                1.0,
                note=f"{ours['rows']:,} rows",
            )
        )
        for side in peers:
            theirs = isolated_peer(fit_elevation, threads, side=side, threads=threads, by_blocks=by_blocks)
            if theirs is None:
                yield Row(what, names[side], f"{ours['error']:.1f} m", "not done", note="gave up")
                continue
            ratio, bar = ours["error"] / theirs["error"], 1.0 if side == "nystroem" else None
            cells = (f"{ours['error']:.1f} m", f"{theirs['error']:.1f} m, {theirs['seconds']:.0f} s")
            yield Row(what, names[side], *cells, ratio, bar, digits=2, at_most=True, note="error")
