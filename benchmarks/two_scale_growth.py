"""Growth with the rows of covtype: a table, a file and a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import data
import numpy as np
from table import RESULTS, Row
from timing import isolated_peer
from two_scale_fits import fit

SIZES = (20_000, 50_000, 100_000, 200_000, 464_809)
MOST = {"two scales": SIZES[-1], "Algorithm 1": SIZES[-1], "exact": 50_000, "oneDAL": 50_000}
GAMMA = 32.0  # all sizes have the same; 64 is for the rows as dense as all of them are
ALGORITHM_1_SECONDS = 60.0  # its machine so far is what is measured
KEPT = RESULTS / "growth.json"
PICTURE = data.HERE.parent / "docs" / "figures" / "growth.svg"

Found = dict[str, Any]


def growth_rows(threads: int) -> Iterator[Row]:
    """A fit of each side at each size, then the exponent; what was fitted before is taken from the file."""
    seen: dict[str, dict[str, Found]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for side, most in MOST.items():
        limit = {"limit": ALGORITHM_1_SECONDS} if side == "Algorithm 1" else {}
        own = {"name": "covtype", "side": side, "gamma": GAMMA, "repeat": 1, **limit}
        for rows in SIZES:
            if rows > most:
                break
            known = seen.setdefault(side, {})
            if str(rows) not in known:
                found = isolated_peer(fit, threads, rows=rows, **own)
                if found is None:
                    break
                known[str(rows)] = found
                KEPT.write_text(json.dumps(seen, indent=1) + "\n")
            found = known[str(rows)]
            cells = f"{side}: {found['seconds']:.2f} s, {found['accuracy']:.4f}"
            yield Row(f"covtype, {rows:,} rows", "–", cells, "–", note=found["stop"])
    curves = {side: list(known.values()) for side, known in seen.items() if known}
    draw(curves)
    yield exponent_row(curves["two scales"])


def exponent_row(found: list[Found]) -> Row:
    """The exponent of time by rows."""
    rows, seconds = (np.log([one[what] for one in found]) for what in ("rows", "seconds"))
    exponent = float(np.polyfit(rows, seconds, 1)[0])
    span = f"{found[0]['rows']:,} to {found[-1]['rows']:,} rows"
    return Row("covtype, exponent of growth", span, f"{exponent:.2f}", "", exponent, 1.0, "", 2, at_most=True)


def draw(curves: dict[str, list[Found]]) -> None:
    """docs/figures/growth.svg."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "growth"  # the same picture of the same figures
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for side, found in curves.items():
        rows = [one["rows"] for one in found]
        left.plot(rows, [one["accuracy"] for one in found], "o-", label=side)
        right.plot(rows, [one["seconds"] for one in found], "o-", label=side)
    for axes, title in ((left, "accuracy on unseen rows"), (right, "seconds to fit, two cores")):
        axes.set_xscale("log")
        axes.set_xlabel("rows of covtype")
        axes.set_title(title)
        axes.grid(alpha=0.3)
    right.set_yscale("log")
    left.legend()
    figure.savefig(PICTURE, metadata={"Date": None})
