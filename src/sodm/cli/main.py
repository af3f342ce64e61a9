"""Entry point of the command: exit codes and one-line errors.

0 is fine, 2 is a mistake in the command line, 130 is Ctrl-C, 1 is anything else. A traceback is shown with
--debug only.
"""

from __future__ import annotations

import errno
import sys
import warnings
from typing import Any, TextIO

from sodm.cli.words import spoken

INTERRUPTED = 130  # as shells have it: 128 + SIGINT; typer ends with it too, without a word


def main() -> None:
    """Run the command with the arguments of this process."""
    arguments, debug = _without_debug(sys.argv[1:])
    warnings.showwarning = _show_warning
    try:
        from sodm.cli.app import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        print("sodm: the command line needs more packages: run `pip install 'sodm[cli]'`.", file=sys.stderr)
        sys.exit(1)
    try:
        app(args=arguments, prog_name="sodm")
    except KeyboardInterrupt:
        _end_interrupted()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        _end_interrupted()
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        print(f"sodm: {_sentence(error)}", file=sys.stderr)
        sys.exit(1)


def _end_interrupted() -> None:
    print("sodm: interrupted; no output file was written.", file=sys.stderr)
    sys.exit(INTERRUPTED)


def _without_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """--debug may stand anywhere before a bare --."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [word for word in arguments[:end] if word != "--debug"]
    return kept + arguments[end:], len(kept) < end


def _sentence(error: Exception) -> str:
    """What happened and what to do, on one line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "no space is left on the device where the output goes: make some, or write it elsewhere."
    if isinstance(error, MemoryError):
        return "there is not enough memory: use fewer rows, or a smaller --memory for the kernel values."
    text = " ".join(str(error).split())
    return spoken(text) or f"{type(error).__name__}; run again with --debug to see where."


def _show_warning(
    message: Warning | str,
    category: Any,
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: Any = None,
) -> None:
    print(f"sodm: warning: {spoken(' '.join(str(message).split()))}", file=sys.stderr)
