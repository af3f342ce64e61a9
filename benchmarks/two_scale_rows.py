"""What two_scales.py shows of each set: accuracy, seconds, peers, one thread, deciding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import susy_drawn
import thread_rows
from table import Row
from timing import isolated, isolated_peer
from tree_figures import grow
from two_scale_fits import SETS, fit, ridge_by_blocks, settings, split_by_split

ALGORITHM_1_SECONDS = 120.0
NEAR = -0.1  # points below the exact machine that are no loss
# One split of some thousand test rows tells no tenth of a point: a row in 650 is another's.
SPLITS = {"a9a": 10, "susy-subset": 5, "skin-nonskin": 5}
THREADS = {"covtype": 1.8, "fashion-mnist": 1.8}
DECIDED = {"covtype": 0.3}  # seconds for 20,000 rows
STAND_IN = (100_000, 1_000_000, 4_000_000)
STAND_IN_SECONDS, STAND_IN_MEMORY = 90.0, 1500.0  # MB beyond the rows


def set_rows(name: str, threads: int) -> Iterator[Row]:
    """One set: two scales alone, beside Algorithm 1 and the exact machine or oneDAL, and on one thread."""
    case, options = SETS[name], {}
    if name == "ijcnn1-official":
        found = isolated(ridge_by_blocks, threads, name=name)
        options = {"ridge": found["ridge"]}
        yield Row(f"{name}, ridge {found['ridge']:g}", "blocks of the training part", "–", "–")
    ours = isolated(fit, threads, name=name, side="two scales", **options)
    what = f"{name}, {ours['rows']:,} rows"
    mine = f"{ours['seconds']:.2f} s, {ours['accuracy']:.4f}"
    note = f"{ours['stop']}, {ours['regions']} parts, {ours['memory']:.0f} MB"
    yield Row(what, "accuracy", mine, "", ours["accuracy"], case.accuracy, "", 4, note=note)
    yield Row(what, "seconds", mine, "", ours["seconds"], case.seconds, " s", at_most=True)
    decided = f"{ours['decide']:.2f} s"
    bar = DECIDED.get(name)
    yield Row(f"{what}, deciding {ours['queries']:,}", "–", decided, "", ours["decide"], bar, " s", 2, True)
    for side in ("Algorithm 1", *(["exact"] * case.exact), *(["oneDAL"] * (name == "fashion-mnist"))):
        limit = {"limit": ALGORITHM_1_SECONDS} if side == "Algorithm 1" else {}
        theirs = isolated_peer(fit, threads, name=name, side=side, **limit, **options)
        if theirs is None:
            yield Row(what, side, mine, "over 300 s")
            continue
        yield from _beside(name, what, mine, side, ours, theirs)
    if name in SPLITS:
        yield _splits_row(name, what, threads)
    if threads > 1:
        alone = isolated(fit, 1, name=name, side="two scales", **options)["seconds"]
        yield thread_rows.row(what, ours["seconds"], alone, threads, THREADS.get(name))


def _beside(
    name: str, what: str, mine: str, side: str, ours: dict[str, Any], theirs: dict[str, Any]
) -> Iterator[Row]:
    """Times faster, and points better."""
    bars = {"exact": SETS[name].faster, "oneDAL": 2.0}
    cells = mine, f"{theirs['seconds']:.2f} s, {theirs['accuracy']:.4f}"
    yield Row(what, side, *cells, theirs["seconds"] / ours["seconds"], bars.get(side))
    by_exact = side == "exact" and SETS[name].accuracy is None and name not in SPLITS
    bar = NEAR if by_exact or (name == "ijcnn1-official" and side == "Algorithm 1") else None
    points = 100 * (ours["accuracy"] - theirs["accuracy"])
    yield Row(f"{what}, accuracy", side, *cells, points, bar, " points", 2)


def _splits_row(name: str, what: str, threads: int) -> Row:
    """Points better than the exact machine, over several random splits."""
    found = isolated(split_by_split, threads, name=name, splits=SPLITS[name])
    ours, exact = np.array(found["two scales"]), np.array(found["exact"])
    points = 100 * (ours - exact)
    error = points.std(ddof=1) / len(points) ** 0.5
    return Row(
        f"{what}, {len(points)} splits",
        "exact",
        f"{ours.mean():.4f}",
        f"{exact.mean():.4f}",
        float(points.mean()),
        NEAR,
        " points",
        2,
        note=f"standard error {error:.2f}, worst split {points.min():+.2f}",
    )


def stand_in_rows(threads: int) -> Iterator[Row]:
    """Rows of SUSY's shape: more of them must make a better machine, in time and memory."""
    before = None
    for n in STAND_IN:
        own = settings("susy-subset", n)
        del own["random_state"]  # it is given there
        found = isolated(grow, threads, n=n, parameters=own, budget=None)
        what = f"stand-in of SUSY, {n:,} rows"
        mine = f"{found['seconds']:.1f} s, {found['accuracy']:.4f}"
        last = n == STAND_IN[-1]
        bar = STAND_IN_SECONDS if last else None
        yield Row(what, "seconds", mine, "", found["seconds"], bar, " s", at_most=True, note=found["stop"])
        beyond, bar = found["memory"], STAND_IN_MEMORY if last else None
        yield Row(what, "memory beyond the rows", mine, "", beyond, bar, " MB", 0, at_most=True)
        if before is not None:
            points = 100 * (found["accuracy"] - before["accuracy"])
            yield Row(
                what, f"{before['n']:,} rows", mine, f"{before['accuracy']:.4f}", points, 0.0, " points", 2
            )
        before = found


def drawn_rows(threads: int) -> Iterator[Row]:
    """Rows of SUSY's shape of which each is new, see `susy_drawn`: both sides at each size."""
    before = None
    for n in STAND_IN:
        found, other = (
            isolated_peer(susy_drawn.grow, threads, n=n, side=side) for side in ("two scales", "Algorithm 1")
        )
        assert found is not None
        what = f"rows drawn like SUSY's, {n:,}"
        mine = f"{found['seconds']:.1f} s, {found['accuracy']:.4f}"
        note = f"{found['stop']}, {found['memory']:.0f} MB; best possible {found['best']:.4f}"
        last = n == STAND_IN[-1]
        bar, most = (STAND_IN_SECONDS, STAND_IN_MEMORY) if last else (None, None)
        yield Row(what, "seconds", mine, "", found["seconds"], bar, " s", at_most=True, note=note)
        yield Row(what, "memory beyond the rows", mine, "", found["memory"], most, " MB", 0, at_most=True)
        against = []
        if other is None:
            yield Row(what, "Algorithm 1", mine, "over 300 s")
        else:
            theirs = f"{other['seconds']:.1f} s, {other['accuracy']:.4f}"
            against.append(("Algorithm 1", theirs, other, None))
        if before is not None:
            against.append((f"{before['n']:,} rows", f"{before['accuracy']:.4f}", before, 0.0))
        for whom, cells, one, bar in against:
            points, error = susy_drawn.points_better(found, one)
            said = f"standard error {error:.2f}"
            yield Row(what, whom, mine, cells, points, bar, " points", 2, note=said)
        before = found
