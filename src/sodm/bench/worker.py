"""One run in a process of its own: `python -m sodm.bench.worker`, the run on its standard input.

The last line of the standard output is what was found, or {"error": ...}.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

from sodm.bench.run import Run


def main() -> None:
    """Hold this process to the run's cores, then do it."""
    order = json.load(sys.stdin)
    run = Run.from_json(json.dumps(order["run"]))
    if run.threads and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: run.threads])
    from sodm.bench.tasks import TASKS  # after the affinity is set: libraries look at it when they are loaded

    try:
        found = TASKS[run.task](run, order["known"], Path(order["cache"]))
    except Exception as error:
        traceback.print_exc()
        print(json.dumps({"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}))
        sys.exit(1)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
