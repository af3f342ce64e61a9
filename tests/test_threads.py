"""The number of threads changes no bit of a machine, whatever it is and however short memory is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from sodm import (
    CascadeClassifier,
    DCClassifier,
    DiPClassifier,
    ODMClassifier,
    ODMClassifierCV,
    ODMRegressor,
    ODMRegressorCV,
    SODMClassifier,
    SODMRegressor,
)

N = 1200
RNG = np.random.default_rng(0)
X = RNG.random((N, 6)).astype(np.float32)
PICTURES = (RNG.integers(0, 256, size=(N, 70)) / 255).astype(np.float32)  # multiplied as bytes
TEXTS = sparse.random(N, 300, density=0.05, format="csr", random_state=1)
TWO = (X[:, 0] + X[:, 1] ** 2 + 0.1 * RNG.standard_normal(N) > 1).astype(int)
FOUR = 2 * (X[:, 0] > 0.5) + (X[:, 1] > 0.5)
NUMBERS = np.sin(6 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(N)
BOTH = np.column_stack([NUMBERS, NUMBERS**2])

MACHINES: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "newton": (lambda **k: ODMClassifier(lam=300.0, solver="newton", **k), X, TWO),
    "double": (lambda **k: ODMClassifier(lam=300.0, precision="double", **k), X, TWO),
    "sweeps": (lambda **k: ODMClassifier(lam=300.0, solver="dcd", **k), X, TWO),
    "narrow": (lambda **k: ODMClassifier(lam=3000.0, gamma=200.0, **k), X, TWO),
    "hinge": (lambda **k: ODMClassifier(lam=300.0, loss="hinge", **k), X, TWO),
    "sparse": (lambda **k: ODMClassifier(lam=300.0, **k), TEXTS, TWO),
    "bytes": (lambda **k: ODMClassifier(lam=300.0, **k), PICTURES, TWO),
    "bytes, pairs": (lambda **k: ODMClassifier(lam=300.0, **k), PICTURES, FOUR),
    "pairs": (lambda **k: ODMClassifier(lam=300.0, **k), X, FOUR),
    "pairs, hinge": (lambda **k: ODMClassifier(lam=300.0, loss="hinge", **k), X, FOUR),
    "rest": (lambda **k: ODMClassifier(lam=300.0, multi_class="ovr", **k), X, FOUR),
    "least squares": (lambda **k: ODMRegressor(**k), X, NUMBERS),
    "zones": (lambda **k: ODMRegressor(epsilon=0.1, upsilon=3.0, **k), X, BOTH),
    "zones, sweeps": (lambda **k: ODMRegressor(epsilon=0.1, solver="dcd", lam=50.0, **k), X, NUMBERS),
    "regions": (lambda **k: SODMClassifier(lam=300.0, gamma=20.0, regions=5, **k), X, FOUR),
    "regions of numbers": (lambda **k: SODMRegressor(regions=4, epsilon=0.05, **k), X, NUMBERS),
    "refined": (lambda **k: SODMClassifier(lam=300.0, n_partitions=4, refine=True, **k), X, TWO),
    "cascade": (lambda **k: CascadeClassifier(lam=300.0, n_partitions=4, **k), X, TWO),
    "clusters": (lambda **k: DCClassifier(lam=300.0, n_partitions=4, early=True, **k), X, TWO),
    "distribution": (lambda **k: DiPClassifier(lam=300.0, n_partitions=4, **k), X, TWO),
    "search": (lambda **k: ODMClassifierCV(**k), X[:600], FOUR[:600]),
    "search for numbers": (lambda **k: ODMRegressorCV(**k), X[:600], NUMBERS[:600]),
}


def values(machine: Any, rows: Any) -> Any:
    return machine.decision_function(rows) if hasattr(machine, "decision_function") else machine.predict(rows)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cache_size", [0.5, 1000])
@pytest.mark.parametrize("name", MACHINES)
def test_threads_change_no_bit(name: str, cache_size: float) -> None:
    make, rows, y = MACHINES[name]
    one = make(n_jobs=1, cache_size=cache_size).fit(rows, y)
    expected = values(one, rows)
    for n_jobs in (2, 3, 8):
        other = make(n_jobs=n_jobs, cache_size=cache_size).fit(rows, y)
        assert np.array_equal(values(other, rows), expected)
        if hasattr(one, "dual_coef_"):
            assert np.array_equal(other.dual_coef_, one.dual_coef_)
            assert np.array_equal(other.dual_gap_, one.dual_gap_)
    some = [7, 8, 1, 400]
    assert np.array_equal(values(one, rows[some]), expected[some])


def test_fits_and_decisions_at_the_same_time_are_those_of_one_after_the_other() -> None:
    """Also without the GIL, which a free-threaded Python must not have taken back for the module."""
    fits = [
        lambda: ODMClassifier(lam=300.0).fit(X[:300], FOUR[:300]).decision_function(X),
        lambda: ODMClassifier(lam=300.0, n_jobs=1).fit(TEXTS[:300], TWO[:300]).decision_function(TEXTS),
        lambda: SODMClassifier(lam=300.0, regions=100).fit(X[:400], TWO[:400]).decision_function(X),
        lambda: ODMRegressor(kernel=lambda A, B: A @ B.T + 1).fit(X[:200], NUMBERS[:200]).predict(X),
    ]
    machine = ODMClassifier(lam=300.0).fit(X, TWO)
    alone = [fit() for fit in fits] + [ODMClassifier(lam=300.0).fit(X, TWO).decision_function(X)]
    tasks = [*fits, lambda: machine.decision_function(X)] * 3  # the first decisions are asked for at once
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda task: task(), tasks))
    assert all(np.array_equal(one, alone[k % len(alone)]) for k, one in enumerate(together))
    if "free-threading" in sys.version:
        assert not sys._is_gil_enabled()  # type: ignore[attr-defined]


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on memory is how threads run out here")
def test_where_no_more_threads_are_to_be_had_those_there_are_do_the_work() -> None:
    code = """if True:
        import resource
        from sklearn.datasets import load_iris
        from sodm import ODMClassifier

        X, y = load_iris(return_X_y=True)
        alone = ODMClassifier(n_jobs=1).fit(X, y)
        with open("/proc/self/statm") as sizes:
            used = int(sizes.read().split()[0]) * resource.getpagesize()
        room = used + 2**28  # stacks of some thirty threads
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        crowd = ODMClassifier(n_jobs=10**6).fit(X, y)
        print((crowd.decision_function(X) == alone.decision_function(X)).all())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


OF_BLAS = """
import hashlib
import numpy as np
from sodm import LinearODMClassifier, LinearODMRegressor, ODMClassifier, ODMClassifierCV
rng = np.random.default_rng(0)
X = rng.random((12_000, 3)).astype(np.float32)
y, s = (X.sum(axis=1) + 0.3 * rng.standard_normal(len(X)) > 1.5).astype(int), rng.random(len(X))
said = hashlib.sha256()
for machine in (ODMClassifier(lam=50.0), LinearODMClassifier()):
    machine.fit(X, y, sample_weight=s)
    said.update(machine.decision_function(X[:50]).tobytes())
    said.update(np.asarray(machine.dual_gap_).tobytes())
said.update(LinearODMRegressor().fit(X, X @ [1.0, 2.0, 3.0] + s, sample_weight=s).coef_.tobytes())
searched = ODMClassifierCV(gammas=[1.0], lams=[10.0, 100.0]).fit(X, y)
said.update(searched.predict_proba(X[:50]).tobytes())
print(said.hexdigest())
"""


@pytest.mark.slow
def test_the_threads_of_blas_change_no_bit() -> None:
    """BLAS adds long vectors up by as many threads as a machine has cores."""
    said = set()
    for threads in ("1", "2"):
        own = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        run = subprocess.run([sys.executable, "-c", OF_BLAS], capture_output=True, text=True, env=own)
        assert run.returncode == 0, run.stderr
        said.add(run.stdout)
    assert len(said) == 1
