"""The commands and their options. Each command's work is in a file of its own, imported when it is called."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sodm.cli import options as o
from sodm.cli.groups import grouped
from sodm.cli.words import spoken
from sodm.demo import ROWS as DEMO_ROWS
from sodm.estimators import defaults

app = typer.Typer(
    name="sodm",
    help="Optimal margin distribution machines: train, use and look at kernel classifiers and regressors.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class ModelFormat(StrEnum):
    """Formats of model files."""

    sodm = "sodm"
    libsvm = "libsvm"
    onnx = "onnx"
    pickle = "pickle"


class FloatType(StrEnum):
    """Arithmetic of an ONNX file."""

    float32 = "float32"
    float64 = "float64"


def _show_version(wanted: bool) -> None:
    if wanted:
        from sodm import __version__

        print(f"sodm {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback if something fails; may stand anywhere.")
    ] = False,
) -> None:
    """Optimal margin distribution machines: train, use and look at kernel classifiers and regressors."""


@app.command()
@grouped
def train(
    data: o.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.", rich_help_panel=o.OUTPUT)],
    options: o.MachineOptions,
    file: o.TrainingFileOptions,
    task: o.TaskOption = o.Task.auto,
    gamma: Annotated[str, typer.Option(help="Kernel coefficient: scale, auto or a number.")] = "scale",
    lam: Annotated[
        str, typer.Option(help="Weight of the loss against the norm: a number, or auto, the machine's own.")
    ] = "auto",
    theta: Annotated[
        float | None,
        typer.Option(
            help=f"Half-width of the zone without loss, in 0 to 1 ({defaults.THETA:g}; 0.9 if linear)."
        ),
    ] = None,
    tol: Annotated[
        float | None, typer.Option(help="Relative duality gap (linear: gradient) to reach (1e-3; 1e-6).")
    ] = None,
    max_iter: Annotated[int, typer.Option(min=1, help="Most Newton steps or sweeps.")] = 1000,
    intercept: Annotated[
        bool | None,
        typer.Option(
            "--intercept/--no-intercept",
            help="A constant feature (yes, unless --lam or --balanced is given; yes if linear).",
        ),
    ] = None,
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Search lam, gamma and what goes with them first, as `sodm tune` does."),
    ] = False,
    metric: o.MetricOption = None,
    machine: Annotated[
        o.Machine,
        typer.Option(help="auto: linear for the linear kernel, scalable for many rows, else exact."),
    ] = o.Machine.auto,
    scale: o.ScaleOption = o.Scale.minmax,
    validation: Annotated[
        str,
        typer.Option(
            help="Share of the rows to hold out and measure on (0: none), or a file.",
            rich_help_panel=o.DATA,
        ),
    ] = "0.2",
    refit: Annotated[
        bool,
        typer.Option(
            "--refit/--no-refit",
            help="After validation, train on all rows, held-out ones too.",
            rich_help_panel=o.DATA,
        ),
    ] = True,
    time_limit: o.TimeLimitOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Folder where the scalable machine keeps its state.", rich_help_panel=o.COMPUTING),
    ] = None,
    memory: o.MemoryOption = o.MEMORY,
    seed: o.SeedOption = 0,
    json: o.JsonOption = False,
    quiet: o.QuietOption = False,
) -> None:
    """Train a machine on a data file and save it.

    Example: sodm train data.libsvm --kernel rbf --out model.sodm
    """
    if _is_number(validation) and not 0 <= float(validation) < 1:
        raise typer.BadParameter(
            f"{validation} is not a share in [0, 1), nor a file.", param_hint="--validation"
        )
    if metric is not None and not tune:
        raise typer.BadParameter("it is for the search: add --tune.", param_hint="--metric")
    o.check_metric(metric, task)
    parameters: dict[str, Any] = options.parameters() | {
        "gamma": o.word_or_number(gamma, "--gamma", "scale", "auto"),
        "lam": None if lam == "auto" else o.word_or_number(lam, "--lam", "auto"),
        "theta": theta,
        "tol": tol,
        "max_iter": max_iter,
        "fit_intercept": intercept,
        "cache_size": o.megabytes(memory),
        "n_jobs": file.threads,
        "random_state": seed,
        "checkpoint_dir": None if checkpoint is None else str(checkpoint),
    }
    _check_parameters(parameters, task)
    from sodm.cli.train import Settings
    from sodm.cli.train import train as run

    run(
        file.source(data),
        parameters,
        Settings(
            *(out, scale.value, validation, refit, seed, time_limit, machine.value, json, quiet),
            tune=tune,
            task=task.value,
            metric=metric,
        ),
    )


@app.command()
@grouped
def predict(
    data: o.DataOrModel,
    model: o.ModelOrData,
    file: o.FileOptions,
    out: Annotated[str, typer.Option("--out", "-o", help="File to write; - is the standard output.")] = "-",
    decision: Annotated[
        bool, typer.Option("--decision", help="Write decision values after the labels.")
    ] = False,
    json: o.JsonOption = False,
    quiet: o.QuietOption = False,
) -> None:
    """Predict the label, or number, of every row: one line each, labels as they were in the training data.

    Columns are found by name, in any order; others are left aside. With --json and without --out the
    labels (numbers: values) are in the object that is printed.
    """
    from sodm.cli.score import predict as run

    data, path = o.model_and_data(data, model)
    run(file.source(data), path, out, decision, json, quiet)


@app.command()
@grouped
def evaluate(
    data: o.DataOrModel,
    model: o.ModelOrData,
    file: o.FileOptions,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw confusion, ROC and margins (numbers: errors) to .png, .svg or .pdf."
        ),
    ] = None,
    json: o.JsonOption = False,
    quiet: o.QuietOption = False,
) -> None:
    """Measure a model on labelled data: accuracy, balanced accuracy, F1, ROC AUC, a table of the classes.

    Models of numbers: R^2, root of the mean squared error (rmse), mean absolute error (mae).
    """
    from sodm.cli.score import evaluate as run

    data, path = o.model_and_data(data, model)
    run(file.source(data), path, plot, json, quiet)


@app.command()
@grouped
def tune(
    data: o.DataFile,
    options: o.MachineOptions,
    file: o.TrainingFileOptions,
    task: o.TaskOption = o.Task.auto,
    metric: o.MetricOption = None,
    scale: o.ScaleOption = o.Scale.minmax,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            min=0.001,
            help="Most seconds to search; the best by then is taken.",
            rich_help_panel=o.COMPUTING,
        ),
    ] = o.SEARCH_SECONDS,
    memory: o.MemoryOption = o.MEMORY,
    seed: o.SeedOption = 0,
    json: o.JsonOption = False,
    quiet: o.QuietOption = False,
) -> None:
    """Search lam and gamma; print the best settings and the command to train with them."""
    o.check_metric(metric, task)
    parameters = options.parameters()
    _check_parameters(parameters, task)
    from sodm.cli.choose import Searching
    from sodm.cli.tune import tune as run

    how = Searching(metric, seed, o.megabytes(memory), file.threads, time_limit, json or quiet)
    run(file.source(data), task.value, parameters, scale.value, how, json, quiet)


@app.command()
def inspect(
    model: o.ModelFile,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the training margins to .png, .svg or .pdf.")
    ] = None,
    json: o.JsonOption = False,
) -> None:
    """Tell what is in a model file."""
    from sodm.cli.inspect_model import inspect as run

    run(model, plot, json)


@app.command()
def convert(
    source: Annotated[
        Path, typer.Argument(help="A .sodm file, or a LIBSVM model of two classes.", show_default=False)
    ],
    target: Annotated[
        Path, typer.Argument(help="File to write: .sodm, .model, .onnx or .pkl.", show_default=False)
    ],
    to: Annotated[ModelFormat | None, typer.Option("--to", help="Format, if the name does not tell.")] = None,
    dtype: Annotated[FloatType, typer.Option(help="Arithmetic of an ONNX file.")] = FloatType.float32,
    features: Annotated[
        int | None, typer.Option(min=1, help="Number of features, which LIBSVM models do not tell.")
    ] = None,
    json: o.JsonOption = False,
    quiet: o.QuietOption = False,
) -> None:
    """Convert a model: to LIBSVM, ONNX or a pickle, or from LIBSVM."""
    from sodm.cli.convert import convert as run

    run(source, target, to.value if to else None, dtype.value, features, json, quiet)


bench = typer.Typer(no_args_is_help=True, help="Measure: the paper's experiments, run again.")
app.add_typer(bench, name="bench")


@bench.callback()
def measure() -> None:
    """Measure: the paper's experiments, run again."""


@bench.command()
def paper(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of results and report (paper, or paper-quick)."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few rows and one seed: minutes instead of hours.")
    ] = False,
    sets: Annotated[list[str] | None, typer.Option(help="Only this data set; may be repeated.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this experiment; may be repeated.")] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Run nothing; make the report of the results there are.")
    ] = False,
) -> None:
    """Run the paper's experiments again, as far as they are missing, and write a report.

    Each finished run is a line of OUT/results.jsonl; stopped at any moment, the same command goes on there.
    The report is OUT/report.html.
    """
    from sodm.bench.command import paper as run

    if run(out, quick=quick, report_only=report, sets=sets or (), only=only or ()):
        raise typer.Exit(1)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Page to write.")] = Path("demo.html"),
    rows: Annotated[
        int, typer.Option(min=200, help="Rows to generate; a quarter is for testing.")
    ] = DEMO_ROWS,
    seed: o.SeedOption = 0,
) -> None:
    """Train all machines, scikit-learn's SVC and boosting on generated data; print a table, write a page."""
    from sodm.demo.run import run

    run(out, rows, seed)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_parameters(parameters: dict[str, Any], task: o.Task) -> None:
    """Refuse parameters that make no sense as a mistake in the command line, before any data is read."""
    from sodm.cli.machine import make_machine

    wrong = []
    tasks = (o.Task.classification, o.Task.regression) if task is o.Task.auto else (task,)
    for one in tasks:
        try:
            make_machine(parameters, task=one.value)._check_parameters()
        except ValueError as error:
            wrong.append(spoken(str(error)))
    if len(wrong) == len(tasks):
        raise typer.BadParameter(wrong[0])
