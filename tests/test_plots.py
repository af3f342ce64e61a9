"""The picture of the margins: the right numbers, in the right places."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from sodm import MarginDistributionDisplay, ODMClassifier

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    plt.close("all")  # of other tests
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def binary():
    return make_classification(150, n_features=5, flip_y=0.1, random_state=3)


class MachineWithDeadZone(SVC):
    """What the display looks for in a machine of ours: theta and loss."""

    def __init__(self, theta=0.25, loss="odm"):
        super().__init__()
        self.theta = theta
        self.loss = loss


def labels_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_binary_margins_are_y_times_decision(binary):
    X, y = binary
    machine = SVC().fit(X, np.where(y == 1, "yes", "no"))
    display = MarginDistributionDisplay.from_estimator(machine, X, np.where(y == 1, "yes", "no"))
    expected = (2 * y - 1) * machine.decision_function(X)
    np.testing.assert_allclose(display.margins, expected)
    assert display.negative == pytest.approx(np.mean(machine.predict(X) != np.where(y == 1, "yes", "no")))
    assert display.mean == pytest.approx(expected.mean())
    assert display.variance == pytest.approx(expected.var())


def test_from_predictions_agrees_with_from_estimator(binary):
    X, y = binary
    machine = SVC().fit(X, y)
    one = MarginDistributionDisplay.from_estimator(machine, X, y)
    other = MarginDistributionDisplay.from_predictions(y, machine.decision_function(X), name="SVC")
    np.testing.assert_array_equal(one.margins, other.margins)
    assert labels_of(one) == labels_of(other)


def test_several_classes_give_one_margin_per_class():
    X, y = load_iris(return_X_y=True)
    machine = LinearSVC().fit(X, y)
    f = machine.decision_function(X)
    signs = np.where(y[:, None] == np.arange(3), 1, -1)
    everything = MarginDistributionDisplay.from_estimator(machine, X, y)
    np.testing.assert_allclose(everything.margins.reshape(-1, 3), signs * f)
    second = MarginDistributionDisplay.from_estimator(machine, X, y, pos_label=1)
    np.testing.assert_allclose(second.margins, signs[:, 1] * f[:, 1])


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_pairs_of_classes_give_one_margin_for_each_pair_of_a_row(shape):
    X, y = load_iris(return_X_y=True)
    machine = make_pipeline(StandardScaler(), ODMClassifier(decision_function_shape=shape)).fit(X, y)
    display = MarginDistributionDisplay.from_estimator(machine, X, y)
    assert machine[-1].decision_function_shape == shape
    f = machine.set_params(odmclassifier__decision_function_shape="ovo").decision_function(X)
    expected = [f[y == 0, 0], -f[y == 1, 0], f[y == 0, 1], -f[y == 2, 1], f[y == 1, 2], -f[y == 2, 2]]
    np.testing.assert_array_equal(display.margins, np.concatenate(expected))
    weights = np.arange(1.0, 151)
    last = MarginDistributionDisplay.from_predictions(y, f, pairs=True, pos_label=2, sample_weight=weights)
    np.testing.assert_array_equal(last.margins, np.concatenate(expected[2:]))
    np.testing.assert_array_equal(last.sample_weight[:50], weights[y == 0])
    with pytest.raises(ValueError, match="3 pairs of 3 classes"):
        MarginDistributionDisplay.from_predictions(y, f[:, :2], pairs=True)


def test_pos_label_changes_nothing_with_two_classes(binary):
    X, y = binary
    machine = SVC().fit(X, y)
    margins = [
        MarginDistributionDisplay.from_estimator(machine, X, y, pos_label=k).margins for k in (None, 0, 1)
    ]
    np.testing.assert_array_equal(margins[0], margins[1])
    np.testing.assert_array_equal(margins[0], margins[2])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_integer_weights_equal_repeated_rows(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    f = rng.normal(size=60 if n_classes == 2 else (60, n_classes)) + 0.5
    weight = rng.integers(0, 4, 60)
    weighted = MarginDistributionDisplay.from_predictions(
        y, f, sample_weight=weight, bins=np.linspace(-4, 4, 17)
    )
    repeated = MarginDistributionDisplay.from_predictions(
        np.repeat(y, weight), np.repeat(f, weight, axis=0), bins=np.linspace(-4, 4, 17)
    )
    for what in ("mean", "variance", "negative"):
        assert getattr(weighted, what) == pytest.approx(getattr(repeated, what))
    np.testing.assert_allclose(weighted.histogram_.get_data().values, repeated.histogram_.get_data().values)
    for at in (-1.0, 0.1, 0.9):
        assert cumulative_share(weighted, at) == pytest.approx(cumulative_share(repeated, at))


def cumulative_share(display, at):
    margins, share = display.curve_.get_data()
    before = np.flatnonzero(margins <= at)
    return share[before[-1]] if len(before) else 0.0


def test_cumulative_curve_is_the_distribution_function():
    margins = np.random.default_rng(1).normal(1, 0.4, 200)
    display = MarginDistributionDisplay(margins).plot()
    for at in np.quantile(margins, [0.03, 0.4, 0.8]) + 1e-9:
        assert cumulative_share(display, at) == pytest.approx(np.mean(margins <= at))
    assert display.curve_.get_ydata()[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    "margins",
    [
        np.random.default_rng(2).normal(1, 0.5, 500),
        [1.0],
        [0.0, 0.0],
        [-1.0, -1.0, -1.0],
        [1e6, 1e6 + 1e-9],
        [1e-12, -1e-12],
        np.r_[np.ones(99), 1e4],
    ],
)
def test_histogram_holds_every_margin_and_parts_at_zero(margins):
    margins = np.asarray(margins)
    display = MarginDistributionDisplay(margins).plot()
    heights, edges, _ = display.histogram_.get_data()
    assert heights @ np.diff(edges) == pytest.approx(1)
    assert edges[0] <= margins.min() and margins.max() <= edges[-1]
    if display.negative_ is None:
        assert display.negative == 0
    else:
        heights, edges, _ = display.negative_.get_data()
        assert edges[-1] <= 0
        assert heights @ np.diff(edges) == pytest.approx(display.negative)


def test_mean_variance_and_dead_zone_are_written_in():
    display = MarginDistributionDisplay([0.5, 1.5, -0.5, 1.5], theta=0.25, name="mine").plot()
    assert labels_of(display) == [
        "mine: mean 0.75, variance 0.688, 25.00% below 0",
        "dead zone [0.75, 1.25]",
    ]
    low, high = display.zone_.get_x(), display.zone_.get_x() + display.zone_.get_width()
    assert (low, high) == (0.75, 1.25)


def test_theta_comes_from_the_estimator_wherever_it_sits(binary):
    X, y = binary
    pipeline = make_pipeline(MinMaxScaler(), MachineWithDeadZone())
    search = GridSearchCV(pipeline, {"machinewithdeadzone__theta": [0.5]}, cv=2)
    for machine, theta in [(MachineWithDeadZone(), 0.25), (pipeline, 0.25), (search, 0.5)]:
        display = MarginDistributionDisplay.from_estimator(machine.fit(X, y), X, y)
        assert display.theta == theta
        assert display.name == "MachineWithDeadZone"
    asked = MarginDistributionDisplay.from_estimator(pipeline, X, y, theta=0.1)
    assert asked.theta == 0.1


def test_hinge_loss_and_foreign_machines_have_no_dead_zone(binary):
    X, y = binary
    for machine in (SVC(), MachineWithDeadZone(loss="hinge")):
        display = MarginDistributionDisplay.from_estimator(machine.fit(X, y), X, y)
        assert display.theta is None and display.zone_ is None


def test_two_displays_share_axes():
    first = MarginDistributionDisplay([0.9, 1.2, -0.1], theta=0.3, name="first").plot()
    second = MarginDistributionDisplay([2.0, 3.0, 1.0], theta=0.3, name="second").plot(ax=first.ax_)
    assert second.cumulative_ax_ is first.cumulative_ax_
    assert len(first.figure_.axes) == 2
    assert first.histogram_.get_facecolor() != second.histogram_.get_facecolor()
    labels = labels_of(second)
    assert [label.split(":")[0] for label in labels] == ["first", "second", "dead zone [0.7, 1.3]"]


def test_plot_options():
    fig, ax = plt.subplots()
    display = MarginDistributionDisplay([0.0, 1.0, 2.0], name="old")
    assert display.plot(ax, name="new", bins=4, cumulative=False, color="green", alpha=0.2) is display
    assert display.ax_ is ax and display.figure_ is fig
    assert display.curve_ is None and display.cumulative_ax_ is None
    assert len(fig.axes) == 1
    assert len(display.histogram_.get_data().values) == 4
    assert display.histogram_.get_facecolor() == matplotlib.colors.to_rgba("green", 0.2)
    assert labels_of(display)[0].startswith("new: ")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [1.0, np.nan]), {}, "decision"),
        (([0, 1], [1.0, 2.0, 3.0]), {}, "inconsistent numbers of samples"),
        (([0, 1, 2], [1.0, 2.0, 3.0]), {}, "one column, but there are 3 classes"),
        (([0, 1], np.ones((2, 3))), {}, "3 columns, but there are 2 classes"),
        (([1, 1], [1.0, 2.0]), {}, "single class"),
        (([0, 5], [1.0, 2.0]), {"classes": [0, 1]}, "label 5"),
        (([0, 1], [1.0, 2.0]), {"pos_label": 7}, "pos_label=7"),
        (([0, 1], [1.0, 2.0]), {"theta": 1.0}, "theta"),
        (([0, 1], [1.0, 2.0]), {"sample_weight": [1, -1]}, "sample_weight"),
        (([0, 1], [1.0, 2.0]), {"sample_weight": [0, 0]}, "sample_weight"),
        (([0, 1], [1.0, 2.0]), {"sample_weight": [1, 1, 1]}, "inconsistent numbers of samples"),
    ],
)
def test_bad_input_is_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        MarginDistributionDisplay.from_predictions(*arguments, **options)
    assert not plt.get_fignums()


def test_estimators_without_margins_are_refused(binary):
    X, y = binary
    with pytest.raises(NotFittedError):
        MarginDistributionDisplay.from_estimator(SVC(), X, y)
    with pytest.raises(ValueError, match="RandomForestClassifier has no decision_function"):
        MarginDistributionDisplay.from_estimator(RandomForestClassifier(5).fit(X, y), X, y)


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_sodm_does_not_import_matplotlib():
    done = run_python(
        "import sodm, sys; sodm.MarginDistributionDisplay; assert 'matplotlib' not in sys.modules"
    )
    assert done.returncode == 0, done.stderr


def test_without_matplotlib_one_sentence_says_what_to_install():
    done = run_python(
        "import sys; sys.modules['matplotlib'] = None\n"
        "import sodm; sodm.MarginDistributionDisplay([1.0, 2.0]).plot()"
    )
    assert done.returncode != 0
    assert "ImportError: MarginDistributionDisplay draws with matplotlib" in done.stderr
    assert "pip install 'sodm[plots]'" in done.stderr
