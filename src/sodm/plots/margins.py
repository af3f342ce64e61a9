"""The distribution of the margins y f(x): what an optimal margin distribution machine optimises."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# By these a second plot on the same axes recognises the first.
_CURVES, _HISTOGRAM = "sodm: cumulative margins", "sodm: histogram of margins"
_ZONE = "dead zone"
_NEGATIVE_COLOR, _ZONE_COLOR = "#c44e52", "#ece7d8"


class MarginDistributionDisplay:
    """Histogram and cumulative curve of the margins of a classifier.

    The margin of an instance is y f(x), with y = ±1 and f the decision function: negative where the
    classifier is wrong. The optimal margin distribution machine pulls all margins towards the dead zone
    [1 - theta, 1 + theta] rather than push the smallest one up, and this picture shows how well it did.

    Use `from_estimator` or `from_predictions` to make one; the constructor takes ready margins.

    Parameters
    ----------
    margins : array-like of shape (n_margins,)
        The margins. With several classes there is one for each instance and class.
    sample_weight : array-like of shape (n_margins,), default=None
        What each margin counts; all the same if None.
    theta : float, default=None
        Half the width of the dead zone around 1. None: there is none to show.
    name : str, default=None
        Stands in the legend.

    Attributes
    ----------
    mean, variance : float
        Weighted mean and variance of the margins.
    negative : float
        Weighted share of the margins below 0. With two classes this is the error rate.
    ax_ : matplotlib Axes
        The axes of the histogram; `figure_` is its figure.
    cumulative_ax_ : matplotlib Axes or None
        The axes of the cumulative curve: the same place, with its scale on the right.
    histogram_ : matplotlib StepPatch
    negative_ : matplotlib StepPatch or None
        The part of the histogram that lies below 0, in red.
    curve_ : matplotlib Line2D or None
    zone_ : matplotlib Rectangle or None

    Examples
    --------
    >>> from sodm import MarginDistributionDisplay
    >>> display = MarginDistributionDisplay([0.5, 1.0, 1.5, -0.2], theta=0.3)
    >>> round(display.mean, 3), round(display.variance, 3), display.negative
    (0.7, 0.395, 0.25)
    >>> display.plot()  # doctest: +SKIP
    """

    def __init__(
        self,
        margins: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        theta: float | None = None,
        name: str | None = None,
    ) -> None:
        self.margins: NDArray[np.float64] = check_array(
            margins, ensure_2d=False, dtype=np.float64, input_name="margins"
        ).ravel()
        self.sample_weight = _checked_weights(sample_weight, self.margins)
        if theta is not None and not 0 <= theta < 1:
            raise ValueError(f"theta must be at least 0 and less than 1, got {theta!r}.")
        self.theta = theta
        self.name = name
        self.mean = float(np.average(self.margins, weights=self.sample_weight))
        self.variance = float(np.average((self.margins - self.mean) ** 2, weights=self.sample_weight))
        self.negative = float(np.average(self.margins < 0, weights=self.sample_weight))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        theta: float | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> MarginDistributionDisplay:
        """Plot the margins of a fitted classifier on the instances (X, y).

        Parameters
        ----------
        estimator : classifier
            Fitted, with a `decision_function`: an sodm machine, or any other such as `SVC`; alone, at the end
            of a pipeline, or inside a parameter search.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The true labels.
        sample_weight : array-like of shape (n_samples,), default=None
        pos_label : label, default=None
            With several classes: show only the margins of this class against the rest, or of its pairs. With
            two classes it changes nothing, as y f(x) is the same from either side.
        theta : float, default=None
            Half the width of the dead zone; None takes the estimator's own, if it has one.
        name : str, default=None
            Stands in the legend; None takes the estimator's class name.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure. Axes of another display are shared with it.
        **plot_options
            Passed on to `plot`.

        Returns
        -------
        display : MarginDistributionDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import LinearSVC
        >>> from sodm import MarginDistributionDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> machine = LinearSVC().fit(X, y)
        >>> MarginDistributionDisplay.from_estimator(machine, X, y, theta=0.5)  # doctest: +SKIP
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "decision_function"):
            raise ValueError(
                f"{type(estimator).__name__} has no decision_function, so it has no margins: "
                "give a classifier that has one."
            )
        core = _innermost(estimator)
        if theta is None and getattr(core, "loss", "odm") == "odm":
            theta = getattr(core, "theta", None)
        return cls.from_predictions(
            y,
            _in_pairs(core, partial(estimator.decision_function, X)),
            classes=estimator.classes_,
            pairs=_has_pairs(core),
            sample_weight=sample_weight,
            pos_label=pos_label,
            theta=theta,
            name=type(core).__name__ if name is None else name,
            ax=ax,
            **plot_options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        decision: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        pairs: bool = False,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        theta: float | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> MarginDistributionDisplay:
        """Plot the margins that belong to true labels and decision values.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
        decision : array-like of shape (n_samples,) or (n_samples, n_classes)
            What `decision_function` gives: one column per class, in the order of `classes`; with two classes
            one value per instance, positive for the second class.
        classes : array-like, default=None
            All classes in order; None takes the sorted labels that occur in `y_true`.
        pairs : bool, default=False
            The columns of `decision` are those of the pairs (0, 1), (0, 2), ..., (1, 2), ... of classes,
            positive for the first (``decision_function_shape="ovo"``): there is a margin for each instance
            and pair that it is in.
        sample_weight : array-like of shape (n_samples,), default=None
        pos_label : label, default=None
        theta : float, default=None
        name : str, default=None
        ax : matplotlib Axes, default=None
        **plot_options
            All of these as in `from_estimator`.

        Returns
        -------
        display : MarginDistributionDisplay

        Examples
        --------
        >>> from sodm import MarginDistributionDisplay
        >>> MarginDistributionDisplay.from_predictions(
        ...     [0, 1, 1], [-1.1, 0.8, -0.1], theta=0.4
        ... )  # doctest: +SKIP
        """
        margins, weights = margins_of(y_true, decision, classes, pos_label, sample_weight, pairs)
        display = cls(margins, sample_weight=weights, theta=theta, name=name)
        return display.plot(ax=ax, **plot_options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        bins: int | ArrayLike | None = None,
        cumulative: bool = True,
        color: Any = None,
        **histogram_options: Any,
    ) -> MarginDistributionDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure. Axes of another display are shared with it: both
            histograms stay visible, and the cumulative curves share their scale.
        name : str, default=None
            Stands in the legend instead of the display's own name.
        bins : int or array-like of edges, default=None
            As in `numpy.histogram`; None chooses a width by the data and puts an edge on 0.
        cumulative : bool, default=True
            Draw the cumulative curve, with its scale on the right.
        color : matplotlib color, default=None
            Of histogram and curve; None takes the next colour of matplotlib's cycle.
        **histogram_options
            Passed on to `matplotlib.axes.Axes.stairs`.

        Returns
        -------
        self : MarginDistributionDisplay
        """
        try:
            import matplotlib.pyplot as plt
            from matplotlib.ticker import PercentFormatter
        except ImportError as error:
            raise ImportError(
                "MarginDistributionDisplay draws with matplotlib, which is not installed: "
                "run `pip install 'sodm[plots]'`."
            ) from error

        if ax is None:
            _, ax = plt.subplots(figsize=(7.2, 4.3), layout="constrained")
        earlier = sum(patch.get_gid() == _HISTOGRAM for patch in ax.patches)
        color = f"C{earlier}" if color is None else color
        line_color = _darker(color)

        if earlier == 0:
            _dress(ax)
        self._draw_histogram(ax, bins, color, name, {"alpha": 0.4 if earlier else 0.7, **histogram_options})
        ax.axvline(self.mean, color=line_color, linewidth=1.2, linestyle=(0, (4, 2)), zorder=3)
        self.zone_ = self._draw_zone(ax)

        self.curve_ = self.cumulative_ax_ = None
        if cumulative:
            self.cumulative_ax_ = _axes_of_curves(ax)
            self.cumulative_ax_.yaxis.set_major_formatter(PercentFormatter(1.0))
            order = np.argsort(self.margins, kind="stable")
            share = np.cumsum(self.sample_weight[order]) / self.sample_weight.sum()
            (self.curve_,) = self.cumulative_ax_.step(
                self.margins[order], share, where="post", color=line_color, linewidth=1.6
            )
        _draw_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_histogram(
        self,
        ax: Axes,
        bins: int | ArrayLike | None,
        color: Any,
        name: str | None,
        options: dict[str, Any],
    ) -> None:
        edges = _aligned_edges(self.margins) if bins is None else np.histogram_bin_edges(self.margins, bins)
        density, _ = np.histogram(self.margins, edges, weights=self.sample_weight, density=True)
        label = self._summary(self.name if name is None else name)
        style = {"fill": True, "color": color, "linewidth": 0, "zorder": 2, "label": label, **options}
        self.histogram_ = ax.stairs(density, edges, **style)
        self.histogram_.set_gid(_HISTOGRAM)
        self.negative_ = None
        below = int(np.searchsorted(edges, 0, side="right")) - 1  # bins that end at or before 0
        if below > 0:
            style.update(color=_NEGATIVE_COLOR, alpha=0.9, label="_below 0")
            self.negative_ = ax.stairs(density[:below], edges[: below + 1], **style)

    def _draw_zone(self, ax: Axes) -> Any:
        if self.theta is None:
            return None
        low, high = 1 - self.theta, 1 + self.theta
        label = f"{_ZONE} [{low:.3g}, {high:.3g}]"
        drawn = label in [artist.get_label() for artist in ax.patches]
        return ax.axvspan(
            low, high, color=_ZONE_COLOR, linewidth=0, zorder=0, label="_again" if drawn else label
        )

    def _summary(self, name: str | None) -> str:
        title = f"{name}: " if name else ""
        return f"{title}mean {self.mean:.3g}, variance {self.variance:.3g}, {self.negative:.2%} below 0"


def margins_of(
    y_true: ArrayLike,
    decision: ArrayLike,
    classes: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    pairs: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Margins y_k f_k, one per instance and shown class or pair, and the weights that go with them."""
    y = column_or_1d(y_true)
    f = check_array(decision, ensure_2d=False, dtype=np.float64, input_name="decision")
    check_consistent_length(y, f)
    labels = np.unique(y) if classes is None else np.asarray(classes)
    unknown = np.setdiff1d(y, labels).tolist()
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}, which is none of the classes {labels.tolist()}.")
    weights = None if sample_weight is None else column_or_1d(sample_weight)
    if weights is not None:
        check_consistent_length(y, weights)
    if f.ndim == 2 and f.shape[1] == 1:
        f = f[:, 0]

    if pos_label is not None and pos_label not in labels:
        raise ValueError(f"pos_label={pos_label!r} is none of the classes {labels.tolist()}.")
    if f.ndim == 1:
        if len(labels) > 2:
            raise ValueError(
                f"decision has one column, but there are {len(labels)} classes: {labels.tolist()}."
            )
        if len(labels) < 2:
            raise ValueError(
                "y has a single class: pass classes=[negative, positive] to say which side it is on."
            )
        return np.where(y == labels[1], f, -f), weights
    if pairs:
        return _pair_margins(y, f, labels, pos_label, weights)
    if f.shape[1] != len(labels):
        raise ValueError(
            f"decision has {f.shape[1]} columns, but there are {len(labels)} classes: pass all of them, in "
            "the order of the columns, as classes=."
        )
    columns = np.arange(len(labels)) if pos_label is None else np.flatnonzero(labels == pos_label)
    signs = np.where(y[:, None] == labels[columns], 1.0, -1.0)
    if weights is not None:
        weights = np.repeat(weights, len(columns))
    return (signs * f[:, columns]).ravel(), weights


def _pair_margins(
    y: NDArray[Any],
    f: NDArray[np.float64],
    labels: NDArray[Any],
    pos_label: Any,
    weights: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """A margin for each instance and pair of classes that it is in; f has a column for each pair."""
    pairs = list(combinations(labels.tolist(), 2))
    if f.shape[1] != len(pairs):
        raise ValueError(
            f"decision has {f.shape[1]} columns, but there are {len(pairs)} pairs of {len(labels)} classes: "
            "pass all classes, in order, as classes=."
        )
    margins, counts = [], []
    for column, (a, b) in zip(f.T, pairs, strict=True):
        if pos_label is not None and pos_label not in (a, b):
            continue
        for rows, sign in ((y == a, 1.0), (y == b, -1.0)):
            margins.append(sign * column[rows])
            counts.append(rows)
    own = None if weights is None else np.concatenate([weights[rows] for rows in counts])
    return np.concatenate(margins), own


def _has_pairs(core: Any) -> bool:
    """Whether a classifier can say what each pair of classes decides."""
    if len(getattr(core, "classes_", ())) < 3:
        return False
    return getattr(core, "_one_against_one", False) or (
        getattr(core, "decision_function_shape", None) == "ovo" and not hasattr(core, "multi_class")
    )


def _in_pairs(core: Any, decide: Callable[[], Any]) -> Any:
    """What `decide` gives, the classifier in it asked for pairs if it has some: votes are no margins."""
    if not _has_pairs(core):
        return decide()
    before, core.decision_function_shape = core.decision_function_shape, "ovo"
    try:
        return decide()
    finally:
        core.decision_function_shape = before


def _checked_weights(sample_weight: ArrayLike | None, margins: NDArray[np.float64]) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(len(margins))
    weights: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != margins.shape:
        raise ValueError(f"sample_weight has shape {weights.shape}, but there are {len(margins)} margins.")
    if (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight must not be negative, and not all zero.")
    return weights


def _innermost(estimator: Any) -> Any:
    """The classifier itself, taken out of parameter searches and pipelines."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def _aligned_edges(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equal bins by the rule of Freedman and Diaconis, 20 to 80 of them, with an edge on 0."""
    low, high = float(margins.min()), float(margins.max())
    quarter, three_quarters = np.percentile(margins, [25, 75])
    width = 2 * (three_quarters - quarter) / np.cbrt(len(margins))
    width = float(np.clip(width, (high - low) / 80, (high - low) / 20))
    if width <= np.spacing(max(abs(low), abs(high))) * 100:  # all margins alike
        width = 0.05 * max(abs(low), abs(high), 1.0)
    return width * np.arange(np.floor(low / width), np.floor(high / width) + 2)


def _axes_of_curves(ax: Axes) -> Axes:
    """The axes with the scale on the right: an earlier display's, or new ones."""
    for other in ax.get_shared_x_axes().get_siblings(ax):
        if other.get_label() == _CURVES:
            return other
    curve_ax = ax.twinx()
    curve_ax.set_label(_CURVES)
    curve_ax.set_ylim(0, 1.03)
    curve_ax.set_ylabel("cumulative share")
    curve_ax.spines[["top", "left"]].set_visible(False)
    return curve_ax


def _draw_legend(ax: Axes) -> None:
    """Above the axes, where it covers nothing; machines first, then the zone."""
    entries = sorted(zip(*ax.get_legend_handles_labels(), strict=True), key=lambda e: e[1].startswith(_ZONE))
    ax.legend(
        *zip(*entries, strict=True),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        frameon=False,
        borderaxespad=0.2,
        handlelength=1.4,
    )


def _dress(ax: Axes) -> None:
    ax.set_xlabel("margin  y f(x)")
    ax.set_ylabel("density")
    ax.spines["top"].set_visible(False)
    ax.axvline(0, color="0.35", linewidth=0.8, zorder=1)


def _darker(color: Any) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(0.62 * channel for channel in to_rgb(color))
