"""The number of threads that n_jobs means."""

from __future__ import annotations

import os

from sodm import _core


def threads_for(n_jobs: int | None) -> int:
    """Threads for `n_jobs`: None is all cores, or OMP_NUM_THREADS where that is set.

    joblib sets OMP_NUM_THREADS in its worker processes, so a parallel search over parameters does not start
    more threads than there are cores. Negative numbers count from all cores down, as in scikit-learn.
    """
    if n_jobs is not None:
        return int(_core.resolve_threads(int(n_jobs)))
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(wanted) if wanted.isdigit() and int(wanted) > 0 else int(_core.resolve_threads(-1))
