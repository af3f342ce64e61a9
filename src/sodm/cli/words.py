"""Messages in the words of the command line: the library speaks of parameters, the command of options."""

from __future__ import annotations

import re
import shlex

# Parameters of Python, and the options that set them. Words that stand alone in messages, and those that are
# too common to be replaced anywhere but before "=" or "must be".
_ANYWHERE = {
    "time_limit": "--time-limit",
    "max_iter": "--max-iter",
    "cache_size": "--memory",
    "n_jobs": "--threads",
    "random_state": "--seed",
    "checkpoint_dir": "--checkpoint",
    "fit_intercept": "--intercept",
    "max_expansion (--max-expansion)": "--max-expansion",
    "max_expansion": "--max-expansion",
    "zero_based=True": "--zero-based",
    "header=True": "--header",
    "class_weight='balanced'": "--balanced",
    "dual_gap_": "the gap",
    "(for example with MinMaxScaler)": "(--scale minmax)",
    "y has one class only": "the labels are of one class only",
}
_OPTIONS = (
    *("label", "decimal", "encoding", "missing", "ignore", "category", "separator", "header", "format"),
    *(
        "kernel",
        "gamma",
        "degree",
        "coef0",
        "lam",
        "upsilon",
        "theta",
        "epsilon",
        "loss",
        "tol",
        "metric",
        "task",
    ),
)
_GIVEN = re.compile(rf"(?<![\w-])({'|'.join(_OPTIONS)})=('(?:[^'\\]|\\.)*'|[\w.+-]+)")
_NONE = re.compile(r",? or label=None if none")
_MUST = re.compile(rf"(?<![\w-])({'|'.join(_OPTIONS)}) must ")
_RAISE = re.compile(r"(?<=[Rr]aise )(tol)\b|(?<= or )(tol)\b(?=[,.])")


def spoken(message: str) -> str:
    """The same message for someone who types commands.

    Examples
    --------
    >>> spoken("say label=NAME or label=NUMBER (from 0), or label=None if none.")
    'say --label NAME or --label NUMBER (from 0).'
    >>> spoken("Raise max_iter or tol, or leave it out with ignore='my date'.")
    "Raise --max-iter or --tol, or leave it out with --ignore 'my date'."
    >>> spoken("lam must be a number > 0, got -1.0.")
    '--lam must be a number > 0, got -1.0.'
    """
    message = _NONE.sub("", message)
    for word, option in _ANYWHERE.items():
        message = re.sub(rf"(?<![\w-]){re.escape(word)}(?!\w)", option, message)
    message = _RAISE.sub(lambda found: f"--{found[1] or found[2]}", message)
    message = _MUST.sub(lambda found: f"--{found[1]} must ", message)
    return _GIVEN.sub(lambda found: f"--{found[1]} {_quoted(found[2])}", message)


def _quoted(value: str) -> str:
    """A value as one types it: Python's quotes off, the shell's on where they are needed."""
    if value.startswith("'"):
        return shlex.quote(value[1:-1].replace("\\'", "'"))
    return value
