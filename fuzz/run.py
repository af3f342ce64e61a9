"""Fuzz one target, or all: `python fuzz/run.py [target] [--seconds 60] [--seed 0]`.

With atheris installed (`pip install atheris`) and --atheris, coverage of the Python code guides the search;
the
compiled parsers are then exercised too, but not looked into. Otherwise inputs are seeded random changes of
good ones.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", nargs="?", default="all")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true", help="guide by coverage; one target only")
    options = parser.parse_args()
    if options.atheris:
        run_atheris(options.target, options.seconds, options.seed)
        return
    from mutate import fuzz
    from targets import TARGETS, seeds

    for name in TARGETS if options.target == "all" else [options.target]:
        calls = fuzz(TARGETS[name], seeds(name), seconds=options.seconds, seed=options.seed)
        print(f"{name}: {calls:,} inputs, nothing found")


def run_atheris(target: str, seconds: float, seed: int) -> None:
    import atheris
    from targets import FOLDER, TARGETS, seeds

    # Not by atheris's import hook, which does not see packages that are installed in place.
    for name, module in list(sys.modules.items()):
        if name.startswith(("sodm.data", "sodm.model")):
            for thing in vars(module).values():
                owned = vars(thing).values() if inspect.isclass(thing) else [thing]
                for function in owned:
                    if inspect.isfunction(function) and function.__module__ == name:
                        atheris.instrument_func(function)
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for k, data in enumerate(seeds(target)):
        (corpus / str(k)).write_bytes(data)
    limits = [f"-max_total_time={seconds:.0f}", f"-seed={seed or 1}", "-max_len=20000", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], TARGETS[target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
