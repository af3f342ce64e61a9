"""`sodm convert`: model files to and from other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sodm
from sodm.cli.output import show
from sodm.cli.targets import check_target
from sodm.model import describe, from_libsvm, to_libsvm, to_onnx, to_pickle
from sodm.model.loading import stored_margins
from sodm.model.machines import prepares, split

FORMATS = {
    ".sodm": "sodm",
    ".model": "libsvm",
    ".libsvm": "libsvm",
    ".onnx": "onnx",
    ".pkl": "pickle",
    ".pickle": "pickle",
}


def convert(
    source: Path, target: Path, to: str | None, dtype: str, n_features: int | None, as_json: bool, quiet: bool
) -> None:
    """Read a .sodm or LIBSVM model and write it in the format of the target's name, or of `to`."""
    kind = to or FORMATS.get(target.suffix.lower())
    if kind is None:
        known = ", ".join(sorted(set(FORMATS.values())))
        raise ValueError(f"{target}: its ending tells no format; give one with --to ({known}).")
    check_target(target, *(() if kind == "sodm" else (source,)))  # ours may be written anew in place
    with open(source, "rb") as file:
        start = file.read(9)
    if start[:1] == b"\x80":
        raise ValueError(
            f"{source} is a pickle, which would run code when read: save the machine with sodm.save instead."
        )
    theirs = start == b"svm_type "
    model = from_libsvm(source, n_features=n_features) if theirs else sodm.load(source)
    if kind in ("libsvm", "onnx") and prepares(split(model)[0]):
        raise ValueError(
            f"{source} also fills in missing values and turns categories into numbers, which {kind} files "
            "cannot hold: keep it as it is, convert to .pkl, or train on columns of numbers without gaps."
        )
    facts: dict[str, Any] = {"from": str(source), "to": str(target), "format": kind}
    if kind == "libsvm":
        labels = to_libsvm(model, target)
        facts["labels"] = {str(number): label for number, label in labels.items()}
        if Path(f"{target}.range").exists() and hasattr(model, "steps"):
            facts["scaling"] = f"{target}.range (svm-scale -r {target}.range DATA)"
    elif kind == "onnx":
        to_onnx(model, target, dtype=dtype)  # type: ignore[arg-type]
    elif kind == "pickle":
        to_pickle(model, target)
    else:
        kept = {} if theirs else {"summary": describe(source)["summary"], "margins": stored_margins(source)}
        sodm.save(model, target, **kept)
    show(facts, title="converted", as_json=as_json, quiet=quiet)
