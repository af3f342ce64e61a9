"""The scores of a search over lam and gamma, and the point that was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CHOSEN_COLOR = "#c44e52"


class SearchDisplay:
    """Score over lam and gamma, with the chosen point and how sure it is.

    Use `from_estimator` to make one; the constructor takes ready numbers, one of each for every trial.

    Parameters
    ----------
    gamma, lam, score : array-like of shape (n_trials,)
    error : array-like of shape (n_trials,)
        Standard errors of the scores.
    rows : array-like of shape (n_trials,)
        How many rows each was tried on: those of the most rows are the ones that decided.
    chosen : dict
        gamma and lam of the machine that was fitted.
    scoring : str, default="accuracy"
        The name of the score, for the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        `figure_` is its figure.
    lines_ : list of matplotlib ErrorbarContainer
        One for each gamma: score over lam, with standard errors.
    chosen_ : matplotlib Line2D
        Stands where lam of the fitted machine is.
    band_ : matplotlib Polygon or Rectangle
        Scores within a standard error of the best: settings there cannot be told from it.

    Examples
    --------
    >>> from sodm import SearchDisplay
    >>> display = SearchDisplay(
    ...     [1, 1, 2, 2], [10, 100] * 2, [0.8, 0.9, 0.7, 0.8], [0.02] * 4, [500] * 4, {"gamma": 1, "lam": 100}
    ... )
    >>> display.within_an_error
    1
    >>> display.plot()  # doctest: +SKIP
    """

    def __init__(
        self,
        gamma: ArrayLike,
        lam: ArrayLike,
        score: ArrayLike,
        error: ArrayLike,
        rows: ArrayLike,
        chosen: dict[str, Any],
        *,
        scoring: str = "accuracy",
    ) -> None:
        self.gamma, self.lam, self.score, self.error = (
            np.asarray(values, dtype=np.float64) for values in (gamma, lam, score, error)
        )
        self.rows = np.asarray(rows)
        self.chosen, self.scoring = dict(chosen), scoring
        if not len(self.gamma) == len(self.lam) == len(self.score) == len(self.error) == len(self.rows) > 0:
            raise ValueError("gamma, lam, score, error and rows must have one entry for each trial.")

    @property
    def last(self) -> NDArray[np.bool_]:
        """Which trials were on the most rows."""
        return self.rows == self.rows.max()

    @property
    def within_an_error(self) -> int:
        """How many of them cannot be told from the best: within its standard error."""
        score, error = self.score[self.last], self.error[self.last]
        best = int(np.argmax(score))
        return int(np.sum(score >= score[best] - error[best]))

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> SearchDisplay:
        """Of a fitted search, drawn.

        Parameters
        ----------
        estimator : ODMClassifierCV, ODMRegressorCV, or a pipeline that ends with one
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        """
        if hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        check_is_fitted(estimator)
        results = estimator.cv_results_
        if not len(results["iter"]):
            raise ValueError("there is nothing to draw: time_limit was over before the first stage was done.")
        usual = "R²" if is_regressor(estimator) else "accuracy"
        scoring = estimator.scoring if isinstance(estimator.scoring, str) else "score"
        display = cls(
            results["param_gamma"],
            results["param_lam"],
            results["mean_test_score"],
            results["standard_error"],
            results["n_resources"],
            estimator.best_params_,
            scoring=usual if estimator.scoring is None else scoring,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> SearchDisplay:
        """Draw: a line for each gamma, those of fewer rows fainter.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        gammas = np.unique(self.gamma)
        colors = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(gammas)))
        self.lines_ = []
        for rows in np.unique(self.rows):
            last = rows == self.rows.max()
            for gamma, color in zip(gammas, colors, strict=True):
                own = np.flatnonzero((self.gamma == gamma) & (self.rows == rows))
                own = own[np.argsort(self.lam[own])]
                if not len(own):
                    continue
                line = ax.errorbar(
                    self.lam[own],
                    self.score[own],
                    yerr=self.error[own] if last else None,
                    color=color,
                    alpha=1.0 if last else 0.35,
                    marker="o",
                    markersize=4,
                    capsize=2,
                    linestyle="-" if last else ":",
                    label=f"gamma {gamma:.3g}, {rows:,} rows",
                )
                self.lines_.append(line)
        score, error = self.score[self.last], self.error[self.last]
        best = int(np.argmax(score))
        self.band_ = ax.axhspan(
            score[best] - error[best], score[best] + error[best], color="#ece7d8", zorder=0
        )
        self.chosen_ = ax.axvline(
            self.chosen["lam"],
            color=_CHOSEN_COLOR,
            linewidth=1,
            label=f"chosen: gamma {self.chosen['gamma']:.3g}, lam {self.chosen['lam']:.3g}",
        )
        ax.set_xscale("log")
        ax.set_xlabel("lam, for all rows")
        ax.set_ylabel(self.scoring)
        ax.set_title(f"{self.within_an_error} of {int(self.last.sum())} settings within an error of the best")
        ax.legend(fontsize=8)
        return self
