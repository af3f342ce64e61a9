"""The installed command on tables as people keep them: gaps, categories, flags, other columns, marks."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_cli import run

import sodm

pytestmark = pytest.mark.slow  # each call of the command takes seconds

COLUMNS = ["id", "survived", "cls", "name", "sex", "age", "fare", "deck", "port", "alone"]


@pytest.fixture(scope="module")
def ship(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with nearly everything in it, and a model that was trained on it."""
    folder = tmp_path_factory.mktemp("ship")
    rng = np.random.default_rng(1)
    with open(folder / "ship.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for i in range(300):
            sex, age, alone = rng.choice(["male", "female"]), rng.normal(30, 12), rng.random() < 0.5
            told = 2 * (sex == "female") - 0.03 * age + 0.3 * alone + rng.normal(0, 0.3)
            deck, port = rng.choice(["A", "B", "C", "", "NA"]), rng.choice(["S", "C"])
            age_text = "" if rng.random() < 0.2 else f"{age:.1f}"
            port = {0: "", 1: "Oslo", 2: "Bergen"}.get(i, port)
            writer.writerow(
                (
                    *(i + 1, "yes" if told > 0.3 else "no", rng.integers(1, 4), f"Name, {i}"),
                    *(sex, age_text, f"{rng.lognormal(3):.2f}", deck, port, alone),
                )
            )
    done = run(
        "train",
        "ship.csv",
        "--label",
        "survived",
        "--category",
        "cls",
        "-o",
        "ship.sodm",
        "--json",
        cwd=folder,
    )
    (folder / "trained.json").write_text(done.stdout)
    assert "'name' was left aside: text that hardly repeats" in done.stderr
    assert "'id' counts the rows" in done.stderr
    return folder


def test_what_was_done_is_said_and_stored(ship: Path) -> None:
    facts = json.loads((ship / "trained.json").read_text())
    table = pd.read_csv(ship / "ship.csv")
    assert facts["filled_in"] == {
        "age": int(table.age.isna().sum()),
        "deck": int(table.deck.isna().sum()),
        "port": 1,
    }
    assert facts["categories"] == {"cls": 3, "sex": 2, "deck": 4, "port": 5}
    assert facts["rare_categories"] == {"port": 3}  # Oslo, Bergen and none
    assert facts["trained_on"].startswith("all 300 rows") and facts["validation_accuracy"] > 0.8
    shown = run("inspect", ship / "ship.sodm").stdout
    for words in ("missing values become the median", "sex = female, male", "one of 3 rare ones", "survived"):
        assert words in shown


def test_the_model_knows_its_columns(ship: Path) -> None:
    """By name, in another order, with others among them; the label too. Python and the command agree."""
    table = pd.read_csv(ship / "ship.csv", dtype={"cls": str}, keep_default_na=True)
    shuffled = table[COLUMNS[::-1]].assign(more="x")
    shuffled.to_csv(ship / "shuffled.csv", index=False)
    done = run("evaluate", "ship.sodm", "shuffled.csv", "--json", cwd=ship)  # the model first
    assert "left aside columns that the model does not take: 'name', 'more'" in done.stderr
    facts = json.loads(done.stdout)
    assert facts["rows"] == 300 and facts["accuracy"] > 0.85
    done = run("predict", "shuffled.csv", "ship.sodm", "--json", "--decision", cwd=ship)
    assert "'survived'" in done.stderr  # the label is not needed
    predicted = json.loads(done.stdout)
    model = sodm.load(ship / "ship.sodm")
    assert np.array_equal(predicted["decision"], model.decision_function(shuffled))
    assert predicted["labels"] == model.predict(table).tolist()


def test_new_categories_and_gaps_are_no_error_and_lost_columns_are(ship: Path) -> None:
    table = pd.read_csv(ship / "ship.csv", dtype=str).head(20)
    table.assign(deck="Z", fare=np.nan).to_csv(ship / "new.csv", index=False)
    done = run("predict", "new.csv", "ship.sodm", cwd=ship)
    assert len(done.stdout.split()) == 20 and "'deck' has 'Z', unseen at training" in done.stderr
    table.drop(columns=["fare"]).to_csv(ship / "lost.csv", index=False)
    assert (
        "no column 'fare', which the model needs"
        in run("predict", "lost.csv", "ship.sodm", code=1, cwd=ship).stderr
    )


def test_columns_without_names_that_are_too_few_want_names(ship: Path) -> None:
    (ship / "bare.csv").write_text("1,2\n3,4\n")
    done = run("predict", "ship.sodm", "bare.csv", cwd=ship, code=1)
    assert (
        "no names to find them by: put the names of its columns into a first line, among them" in done.stderr
    )


def test_other_marks_and_encodings(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["größe;geschlecht;klasse\n"]
    for i in range(60):
        sex = rng.choice(["männlich", "weiblich"])
        lines.append(f"{1 + i % 2 + rng.random() / 2:.2f};{sex};{'ä' if i % 2 else 'b'}\n".replace(".", ","))
    path = tmp_path / "german.csv"
    path.write_text("".join(lines), encoding="latin-1")
    options = ["--label", "klasse", "--encoding", "latin-1"]
    asked = run("train", path, *options, "-o", tmp_path / "m", code=1).stderr
    assert "decimal commas" in asked and "--decimal ," in asked
    run("train", path, *options, "--decimal", ",", "-o", tmp_path / "m", "-q")
    facts = json.loads(run("evaluate", path, tmp_path / "m", "--json").stdout)  # it knows how to read it
    assert facts["accuracy"] == 1.0 and [entry["class"] for entry in facts["per_class"]] == ["b", "ä"]


def test_formats_without_a_place_for_the_preparation_say_so(ship: Path) -> None:
    for target in ("ship.onnx", "ship.model"):
        said = run("convert", "ship.sodm", target, code=1, cwd=ship).stderr
        assert "turns categories into numbers" in said and "model[-1]" not in said
        assert not (ship / target).exists()


def test_rare_classes_get_a_hint_and_measures_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = (np.arange(400) % 20 == 0).astype(int)
    X = rng.normal(size=(400, 2)) + 1.2 * y[:, None]
    pd.DataFrame(X, columns=["a", "b"]).assign(y=y).to_csv(tmp_path / "rare.csv", index=False)
    done = run("train", "rare.csv", "-o", "m", cwd=tmp_path)
    assert "class 1 is 5.0% of the rows" in done.stderr and "--balanced" in done.stderr
    done = run("evaluate", "rare.csv", "m", "--plot", "m.svg", cwd=tmp_path)
    for word in ("balanced accuracy", "macro f1", "roc auc", "ROC AUC", "confusion"):
        assert word in done.stdout
    assert "--balanced" in done.stderr and "<svg" in (tmp_path / "m.svg").read_text()


def test_names_that_are_numbers_are_known_by_the_label_and_by_the_model(tmp_path: Path) -> None:
    """Years, or a column called nan: the first line has names all the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(3)
    table = pd.DataFrame(
        {"2019": X[:, 0], "nan": X[:, 1], "class": np.where(X.sum(axis=1) > 0, "up", "down")}
    )
    table.to_csv(tmp_path / "years.csv", index=False)
    run("train", "years.csv", "--label", "class", "-o", "m.sodm", "--quiet", cwd=tmp_path)
    table[["nan", "2019"]].to_csv(tmp_path / "new.csv", index=False)  # in another order, without the label
    told = run("predict", "new.csv", "m.sodm", "--json", cwd=tmp_path)
    known = run("predict", "years.csv", "m.sodm", "--json", cwd=tmp_path)
    assert json.loads(told.stdout)["labels"] == json.loads(known.stdout)["labels"]
    assert len(json.loads(told.stdout)["labels"]) == 60
