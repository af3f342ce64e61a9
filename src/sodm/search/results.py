"""All trials as a table, as scikit-learn's searches give it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from sodm.search.settings import Setting, Trial
from sodm.search.stage import Stage


def cv_results(
    trials: Sequence[Trial], stages: Sequence[Stage], chosen: Callable[[Setting], dict[str, Any]]
) -> dict[str, Any]:
    """One entry for each trial. Those of a later stage rank before all of an earlier one.

    `chosen` says which parameters of the machine a setting stands for.
    """
    params = [chosen(trial.setting) for trial in trials]
    most = max((len(trial.scores) for trial in trials), default=0)
    columns: dict[str, Any] = {
        "iter": np.array([trial.stage for trial in trials]),
        "n_resources": np.array([trial.rows for trial in trials]),
        "mean_fit_time": np.array([trial.fit_seconds.mean() for trial in trials]),
        "std_fit_time": np.array([trial.fit_seconds.std() for trial in trials]),
        **{
            f"param_{name}": np.array([own[name] for own in params]) for name in (params[0] if params else ())
        },
        "lam_tried": np.array([stages[t.stage].lam_there(t.setting.lam) for t in trials]),
        "params": params,
    }
    for k in range(most):
        columns[f"split{k}_test_score"] = np.array(
            [t.scores[k] if k < len(t.scores) else np.nan for t in trials]
        )
    means = np.array([trial.score for trial in trials])
    columns["mean_test_score"] = means
    columns["std_test_score"] = np.array([trial.scores.std() for trial in trials])
    columns["standard_error"] = np.array([trial.error for trial in trials])
    last = columns["iter"]
    rank, before = np.zeros(len(trials), dtype=np.int32), 0
    for stage in sorted(set(last.tolist()), reverse=True):
        own = last == stage
        lowest = np.where(np.isfinite(means[own]), -means[own], np.inf)  # no number comes last
        rank[own] = before + rankdata(lowest, method="min")
        before += int(own.sum())
    columns["rank_test_score"] = rank
    return columns
