"""Parameters that several machines share: their types, what is said of them, and signatures that show all.

A parameter is written in one constructor, that of the class that all who have it derive from; the others
take it as one of `**shared` and pass it up. `shows_all_parameters` puts all of them into the signature and
the docstring of a class, so that users, scikit-learn and the documentation find them there.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, TypeVar

from sodm.estimators.seed import RandomState
from sodm.estimators.weights import ClassWeight

Class = TypeVar("Class", bound=type)


class MachineParameters(TypedDict, total=False):
    """Of all kernel machines, whatever they predict."""

    kernel: str | Callable[[Any, Any], Any]
    gamma: str | float
    degree: int
    coef0: float
    upsilon: float
    tol: float
    max_iter: int
    cache_size: float | str
    precision: Literal["single", "double"]
    warm_start: bool
    random_state: RandomState
    n_jobs: int | None
    verbose: int


class KernelMachineParameters(MachineParameters, total=False):
    """Of all classifiers with a kernel."""

    lam: float | Literal["auto"]
    fit_intercept: bool | Literal["auto"]
    theta: float
    loss: Literal["odm", "hinge"]
    class_weight: ClassWeight
    multi_class: Literal["auto", "ovo", "ovr"]
    decision_function_shape: Literal["ovr", "ovo"]


class RegressionParameters(MachineParameters, total=False):
    """Of all regressors with a kernel."""

    lam: float
    fit_intercept: bool
    epsilon: float


class LinearParameters(TypedDict, total=False):
    """Of the linear machines, whatever they predict."""

    fit_intercept: bool
    intercept_scaling: float
    tol: float
    max_iter: int
    time_limit: float | None
    warm_start: bool
    n_jobs: int | None
    verbose: int


class SearchParameters(TypedDict, total=False):
    """Of the searches, whatever their machines predict."""

    kernel: str | Callable[[Any, Any], Any]
    degree: int
    coef0: float
    gammas: Literal["auto"] | Sequence[float]
    lams: Literal["auto"] | Sequence[float]
    cv: Any
    scoring: Any
    refit: Literal["auto", "exact", "scalable", False]
    tol: float
    cache_size: float | str
    time_limit: float | None
    random_state: RandomState
    n_jobs: int | None
    verbose: int


class TreeParameters(KernelMachineParameters, total=False):
    """Of those that train on parts."""

    n_partitions: int | Literal["auto"]
    branching: int
    time_limit: float | None
    refine: bool
    budget: int | None
    checkpoint_dir: str | os.PathLike[str] | None
    local_solver: Literal["auto", "newton", "dcd"]


class PilotedTreeParameters(TreeParameters, total=False):
    """Of those whose first level can be shown the way."""

    start: Literal["pilot", "zero"]


KERNEL_MACHINE = """
kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="rbf"
    A callable takes two sets of rows and returns the matrix of their values; it is called in blocks.
gamma : {"scale", "auto"} or float, default="scale"
    Coefficient of the rbf, poly, sigmoid and laplacian kernels. "scale" is
    ``1 / (n_features * X.var())``, rows counted by their weights; "auto" is ``1 / n_features``.
degree : int, default=3
    Degree of the poly kernel.
coef0 : float, default=0.0
    Constant in the poly and sigmoid kernels.
lam : float or "auto", default="auto"
    Weight of the loss against the norm, > 0: larger fits the training rows more closely. "auto" is a quarter
    of the weight of all rows, times the number of classes where they are taken one against the rest; with the
    hinge loss all of it, which is C = 1. `ODMClassifierCV` searches.
upsilon : float, default=0.5
    Weight of margins above the zone against margins below it, in (0, 1].
theta : float, default=0.6
    Half-width of the zone without loss, in [0, 1). Rows with margins in it are no support vectors, so a
    larger theta gives a sparser machine.
loss : {"odm", "hinge"}, default="odm"
    "hinge" gives the support vector machine without bias, with ``C = lam / M``; it has no upsilon and no
    theta.
tol : float, default=1e-3
    The fit ends when the relative duality gap is at most this and the largest violation of the optimality
    conditions, in units of the margin, at most ``sqrt(10 * tol)``: the gap is quadratic in it.
max_iter : int, default=1000
    Most Newton steps or sweeps.
fit_intercept : bool or "auto", default="auto"
    Add a constant feature in kernel space, that is use the kernel k + 1. "auto" does so where `lam` is "auto"
    and there is no `class_weight`.
class_weight : dict or "balanced", default=None
    Factors on the weights of the rows, by class. "balanced" gives all classes the same total weight.
multi_class : {"auto", "ovo", "ovr"}, default="auto"
    More than two classes: a machine for each pair of classes, on the rows of these two ("ovo"), or for each
    class against the rest ("ovr"). "auto" is "ovo"; where `SODMClassifier` finds that regions are the better
    machine, which correct machines of one class against the rest, "ovr". In all of them a row costs the same,
    so that `lam` means the same: M in the objective is the weight of all rows.
decision_function_shape : {"ovr", "ovo"}, default="ovr"
    What `decision_function` gives for more than two classes that were fitted in pairs: "ovr", one column
    per class, the votes for it with margins that break ties; "ovo", one column per pair. `predict` does not
    depend on it.
cache_size : float or "auto", default="auto"
    Megabytes of kernel values that may be kept; "auto" is a quarter of the memory that is free when the fit
    begins, 1000 at least. From 1000 on it changes the time only, not the machine; with less, solvers may
    take another way to the same `tol`.
precision : {"single", "double"}, default="single"
    Precision of kernel values; sums are in double either way. A fit whose gap cannot be shown to be within
    `tol` in single precision is finished in double, and its decisions are then made in double too.
warm_start : bool, default=False
    Start from the solution of the last fit when the rows are the same (say, with another lam). A machine with
    regions starts anew.
random_state : int, RandomState instance or None, default=None
    Order of the coordinates and choice of subsamples. The solution depends on it within `tol` only. None
    is a fixed seed, that of 0: the same fit gives the same machine each time. An instance is drawn from,
    so that fits differ.
n_jobs : int or None, default=None
    Threads. None is all cores (or OMP_NUM_THREADS where set, as in the workers of a parallel
    ``GridSearchCV``), -1 is all cores. The number of threads never changes a result.
verbose : int, default=0
    1 shows the progress of the fit: a bar in a terminal or notebook if rich is installed, else lines.
"""

REGRESSION = """
lam : float, default=2000.0
    Weight of the loss against the norm, > 0: larger fits the training rows more closely. Kernel ridge
    regression calls M / lam alpha, M being the sum of the weights.
upsilon : float, default=1.0
    Weight of predictions above the zone against predictions below it, > 0. 1 counts both the same; upsilon
    gives the expectile of the share 1 / (1 + upsilon).
epsilon : float, default=0.0
    Half-width of the zone around the targets without loss, >= 0, in the unit of the targets. Rows within it
    are no support vectors.
tol : float, default=1e-3
    The fit ends when the relative duality gap is at most this and the largest violation of the optimality
    conditions at most ``sqrt(10 * tol)`` times the root of the mean square of the targets (to a power of
    two, and with their mean taken off if `fit_intercept`).
fit_intercept : bool, default=True
    Take the mean of the targets, weighted, off before the fit and add it to predictions. It is not part of
    what is minimised.
"""

TREE = """
tol : float, default=1e-3
    A single part, and the exact solution that `refine` asks for, are solved until the relative duality gap
    is at most this and the largest violation of the optimality conditions, in units of the margin, at most
    ``sqrt(10 * tol)``; several parts to ten times this gap, for their average is further from the solution.
max_iter : int, default=1000
    Most Newton steps or sweeps of a part.
cache_size : float or "auto", default="auto"
    Megabytes of kernel values that may be kept, by all parts that are solved at the same time; "auto" is
    1000. The parts of a level get equal shares of it, of an eighth at least,
    whatever the number of threads; where fewer parts fit together than there are threads, fewer are solved
    at once, with several threads each.
random_state : int, RandomState instance or None, default=None
    Pilot, partition, order of the coordinates and choice of subsamples. None is a fixed seed, that of 0: the
    same fit gives the same machine each time. An instance is drawn from, so that fits differ.
n_partitions : int or "auto", default="auto"
    Parts of the first level. "auto" makes parts of 2,000 to 8,000 distinct rows, the larger the fewer
    support vectors a sample of the rows has, and a single part, which is the exact machine, of up to
    10,000.
branching : int, default=2
    How many parts are merged to one of the next level.
start : {"pilot", "zero"}, default="pilot"
    Where the parts of the first level start: a sample of the rows is solved first and its f shows them
    the way, or all start from zero, as in the paper.
time_limit : float or None, default=None
    Seconds after which the machine of the last finished level is taken. One part is always solved.
refine : bool, default=False
    Go on from there to the exact solution of all rows.
budget : int or None, default=None
    Most support vectors of the machine; it is compressed onto so many landmarks.
checkpoint_dir : path or None, default=None
    Where to write the state after each level, or every 64 regions. A fit of the same data with the same
    parameters goes on from there, and ends with the same machine. A kernel that is a lambda, a closure or
    an object cannot be told from another one: such a fit starts anew, with a warning.
local_solver : {"auto", "newton", "dcd"}, default="auto"
    What solves the parts: semismooth Newton or, as in the paper, dual coordinate descent.
"""

LINEAR = """
intercept_scaling : float, default=1
    Value of the constant feature; the larger, the less the intercept is held back by the norm.
n_jobs : int or None, default=None
    Threads. None is all cores (or OMP_NUM_THREADS where set), -1 is all cores. The number of threads
    never changes a result.
verbose : int, default=0
    1 shows the progress of the fit.
"""

SEARCH = """
kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="rbf"
degree : int, default=3
    Of the poly kernel.
coef0 : float, default=0.0
    Of the poly and sigmoid kernels.
gammas : "auto" or sequence of floats, default="auto"
    Candidates. "auto" begins with powers of four around ``gamma="scale"`` and goes on between and beyond
    them.
cv : int, splitter, iterable or None, default=None
    None is five folds, of classes three from 1,000 rows on, or, from 2,000 rows on, rows held out of every
    stage. A number of folds or a splitter is used on the rows of each stage; an iterable of splits, or a
    `PredefinedSplit`, on all rows.
tol : float, default=1e-3
    Of the machine fitted to all rows; the search itself is content with 1e-2.
cache_size : float or "auto", default="auto"
    Megabytes of kernel values that may be kept; "auto" is 1000 in the search, and what it is for the machine
    that is fitted to all rows.
random_state : int, RandomState instance or None, default=None
    Choice of rows and folds. None is the seed of 0.
n_jobs : int or None, default=None
    Threads; None is all cores. They never change a result.
verbose : int, default=0
    1 tells what each stage found.
"""

_SECTION = re.compile(r"(?<=\nParameters\n----------\n).*?(?=\n\n\w+\n-+\n|\Z)", re.DOTALL)


def shows_all_parameters(*texts: str) -> Callable[[Class], Class]:
    """Give a class the signature of all its constructors, and a docstring about all its parameters.

    Parameters
    ----------
    *texts : str
        Entries of a NumPy docstring. What a later one says of a parameter takes the place of what an earlier
        one does, and what the class's own docstring says that of all.
    """

    def decorate(cls: Class) -> Class:
        parameters = _parameters(cls)
        first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        signature = inspect.Signature([first, *parameters.values()])
        cls.__init__.__signature__ = signature  # type: ignore[misc]
        if cls.__doc__:  # python -OO has none
            own = inspect.cleandoc(cls.__doc__)
            section = _SECTION.search(own)
            assert section is not None, f"{cls.__name__} documents no parameter of its own"
            about = {name: entry for text in (*texts, section[0]) for name, entry in _entries(text)}
            listed = "\n".join(about[name] for name in parameters)
            cls.__doc__ = own[: section.start()] + listed + own[section.end() :]
        return cls

    return decorate


def _parameters(cls: type) -> dict[str, inspect.Parameter]:
    """Of all constructors, from the base down."""
    found: dict[str, inspect.Parameter] = {}
    for parent in reversed(cls.__mro__):
        if "__init__" in vars(parent) and parent is not object:
            for name, parameter in inspect.signature(vars(parent)["__init__"]).parameters.items():
                if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                    found[name] = parameter
    return found


def _entries(text: str) -> list[tuple[str, str]]:
    """Names and entries of a section."""
    entries = re.split(r"\n(?=\S)", text.strip("\n"))
    return [(entry.partition(" : ")[0], entry) for entry in entries]
