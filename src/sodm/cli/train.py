"""`sodm train`: from a data file to a model file."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.pipeline import make_pipeline

import sodm
from sodm.cli import facts as tell
from sodm.cli.check import check_labels, check_rows
from sodm.cli.choose import Searching, choose
from sodm.cli.choose import why as why_best
from sodm.cli.deciding import Decisions, decide
from sodm.cli.inputs import Rows, Source, split_rows
from sodm.cli.limits import TimeIsUp, peak_memory_mb, time_limit
from sodm.cli.loaded import Loaded, read_for
from sodm.cli.machine import make_machine, why_chosen
from sodm.cli.measures import classification, hint_for_rare, regression
from sodm.cli.options import SEARCH_SECONDS
from sodm.cli.output import note, on_terminal, show
from sodm.cli.prepare import features, fit_before, told
from sodm.cli.targets import check_target
from sodm.cli.task import numbers, said, task_of
from sodm.data.columns import Table
from sodm.model.machines import prepares

ROWS_TO_SCORE = 20_000  # what is told of training rows is that of at most so many rows
TIME_TO_REFIT = 1.5  # times what the first fit took must be left of the time limit


@dataclass(frozen=True)
class Settings:
    """Everything about a training run but the data and the parameters of the machine."""

    out: Path
    scale: str
    validation: str
    refit: bool
    seed: int
    time_limit: float | None
    machine: str
    as_json: bool
    quiet: bool
    tune: bool = False
    task: str = "auto"
    metric: str | None = None


@dataclass(frozen=True)
class _Fit:
    """A fitted machine with what comes before it."""

    before: Any
    machine: Any
    why: str
    n_rows: int

    def decide(self, X: Any) -> Decisions:
        return decide(self.machine, [features(self.before, X)])

    def values(self, X: Any) -> NDArray[np.float64]:
        return self.machine.predict(features(self.before, X))


def train(source: Source, parameters: dict[str, Any], settings: Settings) -> None:
    """Read, prepare, train, validate, train on all rows, save and say so."""
    check_target(settings.out, source.path)
    began = time.perf_counter()
    rows = source.rows()
    note(rows.notes, settings.quiet)
    read_seconds = time.perf_counter() - began
    check_labels(source.path, rows, settings.task)
    rows = replace(rows, notes=(*rows.notes, *(found := check_rows(source.path, rows))))
    note(found, settings.quiet)
    task, because = task_of(np.asarray(rows.y), settings.task)
    note(said(task, because, settings.task), settings.quiet)
    settings = replace(settings, task=task)
    if task == "regression":
        rows = replace(rows, y=numbers(source.path, np.asarray(rows.y)))

    chosen = None
    if settings.tune:
        parameters, chosen = _tuned(rows, parameters, settings)
    start = time.perf_counter()
    fit, validated = _fit_and_validate(rows, source, parameters, settings)
    seconds = time.perf_counter() - start

    facts, margins = _facts(fit, rows if fit.n_rows == rows.X.shape[0] else validated["part"], validated)
    hint = () if task == "regression" else hint_for_rare(np.asarray(rows.y), fit.machine.class_weight)
    facts = {
        "task": task,
        "task_because": because,
        "machine": fit.why,
        **({} if chosen is None else {"chosen": chosen}),
        "trained_on": validated["said"],
        **facts,
        "scale": "none" if settings.scale == "none" else _scaler_name(fit.before),
        **told(fit.before, rows.X),
        "read_seconds": round(read_seconds, 3),
        "train_seconds": round(seconds, 3),
        "peak_memory_mb": round(peak_memory_mb(), 1),
    }
    summary = {"data": Path(source.path).name, "table": _known(rows, source), **facts}
    sodm.save(_named(fit, rows), settings.out, summary=summary, margins=margins)
    if settings.as_json:
        facts["notes"] = [*rows.notes, *hint]
    show(facts | {"out": str(settings.out)}, title="trained", as_json=settings.as_json, quiet=settings.quiet)
    note(hint, settings.quiet)


def _fit_and_validate(
    rows: Rows, source: Source, parameters: dict[str, Any], settings: Settings
) -> tuple[_Fit, dict[str, Any]]:
    """The machine to be saved, and what is known of how well it does on rows it has not seen."""
    n = rows.X.shape[0]
    whole: dict[str, Any] = {"said": f"all {n:,} rows", "part": rows, "rows": None}
    if not _is_share(settings.validation):
        fit = _fit(rows, parameters, settings, settings.time_limit)
        other = read_for(
            _loaded(fit, rows, source),
            Source(**{**vars(source), "path": settings.validation}),
            labels_needed=True,
        )
        return fit, whole | _validated(fit, other, settings.validation)
    share = float(settings.validation)
    train, held = split_rows(_strata(rows, settings.task), share, settings.seed)
    if len(held) == 0:
        return _fit(rows, parameters, settings, settings.time_limit), whole
    part, limit = rows.take(train), settings.time_limit
    began = time.perf_counter()
    # A machine that can end early takes half of the time, so that as much is left for all rows.
    halved = limit and settings.refit and settings.machine != "exact"
    with warnings.catch_warnings(record=True) as warned:  # of the machine that is kept, warnings are shown
        warnings.simplefilter("always")
        fit = _fit(part, parameters, settings, limit / 2 if halved and limit else limit, "validation")
    kept = fit
    found = _validated(fit, rows.take(held), source.path)
    only = f"{len(train):,} of {n:,} rows, the others were for validation"
    used = time.perf_counter() - began
    if settings.refit:
        only += ": --time-limit left no time for all"
        enough = limit is None or limit - used > (TIME_TO_REFIT * used if settings.machine == "exact" else 0)
        if enough:
            with suppress(TimeIsUp):
                kept = _fit(rows, parameters, settings, limit and limit - used)
    if kept is fit:
        for warning in warned:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        return fit, {"said": only, "part": part, **found}
    return kept, whole | found | {
        "said": f"all {n:,} rows (validated on {len(held):,} after learning from the others)"
    }


def _fit(
    rows: Rows, parameters: dict[str, Any], settings: Settings, limit: float | None, stage: str = ""
) -> _Fit:
    """What comes before the machine, and the machine, fitted to these rows."""
    n = rows.X.shape[0]
    watched = on_terminal() and not settings.as_json and not settings.quiet
    more: dict[str, Any] = {"verbose": int(watched), "time_limit": limit}
    if stage and parameters.get("checkpoint_dir"):
        more["checkpoint_dir"] = str(Path(parameters["checkpoint_dir"]) / stage)
    machine = make_machine(parameters | more, settings.machine, n, settings.task)
    why = why_chosen(machine, n)
    if watched:
        print(f"{why}{', for validation' if stage else ''}")
    before = fit_before(settings.scale, rows.X)
    try:
        # The scalable and the linear machine keep the limit themselves, and give what they have by then.
        with time_limit(None if hasattr(machine, "time_limit") else limit):
            machine.fit(features(before, rows.X), rows.y)
    except TimeIsUp as error:
        raise TimeIsUp(
            f"{str(error).rstrip('.')}, so there is no model: raise --time-limit, or leave out --machine "
            "exact to get the best model so far."
        ) from None
    return _Fit(before, machine, why, n)


def _validated(fit: _Fit, held: Rows, path: str) -> dict[str, Any]:
    """Measures on rows that were not trained on."""
    y = np.asarray(held.y)
    if is_regressor(fit.machine):
        return {"rows": len(y), "validation": regression(numbers(path, y), fit.values(held.X))}
    decisions = fit.decide(held.X)
    unknown = sorted(set(np.unique(y).tolist()) - set(fit.machine.classes_.tolist()), key=str)
    if unknown:
        raise ValueError(f"--validation has the label {unknown[0]!r}, which is not in the training data.")
    found = classification(y, decisions.by_class, decisions.labels, fit.machine.classes_)
    return {"rows": len(y), "validation": found}


def _tuned(rows: Rows, parameters: dict[str, Any], settings: Settings) -> tuple[dict[str, Any], str]:
    """The parameters with those that a search has chosen, and why; rows held out are not looked at."""
    if _is_share(settings.validation):
        rows = rows.take(
            split_rows(_strata(rows, settings.task), float(settings.validation), settings.seed)[0]
        )
    make_machine(parameters, settings.machine, task=settings.task)  # refuses what is not for the task
    how = Searching(
        settings.metric,
        settings.seed,
        parameters["cache_size"],
        parameters["n_jobs"],
        SEARCH_SECONDS if settings.time_limit is None else settings.time_limit / 2,
        settings.as_json or settings.quiet,
    )
    X = features(fit_before(settings.scale, rows.X), rows.X)
    search = choose(settings.task, X, np.asarray(rows.y), parameters, how)
    best = search.best_params_
    if parameters["kernel"] == "linear":
        best = {name: value for name, value in best.items() if name != "gamma"}
    return parameters | best, why_best(search)


def _facts(
    fit: _Fit, rows: Rows, validated: dict[str, Any]
) -> tuple[dict[str, Any], NDArray[np.float64] | None]:
    """What to tell of the fit, and margins to remember."""
    y = np.asarray(rows.y)
    some = np.linspace(0, len(y) - 1, min(len(y), ROWS_TO_SCORE)).astype(np.int64)
    part, held = rows.take(some).X, validated.get("validation") or {}
    facts = tell.of_machine(fit.machine, rows.X, y)
    if is_regressor(fit.machine):
        facts |= tell.of_numbers(fit.values(part), y[some])
        return facts | tell.of_validation("regression", validated["rows"], held), None
    scores, margins = tell.of_classes(fit.decide(part), y[some])
    return facts | scores | tell.of_validation("classification", validated["rows"], held), margins


def _strata(rows: Rows, task: str) -> NDArray[Any]:
    """What a part held out has its share of: each class; numbers are all alike."""
    return np.zeros(rows.X.shape[0]) if task == "regression" else np.asarray(rows.y)


def _known(rows: Rows, source: Source) -> dict[str, Any]:
    """What `evaluate` and `predict` need to read such a file again."""
    known: dict[str, Any] = {}
    if isinstance(rows.label, str):
        known["label"] = rows.label
    elif rows.label is not None:
        known["label_at"] = rows.label % (rows.X.shape[1] + 1)
    if isinstance(rows.X, Table):
        known["flags"] = [k for k, column in enumerate(rows.X.columns) if column.kind == "flag"]
    given = {"decimal": source.decimal, "encoding": source.encoding, "missing": list(source.missing)}
    return known | {name: value for name, value in given.items() if value}


def _named(fit: _Fit, rows: Rows) -> Any:
    """The model to be saved, with the names of its columns."""
    if rows.names is not None and not prepares(fit.before):
        first = fit.machine if fit.before is None else fit.before
        first.feature_names_in_ = np.array(rows.names, dtype=object)
    return fit.machine if fit.before is None else make_pipeline(fit.before, fit.machine)


def _loaded(fit: _Fit, rows: Rows, source: Source) -> Loaded:
    """The fit as if it had been loaded from a file."""
    kinds: list[Any] = ["number"] * rows.X.shape[1]
    if isinstance(rows.X, Table):
        kinds = [column.kind for column in rows.X.columns]
    names = None if rows.names is None else list(rows.names)
    return Loaded(None, fit.before, fit.machine, names, kinds, _known(rows, source))


def _scaler_name(before: Any) -> str:
    if not prepares(before):
        return type(before).__name__
    numbers = {name: fitted for name, fitted, _ in before.transformers_}.get("numbers")
    return "none" if numbers is None else type(numbers[-1]).__name__


def _is_share(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
