"""skops' own saving and loading, told which classes of a machine are ours.

skops loads no class that nobody has vouched for, and has no list that a library could add itself to: to load
a file through this module is to vouch for ours. All other types stay with the caller, as ever.
"""

from __future__ import annotations

from typing import Any

from sodm.model.machines import TRUSTED_TYPES


def dump(model: Any, file: Any, **options: Any) -> None:
    """As `skops.io.dump`.

    Parameters
    ----------
    model : machine or Pipeline
    file : path or binary file
    **options
        Those of `skops.io.dump`, such as ``compression``.
    """
    _io().dump(model, file, **options)


def dumps(model: Any, **options: Any) -> bytes:
    """As `skops.io.dumps`.

    Parameters
    ----------
    model : machine or Pipeline
    **options
        Those of `skops.io.dumps`, such as ``compression``.

    Returns
    -------
    bytes
    """
    stored: bytes = _io().dumps(model, **options)
    return stored


def load(file: Any, trusted: Any = None) -> Any:
    """As `skops.io.load`, for a machine of ours, alone, in a pipeline or in a search.

    Parameters
    ----------
    file : path or binary file
    trusted : list of str or type, default=None
        Types to be loaded besides ours and those that skops knows.

    Returns
    -------
    machine or Pipeline
    """
    return _io().load(file, trusted=[*TRUSTED_TYPES, *(trusted or ())])


def loads(data: bytes, trusted: Any = None) -> Any:
    """As `skops.io.loads`, for a machine of ours, alone, in a pipeline or in a search.

    Parameters
    ----------
    data : bytes
    trusted : list of str or type, default=None
        Types to be loaded besides ours and those that skops knows.

    Returns
    -------
    machine or Pipeline
    """
    return _io().loads(data, trusted=[*TRUSTED_TYPES, *(trusted or ())])


def _io() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("sodm.skops needs skops: pip install skops") from error
    return skops.io
