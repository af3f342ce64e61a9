"""What the searches for good parameters share, whatever their machines predict.

A fit checks what it is given, states what is to be learnt (`_state`), plans the stages, searches, and fits
the machine (`_machine`) with the best parameters to all rows.
"""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from sodm.estimators import defaults
from sodm.estimators.kernel_machine import unchanged_on_failure
from sodm.estimators.memory import cache_bytes
from sodm.estimators.parameters import check_choice, check_number
from sodm.estimators.seed import RandomState, seed_for
from sodm.estimators.threads import threads_for
from sodm.problem.kernels import Kernel, resolve_gamma
from sodm.problem.losses import Loss
from sodm.problem.row_types import MatrixLike, Rows
from sodm.search.field import Field
from sodm.search.grid import GAMMAS, Grid
from sodm.search.halving import Outcome, search
from sodm.search.near import Local, look_near
from sodm.search.plan import plan
from sodm.search.results import cv_results
from sodm.search.settings import Setting
from sodm.search.stage import Stage
from sodm.search.task import Array, Target

SHARE_OF_TIME = 0.6  # of time_limit, for the search


@dataclass(frozen=True)
class Stated:
    """What is to be learnt, and with which candidates.

    Attributes
    ----------
    target : Target
    labels : ndarray, shape (n,)
        What folds are made by: numbers of classes, or targets.
    loss_of : callable
        (theta, lam) -> Loss
    grid : Grid
    """

    target: Target
    labels: NDArray[Any]
    loss_of: Callable[[float, float], Loss]
    grid: Grid


class KernelSearch(BaseEstimator):
    """Base of the searches: everything but what y means, and which machine is fitted."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {
        "groups": UNUSED
    }  # the splitter's, not the search's own

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        gammas: Literal["auto"] | Sequence[float] = "auto",
        lams: Literal["auto"] | Sequence[float] = "auto",
        upsilon: float = defaults.UPSILON,
        cv: Any = None,
        scoring: Any = None,
        refit: Literal["auto", "exact", "scalable", False] = "auto",
        tol: float = defaults.TOL,
        cache_size: float | str = "auto",
        time_limit: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.gammas = gammas
        self.lams = lams
        self.upsilon = upsilon
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.tol = tol
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _machine(self, chosen: dict[str, Any], n_rows: int, seconds: float | None) -> Any:
        """The machine that is fitted to all rows, within this time if it can be bound."""

    @abstractmethod
    def _state(
        self, X: Rows, y: NDArray[Any], weights: Array, weighted_out: bool, score_params: dict[str, Any]
    ) -> Stated:
        """What is to be learnt of the rows with weight; `weighted_out` if there are others."""

    @abstractmethod
    def _chosen(self, best: Setting) -> dict[str, Any]:
        """The parameters that a setting stands for."""

    def _local(self, target: Target, n_rows: int) -> Local:
        """What the machine of so many rows learns in a neighbourhood, if it should be one of regions."""
        return Local(target)

    def _suits(self, target: Target) -> dict[str, Any]:
        """Parameters of the machine that learns what was tried."""
        return {}

    def _better_suited(
        self, field: Field, stages: list[Stage], outcome: Outcome
    ) -> tuple[Field, Outcome, dict[str, Any]] | None:
        """What the fitted machine turns out to be may ask for another choice: what was tried then, what is
        chosen, and the parameters of the machine that change."""
        return None

    def _set_fitted(self, field: Field, stages: list[Stage], outcome: Outcome, weights: Array) -> None:
        """What else a search has found."""

    # --------------------------------------------------------------------------------------------- fit

    def _search(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        params: dict[str, Any],
    ) -> Self:
        with unchanged_on_failure(self):
            self._check_parameters(groups)
            return self._fit(X, y, sample_weight, params if groups is None else {"groups": groups, **params})

    def _check_parameters(self, groups: ArrayLike | None) -> None:
        if self.refit is not False and self.refit not in ("auto", "exact", "scalable"):
            raise ValueError(
                f"refit must be one of 'auto', 'exact', 'scalable', or False, got {self.refit!r}."
            )
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, "> 0, or None", lambda v: v > 0)
        if groups is not None and not hasattr(self.cv, "split"):
            raise ValueError(
                f"groups are given, but cv={self.cv!r} does not look at them: pass a splitter that does, "
                "such as cv=GroupKFold(5)."
            )

    def _fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> Self:
        began = time.monotonic()
        checked, labels, weights, kernel = self._machine({}, 0, None)._check_data(X, y, sample_weight)
        validate_data(self, X, skip_check_array=True)
        for name, value in params.items():
            if np.ndim(value) and len(value) != len(labels):
                raise ValueError(f"{name} has {len(value)} entries, X has {len(labels)} rows.")
        if sample_weight is not None and self._scores_by_weight():
            params = {"sample_weight": weights, **params}
        routed = process_routing(self, "fit", **params) if params else None
        kept = np.flatnonzero(weights)
        weighted_out = len(kept) < len(labels)
        rows = checked
        if weighted_out:
            rows = checked[np.ix_(kept, kept)] if self._precomputed() else checked[kept]
        for_scorer = dict(routed.scorer.score) if routed is not None and self.scoring is not None else {}
        for_scorer = {name: np.asarray(value)[kept] for name, value in for_scorer.items()}
        stated = self._state(rows, labels[kept], weights[kept], weighted_out, for_scorer)
        groups = routed.splitter.split.get("groups") if routed is not None else None
        seed, limit = seed_for(self.random_state), self.time_limit
        largest = int(np.sqrt(cache_bytes(self.cache_size, in_parts=True) / 2 / 4))
        stages = plan(
            stated.labels,
            self.cv,
            None if groups is None else np.asarray(groups)[kept],
            classes=is_classifier(self),
            kept=kept,
            n_given=len(weights),
            largest=largest,
            seed=seed,
        )
        field = Field(
            rows,
            Kernel(kernel, degree=int(self.degree), coef0=float(self.coef0)),
            stated.target,
            stated.loss_of,
            seed,
            threads_for(self.n_jobs),
            None if limit is None else began + (1.0 if self.refit is False else SHARE_OF_TIME) * limit,
        )
        outcome = search(field, stated.grid, stages, self._report)
        silent = sum(not np.isfinite(trial.score) for trial in outcome.trials)
        if silent:
            warnings.warn(
                f"scoring gave no number for {silent} of {len(outcome.trials)} settings: they come last.",
                stacklevel=4,
            )
        if self.cv is None:
            local = self._local(field.target, len(kept))
            nearer = look_near(field, stated.grid, stages, outcome, local, largest, self._report)
            if nearer is not None:
                field, stages, outcome = nearer.field, nearer.stages, nearer.outcome
        self.best_params_ = self._chosen(outcome.best)
        self.__dict__.pop("best_estimator_", None)  # of an earlier fit
        if self.refit is not False:
            left = None if limit is None else max(0.05, limit - (time.monotonic() - began))
            machine = self._machine(self.best_params_, len(kept), left).set_params(
                **self._suits(field.target)
            )
            started = time.perf_counter()
            self.best_estimator_ = machine.fit(X, y, sample_weight)
            other = self._better_suited(field, stages, outcome)
            if other is not None:
                field, outcome, changes = other
                self.best_params_ = self._chosen(outcome.best)
                if changes:
                    self.best_estimator_.set_params(**changes).fit(X, y, sample_weight)
            self.refit_time_ = time.perf_counter() - started
            lam = outcome.best.lam
            self._report(f"fitted to {len(kept):,} rows: lam {lam:.4g}, {self.refit_time_:.1f} s")
        self.exponent_, self.search_path_ = outcome.exponent, outcome.path
        self.stop_reason_ = "time limit" if outcome.cut else "last stage"
        self.cv_results_ = cv_results(outcome.trials, stages, self._chosen)
        self.best_score_ = outcome.trial.score if outcome.trial is not None else float("nan")
        self._set_fitted(field, stages, outcome, weights[kept])
        return self

    def _shared(self, *names: str) -> dict[str, Any]:
        """Parameters that the machine takes as they are: those of all searches, and these."""
        common = ("kernel", "degree", "coef0", "upsilon", "tol", "cache_size", "random_state", "n_jobs")
        return {name: getattr(self, name) for name in (*common, *names)}

    def _candidates(
        self,
        rows: Rows,
        weights: Array,
        usual_lams: Mapping[float, tuple[float, ...]],
        intercepts: tuple[bool, ...],
    ) -> Grid:
        """The grid, with gammas and lams checked; lams "auto" are the usual ones of each theta."""
        scaled = not callable(self.kernel) and self.kernel in ("rbf", "poly", "sigmoid", "laplacian")
        gammas: tuple[float, ...] = (1.0,)
        if scaled:
            base = resolve_gamma("scale", rows, weights)
            gammas = given("gammas", self.gammas, "> 0", lambda v: v > 0) or tuple(base * g for g in GAMMAS)
        lams = given("lams", self.lams, "> 0", lambda v: v > 0)
        free_gamma = scaled and isinstance(self.gammas, str)
        of_theta = {theta: lams or usual for theta, usual in usual_lams.items()}
        return Grid(gammas, of_theta, intercepts, free_gamma, isinstance(self.lams, str))

    def _scorer(self) -> Any:
        return None if self.scoring is None else get_scorer(self.scoring)

    def _scores_by_weight(self) -> bool:
        """Whether the scorer asks for the weights of the rows (metadata routing)."""
        if self.scoring is None:
            return False
        return get_routing_for_object(self._scorer()).score.requests.get("sample_weight") is True

    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _report(self, line: str) -> None:
        if self.verbose:
            print(f"[sodm] {line}", flush=True)

    # ---------------------------------------------------------------------------------------- decisions

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """What the machine fitted to all rows predicts for each row of X."""
        return self._fitted_machine().predict(X)

    def _fitted_machine(self) -> Any:
        check_is_fitted(self, "best_params_")
        if not hasattr(self, "best_estimator_"):
            raise NotFittedError(
                f"this {type(self).__name__} has searched only, for refit=False: there is no machine that "
                "could predict. Fit one with best_params_, or search with refit='auto'."
            )
        return self.best_estimator_

    def get_metadata_routing(self) -> MetadataRouter:
        """What the search itself, its splitter and its scorer ask for."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        splitter = self.cv if hasattr(self.cv, "split") else KFold()  # numbers and lists ask for nothing
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scoring is not None:
            scored = MethodMapping().add(caller="fit", callee="score")
            router.add(scorer=self._scorer(), method_mapping=scored)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed()
        tags.input_tags.pairwise = self._precomputed()
        return tags


def given(name: str, values: Any, must_be: str, holds: Callable[[Any], bool]) -> tuple[float, ...]:
    """Candidates of a user's, checked and without repeats; empty for "auto"."""
    if isinstance(values, str):
        check_choice(name, values, ("auto",))
        return ()
    listed = tuple(dict.fromkeys(np.atleast_1d(np.asarray(values)).tolist()))
    if not listed:
        raise ValueError(f"{name} must have one value or more, or be 'auto'.")
    for value in listed:
        check_number(f"each of {name}", value, must_be, holds)
    return tuple(float(value) for value in sorted(listed))
