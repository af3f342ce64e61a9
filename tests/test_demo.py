"""`sodm demo`: the table, and the page as a browser sees it."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from browser import Browser
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import SVC

from sodm import ODMClassifier, SODMClassifier
from sodm.demo import contest
from sodm.demo.data import spirals, waves
from sodm.demo.strata import make_strata
from sodm.demo.table import COLUMNS, best_cells, cells

MACHINES = [
    "ODMClassifier",
    "SODMClassifier",
    "CascadeClassifier",
    "DiPClassifier",
    "DCClassifier",
    "SVC",
    *(["SVC (oneDAL)"] if find_spec("sklearnex") else []),
    "boosting",
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The page of a small run, and what the run printed."""
    path = tmp_path_factory.mktemp("demo") / "demo.html"
    command = [Path(sys.executable).parent / "sodm", "demo", "--rows", "1200", "--seed", "3", "--out", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path, done.stdout


def printed_table(text: str) -> dict[str, list[str]]:
    lines = (re.split(r" {2,}", line.strip()) for line in text.splitlines())
    return {words[0]: words[1:] for words in lines if words[0] in MACHINES and len(words) == len(COLUMNS)}


def test_every_machine_is_in_the_printed_table(demo: tuple[Path, str]) -> None:
    table = printed_table(demo[1])
    assert list(table) == MACHINES
    assert table["boosting"][2:] == ["–"] * 4  # no kernel: neither support vectors nor margins
    for name, (accuracy, seconds, support, gap, _, variance) in table.items():
        assert 70 < float(accuracy.rstrip("%")) <= 100
        if name == "boosting":
            continue
        assert float(seconds) >= 0 and 0 < int(support.replace(",", "")) <= 900 and float(variance) > 0
        assert gap == "–" or float(gap.lstrip("≈ ")) <= 1e-3  # one part at this size: all are exact


def test_the_page_is_one_file_that_asks_for_nothing(demo: tuple[Path, str]) -> None:
    page = demo[0].read_text()
    assert demo[0].stat().st_size < 6e6
    (library,) = (script for script in re.findall(r"<script>(.*?)</script>", page, re.S) if len(script) > 1e6)
    own = page.replace(library, "")
    assert "http" not in own and "{{" not in own
    assert not re.search(r"<(?:script|img|iframe)[^>]+src=|@import|url\(", own)


def test_a_browser_draws_the_page(demo: tuple[Path, str], tmp_path: Path) -> None:
    with Browser() as page:
        page.open(demo[0])
        assert page.complaints() == []
        for figure, traces in (("accuracy", len(MACHINES)), ("margins", len(MACHINES) - 1), ("strata", 3)):
            assert page.count(f"#{figure} svg .scatterlayer .trace") == traces
        # All rows in the plane are points of the picture.
        assert page.count("#strata .scatterlayer .trace path.point") == 2_400 + 12
        rows = page.run("[...document.querySelectorAll('#machines tbody tr')].map(r => r.innerText)")
        shown = {words[0]: words[1:] for words in ([*map(str.strip, row.split("\t"))] for row in rows)}
        assert shown == printed_table(demo[1])
        assert page.count("#machines td.best") >= 3

        # Light and dark: text stands out from the page, in the figures too.
        for scheme, is_dark in (("light", False), ("dark", True)):
            page.prefer(scheme)  # type: ignore[arg-type]
            background = brightness(page.run("getComputedStyle(document.body).backgroundColor"))
            assert (background < 60) == is_dark
            title = "document.querySelector('#accuracy .xtitle')"
            page.wait_until(
                f"{title} && getComputedStyle({title}).fill === getComputedStyle(document.body).color"
            )
            text = brightness(page.run("getComputedStyle(document.body).color"))
            assert abs(text - background) > 120
        # A click on a name hides its line.
        page.click("#margins .legendtoggle")
        page.wait_until(
            f"document.querySelectorAll('#margins .scatterlayer .trace').length === {len(MACHINES) - 2}"
        )
        page.resize(400, 800)
        page.wait_until("document.documentElement.scrollWidth <= 400")
        assert page.complaints() == []


def brightness(colour: str) -> float:
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


def test_what_the_page_says_is_what_was_measured(demo: tuple[Path, str]) -> None:
    page = unescape(demo[0].read_text())
    for line in demo[1].splitlines():
        if line.startswith(("Two classes", "Highest accuracy")):
            assert line in page
    assert "900 rows to learn from, 300 to test on" in page and "seed 3" in page


def test_time_spent_on_looking_is_not_the_machines() -> None:
    data = waves(1_200, seed=0)
    tree = contest.measure("SODM", SODMClassifier(n_partitions=4, random_state=0, stop_tol=0), data)
    assert [level.parts for level in tree.levels] == [4, 2]
    assert tree.gap_is_estimate is True and tree.accuracy == tree.levels[-1].accuracy
    looked = contest.measure("ODM", ODMClassifier(random_state=0), data)
    assert looked.levels == [] and looked.gap is not None and not looked.gap_is_estimate
    svc = contest.measure("SVC", SVC(), data)
    assert svc.gap is None and cells(svc)[4] == "–"
    assert best_cells([looked, svc, tree]) >= {
        (int(np.argmax([looked.accuracy, svc.accuracy, tree.accuracy])), 1)
    }


def test_both_sides_are_tuned_alike_and_on_training_rows_only() -> None:
    data = waves(800, seed=0)
    spoiled = data._replace(X_test=data.X_test * np.nan)  # would be refused if it were looked at
    ours = contest.tune(ODMClassifier(random_state=0), {"lam": (100.0, 1000.0)}, spoiled, seed=0)
    theirs = contest.tune(SVC(), {"C": (1.0, 10.0)}, spoiled, seed=0)
    assert ours.tried == theirs.tried == 2 * len(contest.GAMMA_FACTORS)
    boosting = contest.tune(HistGradientBoostingClassifier(), {"max_leaf_nodes": (3, 7)}, spoiled, seed=0)
    assert boosting.tried == 2 and type(boosting.for_rows(4_000)["max_leaf_nodes"]) is int
    assert len(contest.ODM_GRID["lam"]) == len(contest.SVC_GRID["C"])
    # A row's loss keeps its weight: lam / rows, and C.
    assert ours.for_rows(4_000)["lam"] == pytest.approx(ours.settings["lam"] * 4_000 / 400)
    assert theirs.for_rows(4_000) == theirs.settings


def test_the_partitions_in_the_picture_look_like_the_whole() -> None:
    drawn = make_strata(seed=0)
    assert len(np.unique(drawn.stratum)) == len(drawn.landmarks) == 12
    counts = np.array([np.bincount(drawn.stratum[drawn.partition == k], minlength=12) for k in range(8)])
    shares = counts / counts.sum(axis=1, keepdims=True)
    assert 0 < drawn.difference() < 0.01
    assert np.abs(shares - np.bincount(drawn.stratum) / len(drawn.X)).max() <= drawn.difference() + 1e-12
    X, y = spirals(500, seed=1)
    assert X.shape == (500, 2) and X.min() == 0 and X.max() == 1 and set(y) == {0, 1}


def test_without_plotly_it_says_what_to_install_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "plotly.py").write_text("raise ImportError('no plotly here')\n")
    command = [Path(sys.executable).parent / "sodm", "demo", "--out", tmp_path / "demo.html"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (
        "sodm: the demo's page is drawn with plotly, which is not installed: run "
        "`pip install 'sodm[demo]'`.\n"
    )
