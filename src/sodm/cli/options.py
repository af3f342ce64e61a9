"""Options that several commands share, with their help, in one place."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sodm.estimators import defaults

if TYPE_CHECKING:
    from sodm.cli.inputs import Source

DATA, COMPUTING, OUTPUT = "Data", "Computing", "Output"


class Scale(StrEnum):
    """How features are scaled before training."""

    minmax = "minmax"
    standard = "standard"
    maxabs = "maxabs"
    none = "none"


class KernelName(StrEnum):
    """Kernels by name."""

    rbf = "rbf"
    linear = "linear"
    poly = "poly"
    sigmoid = "sigmoid"
    laplacian = "laplacian"


class Loss(StrEnum):
    """Losses by name."""

    odm = "odm"
    hinge = "hinge"


class Task(StrEnum):
    """What is learnt."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Machine(StrEnum):
    """Machines by kind."""

    auto = "auto"
    exact = "exact"
    scalable = "scalable"


class Format(StrEnum):
    """Formats of data files."""

    auto = "auto"
    libsvm = "libsvm"
    csv = "csv"
    arrow = "arrow"
    npz = "npz"
    npy = "npy"


DataFile = Annotated[
    str, typer.Argument(metavar="DATA", help="A file, or the name of a known data set.", show_default=False)
]
ModelFile = Annotated[Path, typer.Argument(help="A model file (.sodm).", show_default=False)]
DataOrModel = DataFile
ModelOrData = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A model file (.sodm); may also come first.", show_default=False),
]
FormatOption = Annotated[
    Format, typer.Option("--format", help="Format of the data; auto goes by the name.", rich_help_panel=DATA)
]
LabelOption = Annotated[
    str,
    typer.Option(
        "--label",
        help="Label column of a table: its name, or its number from 0 (negative: from the end). A trained "
        "model knows it.",
        rich_help_panel=DATA,
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether a CSV file begins with column names.", rich_help_panel=DATA
    ),
]
SeparatorOption = Annotated[
    str | None, typer.Option("--separator", help="Separator of a CSV file.", rich_help_panel=DATA)
]
DecimalOption = Annotated[
    str | None,
    typer.Option("--decimal", help="Decimal mark of the numbers in a CSV file, . or ,", rich_help_panel=DATA),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding", help="Encoding of a CSV file, if not UTF-8: latin-1, cp1252, ...", rich_help_panel=DATA
    ),
]
MissingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        help="Text for a missing value, besides nothing, NA, NaN, null, None and ?; may be repeated.",
        rich_help_panel=DATA,
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    typer.Option("--ignore", help="Column to leave aside; may be repeated.", rich_help_panel=DATA),
]
CategoryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        help="Column of numbers that are names of categories; may be repeated.",
        rich_help_panel=DATA,
    ),
]
ZeroBasedOption = Annotated[
    bool, typer.Option("--zero-based", help="LIBSVM indices count from 0.", rich_help_panel=DATA)
]
CacheOption = Annotated[
    bool, typer.Option("--cache", help="Keep parsed text beside the file.", rich_help_panel=DATA)
]
MaxExpansionOption = Annotated[
    float,
    typer.Option(
        "--max-expansion",
        min=1,
        help="How many times its size a data file may unpack to.",
        rich_help_panel=DATA,
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Threads; all cores if not given.", rich_help_panel=COMPUTING),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=2**31 - 1, help="Seed of all choices.", rich_help_panel=COMPUTING)
]
MEMORY = "1000MB"
SEARCH_SECONDS = 300.0  # for a search, where no limit is given
MemoryOption = Annotated[
    str,
    typer.Option(
        "--memory", help="Memory for kernel values, such as 500MB or 2GB.", rich_help_panel=COMPUTING
    ),
]
TimeLimitOption = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0.001,
        help="Most seconds to compute; what there is by then is kept.",
        rich_help_panel=COMPUTING,
    ),
]
TaskOption = Annotated[
    Task, typer.Option("--task", help="Learn classes or numbers; auto goes by the label column.")
]
ScaleOption = Annotated[
    Scale, typer.Option("--scale", help="Scaling of the features, stored in the model.", rich_help_panel=DATA)
]
MetricOption = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help="What the search goes by: a scorer of scikit-learn's, such as balanced_accuracy, f1_macro, "
        "roc_auc or neg_log_loss (accuracy; regression: r2).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=OUTPUT)]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=OUTPUT)
]


@dataclass(frozen=True)
class FileOptions:
    """How to read a data file."""

    format: FormatOption = Format.auto
    label: LabelOption = "auto"
    header: HeaderOption = None
    separator: SeparatorOption = None
    decimal: DecimalOption = None
    encoding: EncodingOption = None
    missing: MissingOption = None
    zero_based: ZeroBasedOption = False
    cache: CacheOption = False
    max_expansion: MaxExpansionOption = 200.0
    threads: ThreadsOption = None

    def source(self, path: str) -> Source:
        """The file, read so."""
        from sodm.cli.inputs import Source

        given = vars(self) | {
            "format": self.format.value,
            "decimal": check_decimal(self.decimal),
            "encoding": check_encoding(self.encoding),
            "n_threads": self.threads,
        }
        del given["threads"]
        for name in ("missing", "ignore", "category"):
            given[name] = tuple(given.get(name) or ())
        return Source(path, **given)


@dataclass(frozen=True)
class TrainingFileOptions(FileOptions):
    """How to read a data file to learn from; a model that is used knows these already."""

    ignore: IgnoreOption = None
    category: CategoryOption = None


@dataclass(frozen=True)
class MachineOptions:
    """What `train` and `tune` both want to know of the machine; None is its default."""

    kernel: Annotated[KernelName, typer.Option(help="Kernel.")] = KernelName.rbf
    degree: Annotated[int, typer.Option(min=0, help="Degree of the poly kernel.")] = 3
    coef0: Annotated[float, typer.Option(help="Constant of the poly and sigmoid kernels.")] = 0.0
    upsilon: Annotated[
        float | None,
        typer.Option(
            help=f"Weight of margins above the zone, above 0, at most 1 ({defaults.UPSILON:g}); regression: "
            "of predictions above it, above 0 (1)."
        ),
    ] = None
    epsilon: Annotated[
        float | None,
        typer.Option(help="Regression: half-width of the zone without loss, in the unit of the label (0)."),
    ] = None
    loss: Annotated[Loss, typer.Option(help="odm, or hinge for a support vector machine.")] = Loss.odm
    balanced: Annotated[bool, typer.Option("--balanced", help="Give all classes the same weight.")] = False

    def parameters(self) -> dict[str, Any]:
        """By the names of the estimators."""
        given = vars(self) | {"kernel": self.kernel.value, "loss": self.loss.value}
        return given | {"class_weight": "balanced" if given.pop("balanced") else None}


def model_and_data(first: str, second: str) -> tuple[str, Path]:
    """Which of two files is the data and which the model; they may come in either order."""
    from sodm.cli.loaded import is_model_file

    swapped = is_model_file(first)
    if swapped and is_model_file(second):
        raise ValueError(f"{first} and {second} are both models: one of the two files must have the data.")
    return (second, Path(first)) if swapped else (first, Path(second))


def check_encoding(name: str | None) -> str | None:
    """The name of an encoding that there is."""
    try:
        codecs.lookup(name or "utf-8")
    except LookupError:
        raise typer.BadParameter(
            f"{name!r} is no encoding: latin-1, cp1252, utf-16 and shift-jis are some.",
            param_hint="--encoding",
        ) from None
    return name


def check_decimal(mark: str | None) -> str | None:
    """A decimal mark that there is."""
    if mark not in (None, ".", ","):
        raise typer.BadParameter(f"{mark!r} is no decimal mark: give . or ,", param_hint="--decimal")
    return mark


def check_metric(name: str | None, task: Task) -> None:
    """Refuse a name that is no scorer for the task."""
    if name is None:
        return
    from sodm.cli.metric import names_of

    tasks = (Task.classification, Task.regression) if task is Task.auto else (task,)
    known = {one.value: names_of(one.value) for one in tasks}
    if not any(name in names for names in known.values()):
        lists = "; ".join(f"for {one}: {', '.join(names)}" for one, names in known.items())
        raise typer.BadParameter(f"{name!r} is no scorer of scikit-learn's {lists}.", param_hint="--metric")


_UNITS = {"": 2**20, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


def megabytes(text: str) -> float:
    """The number of megabytes of a size such as 500MB or 2GB; a bare number is megabytes.

    Examples
    --------
    >>> megabytes("2GB"), megabytes("500")
    (2048.0, 500.0)
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([KMGT]?B?)", text.strip().upper())
    unit = found and (found[2] if found[2].endswith("B") or not found[2] else found[2] + "B")
    if not found or unit is None or float(found[1]) <= 0:
        raise typer.BadParameter(
            f"{text!r} is no size: give one such as 500MB or 2GB.", param_hint="--memory"
        )
    return float(found[1]) * _UNITS[unit] / 2**20


def word_or_number(text: str, option: str, *words: str) -> str | float:
    """One of the words that an option knows, or a number.

    Examples
    --------
    >>> word_or_number("auto", "--lam", "auto"), word_or_number("0.5", "--gamma", "scale", "auto")
    ('auto', 0.5)
    """
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither {', '.join(words)} nor a number.", param_hint=option
        ) from None
