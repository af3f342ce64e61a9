"""The installed command, run as people run it: in a process of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.pipeline import Pipeline

import sodm
from sodm.data import write_libsvm

SODM = Path(sys.executable).parent / "sodm"


def run(
    *arguments: object, code: int = 0, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess:
    assert SODM.exists(), f"{SODM} is not there: install the package with `pip install -e '.[test]'`"
    done = subprocess.run(
        [SODM, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "SODM_DATA": "", **environment},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data in two formats, and a model trained on one of them."""
    folder = tmp_path_factory.mktemp("cli")
    X, y = load_breast_cancer(return_X_y=True)
    write_libsvm(folder / "cancer.libsvm", X, y)
    data = load_iris()
    names = ["sepal length", "sepal width", "petal length", "petal width", "class"]
    rows = [
        ",".join([*map(repr, row), str(data.target_names[k])])
        for row, k in zip(data.data.tolist(), data.target, strict=True)
    ]
    (folder / "iris.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    bare = [",".join(map(repr, row)) for row in data.data.tolist()]
    (folder / "bare.csv").write_text("\n".join([",".join(names[:-1]), *bare]) + "\n")
    done = run("train", folder / "iris.csv", "--out", folder / "iris.sodm")
    assert done.stderr == ""  # named columns are nothing to warn of
    return folder


def test_train_says_what_it_did_and_the_model_is_good(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.sodm"
    done = run("train", files / "cancer.libsvm", "--kernel", "rbf", "--out", out)
    for word in (
        "ODMClassifier (exact",
        "rows",
        "features",
        "classes",
        "gap",
        "support vectors",
        "train accuracy",
        "validation accuracy",
        "seconds",
        "peak memory",
    ):
        assert word in done.stdout
    assert "\x1b" not in done.stdout and done.stderr == ""  # no colours, no bars where there is no terminal
    X, y = load_breast_cancer(return_X_y=True)
    assert sodm.load(out).score(X, y) > 0.95


def test_train_json_is_one_object_with_everything(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.sodm"
    done = run(
        "train",
        files / "cancer.libsvm",
        "--out",
        out,
        "--json",
        "--threads",
        "1",
        "--memory",
        "100MB",
        "--cache",
    )
    facts = json.loads(done.stdout)
    assert facts["rows"] == 569 and facts["validation_rows"] == 113 and facts["features"] == 30
    assert facts["classes"] == {"0": 212, "1": 357} and facts["trained_on"].startswith("all 569 rows")
    assert facts["gap"] <= 1e-3
    assert facts["validation_accuracy"] > 0.93 and facts["peak_memory_mb"] > 0
    assert (files / "cancer.libsvm.sodm-cache.npz").exists()
    all_rows = json.loads(
        run("train", files / "cancer.libsvm", "-o", out, "--json", "--validation", "0").stdout
    )
    assert all_rows["rows"] == 569 and all_rows["validation_accuracy"] is None
    other = json.loads(
        run(
            "train", files / "cancer.libsvm", "-o", out, "--json", "--validation", files / "cancer.libsvm"
        ).stdout
    )
    assert other["validation_rows"] == 569


@pytest.mark.slow
def test_the_same_seed_gives_the_same_model(files: Path, tmp_path: Path) -> None:
    for name, threads in (("a", "1"), ("b", "2")):
        run(
            "train", files / "cancer.libsvm", "-o", tmp_path / name, "-q", "--seed", "5", "--threads", threads
        )
    a, b = (sodm.load(tmp_path / name) for name in "ab")
    X, _ = load_breast_cancer(return_X_y=True)
    assert np.array_equal(a.decision_function(X), b.decision_function(X))


@pytest.mark.parametrize(
    "scale",
    ["minmax", *(pytest.param(scale, marks=pytest.mark.slow) for scale in ("standard", "maxabs", "none"))],
)
def test_the_scaler_is_stored_and_applied(files: Path, tmp_path: Path, scale: str) -> None:
    out = tmp_path / "m.sodm"
    facts = json.loads(run("train", files / "iris.csv", "-o", out, "--scale", scale, "--json").stdout)
    evaluated = json.loads(run("evaluate", files / "iris.csv", out, "--json").stdout)
    assert evaluated["accuracy"] > 0.9 and (facts["scale"] == "none") == (scale == "none")


def test_labels_come_back_by_name(files: Path, tmp_path: Path) -> None:
    lines = run("predict", files / "iris.csv", files / "iris.sodm").stdout.split()
    assert len(lines) == 150 and set(lines) == {"setosa", "versicolor", "virginica"}
    bare = run(
        "predict", files / "bare.csv", files / "iris.sodm", "--out", tmp_path / "p", "--json", "--decision"
    )
    assert json.loads(bare.stdout)["rows"] == 150
    rows = [line.split() for line in (tmp_path / "p").read_text().splitlines()]
    assert [row[0] for row in rows] == lines and all(len(row) == 4 for row in rows)
    model = sodm.load(files / "iris.sodm")
    assert model.feature_names_in_.tolist()[0] == "sepal length"
    del model[0].feature_names_in_
    values = model.decision_function(load_iris().data)
    assert np.array_equal(np.array([row[1:] for row in rows], dtype=float), values)


def test_evaluate_counts(files: Path, tmp_path: Path) -> None:
    facts = json.loads(
        run(
            "evaluate", files / "iris.csv", files / "iris.sodm", "--json", "--plot", tmp_path / "m.svg"
        ).stdout
    )
    matrix = np.array(facts["confusion"])
    assert matrix.sum() == 150 and facts["errors"] == 150 - matrix.trace()
    assert facts["accuracy"] == pytest.approx(matrix.trace() / 150)
    assert "<svg" in (tmp_path / "m.svg").read_text()


def test_inspect_tells_and_draws(files: Path, tmp_path: Path) -> None:
    done = run("inspect", files / "iris.sodm", "--plot", tmp_path / "m.png")
    for word in ("ODMClassifier", "setosa", "sepal length", "minmax", "rbf"):
        assert word in done.stdout
    assert (tmp_path / "m.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert json.loads(run("inspect", files / "iris.sodm", "--json").stdout)["format"] == "sodm-model"


@pytest.mark.slow
def test_convert_every_way(files: Path, tmp_path: Path) -> None:
    run(
        "train",
        files / "cancer.libsvm",
        "-o",
        tmp_path / "m.sodm",
        "-q",
        "--scale",
        "none",
    )
    for name in ("m.model", "m.onnx", "m.pkl", "copy.sodm"):
        assert name in run("convert", tmp_path / "m.sodm", tmp_path / name).stdout
        assert (tmp_path / name).stat().st_size > 1000
    run("convert", tmp_path / "m.model", tmp_path / "back.sodm", "--features", 30)
    ours = run("predict", files / "cancer.libsvm", tmp_path / "m.sodm").stdout
    back = run("predict", files / "cancer.libsvm", tmp_path / "back.sodm").stdout
    assert ours == back
    assert (tmp_path / "copy.sodm").read_bytes() == (tmp_path / "m.sodm").read_bytes()
    assert "would run code" in run("convert", tmp_path / "m.pkl", tmp_path / "x.sodm", code=1).stderr


@pytest.mark.slow
def test_tune_prints_a_table_and_a_command_that_works(files: Path, tmp_path: Path) -> None:
    done = run("tune", files / "iris.csv")
    assert "validation accuracy" in done.stdout
    command = shlex.split(done.stdout.splitlines()[-1])
    assert command[:3] == ["sodm", "train", str(files / "iris.csv")]
    run(*command[1:], cwd=tmp_path)
    assert (tmp_path / "model.sodm").exists()
    facts = json.loads(run("tune", files / "cancer.libsvm", "--kernel", "linear", "--json").stdout)
    assert facts["best"]["accuracy"] > 0.93 and len(facts["trials"]) > 5
    assert facts["best"] == facts["trials"][0]
    out = tmp_path / "tuned.sodm"
    facts = json.loads(run("train", files / "cancer.libsvm", "--tune", "--out", out, "--json").stdout)
    assert facts["validation_accuracy"] > 0.93 and facts["chosen"].startswith("gamma")
    assert f"lam {facts['lam']:.4g}" in facts["chosen"]


@pytest.mark.slow
def test_a_search_goes_by_the_metric_and_its_command_keeps_what_was_given(files: Path) -> None:
    asked = ("--metric", "neg_log_loss", "--balanced", "--upsilon", "0.4", "--json")
    facts = json.loads(run("tune", files / "cancer.libsvm", *asked).stdout)
    assert facts["metric"] == "neg_log_loss" and -0.5 < facts["best"]["neg_log_loss"] < 0
    assert "--upsilon 0.4 --balanced" in facts["command"] and facts["cut"] is False
    unknown = run("tune", files / "iris.csv", "--metric", "acc", code=2).stderr
    assert "accuracy, average_precision" in unknown and "neg_mean_absolute_error" in unknown
    assert "not for classification" in run("tune", files / "iris.csv", "--metric", "r2", code=1).stderr
    assert "roc_auc_ovr does" in run("tune", files / "iris.csv", "--metric", "roc_auc", code=1).stderr
    assert "add --tune" in run("train", files / "iris.csv", "--metric", "f1", "-o", "x", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train"], "Missing"),
        (["fly"], "No such command"),
        (["train", "iris.csv", "--out", "m", "--kernel", "cubic"], "--kernel"),
        (["train", "iris.csv", "--out", "m", "--lam", "-1"], "lam must be"),
        (["train", "iris.csv", "--out", "m", "--lam", "much"], "'much' is neither auto nor a number"),
        (["train", "iris.csv", "--out", "m", "--gamma", "wide"], "--gamma"),
        (["train", "iris.csv", "--out", "m", "--memory", "lots"], "no size"),
        (["train", "iris.csv", "--out", "m", "--validation", "1.5"], "--validation"),
        (["train", "iris.csv", "--out", "m", "--encoding", "klingon"], "--encoding"),
    ],
)
def test_usage_errors_end_with_2(files: Path, arguments: list[str], says: str) -> None:
    done = run(*arguments, code=2, cwd=files)
    assert says in " ".join(done.stderr.replace("│", " ").split()) and "Traceback" not in done.stderr
    assert done.stdout == "" and not (files / "m").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["train", "absent", "--out", "m"],
            "absent is no file here, nor the name of a data set: those are gisette",
        ),
        (["train", "iris.csv", "--out", "no/such/m"], "make the folder"),
        (["train", "bare.csv", "--out", "m"], "--label NAME or --label NUMBER"),
        (["train", "bad", "--out", "m"], "bad, line 2, column 3"),
        (["train", "one", "--out", "m"], "the label column has the label 1 in every row"),
        (
            ["train", "gap.csv", "--label", "class", "--out", "m"],
            "gap.csv, line 3: the label in column 'class'",
        ),
        (["train", "alone.csv", "--label", "class", "--out", "m"], "there is no column to learn from"),
        (["predict", "iris.sodm", "iris.sodm"], "both models"),
        (["predict", "cancer.libsvm", "iris.sodm"], "beyond the 4 features"),
        (
            ["predict", "renamed.csv", "iris.sodm"],
            "no column 'sepal length', which the model needs; is it 'length'",
        ),
        (["evaluate", "cancer.libsvm", "iris.csv"], "no whole model file"),
        (["evaluate", "bare.csv", "iris.sodm"], "no column 'class', which had the labels at training"),
        (["inspect", "iris.sodm", "--plot", "m.gif"], ".png, .svg or .pdf"),
        (["convert", "iris.sodm", "m.what"], "--to"),
    ],
)
def test_other_errors_are_one_line_and_end_with_1(files: Path, arguments: list[str], says: str) -> None:
    (files / "bad").write_text("1 1:1\n1 x\n")
    (files / "one").write_text("1 1:1\n1 1:2\n")
    (files / "alone.csv").write_text("class\nx\ny\n")
    (files / "gap.csv").write_text("kind,class\na,x\nb,\na,y\n")
    (files / "renamed.csv").write_text((files / "iris.csv").read_text().replace("sepal length", "length", 1))
    done = run(*arguments, code=1, cwd=files)
    assert says in done.stderr and done.stderr.count("\n") == 1 and done.stderr.startswith("sodm: ")
    assert not (files / "m").exists()


def test_debug_shows_where(files: Path) -> None:
    done = run("train", "absent", "--out", "m", "--debug", code=1, cwd=files)
    assert "Traceback" in done.stderr


@pytest.mark.slow
def test_under_a_time_limit_there_is_a_model_and_it_says_how_far_it_came(tmp_path: Path) -> None:
    X, y = make_moons(12_500, noise=0.3, random_state=0)
    write_libsvm(tmp_path / "moons", X, y)
    out = tmp_path / "m.sodm"
    data = ("train", tmp_path / "moons", "-o", out, "--validation", "0", "--json")
    short = json.loads(run(*data, "--time-limit", "0.001").stdout)
    assert short["machine"].startswith("SODMClassifier (exact if the time allows")
    assert short["stopped_by"] == "time limit" and short["train_accuracy"] > 0.85
    assert json.loads(run("evaluate", tmp_path / "moons", out, "--json").stdout)["accuracy"] > 0.85
    # With time enough it is the exact machine.
    facts = json.loads(run(*data, "--time-limit", "600").stdout)
    assert facts["stopped_by"] == "exact" and facts["gap"] <= 1e-3
    linear = run(*data, "--time-limit", "0.001", "--kernel", "linear", "--loss", "hinge", "--tol", "1e-12")
    assert (
        "Raise --time-limit or --tol" in linear.stderr and json.loads(linear.stdout)["train_accuracy"] > 0.75
    )


def test_the_exact_machine_asked_for_by_name_has_nothing_to_show_before_it_is_done(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    write_libsvm(tmp_path / "slow", rng.normal(size=(6000, 40)), rng.integers(0, 2, 6000))
    out = tmp_path / "m.sodm"
    options = ("--machine", "exact", "--time-limit", "0.05", "--tol", "1e-9")
    done = run("train", tmp_path / "slow", "-o", out, *options, code=1)
    assert "leave out --machine exact" in done.stderr and not out.exists()


def test_warnings_are_lines_too(files: Path, tmp_path: Path) -> None:
    too_few = ["--max-iter", "1", "--tol", "1e-15"]
    done = run("train", files / "cancer.libsvm", "-o", tmp_path / "m", "-q", *too_few)
    assert (
        done.stderr.startswith("sodm: warning: ODMClassifier stopped after") and done.stderr.count("\n") == 1
    )


@pytest.mark.slow
def test_sparse_rows_stay_sparse(tmp_path: Path) -> None:
    """Rows of 300,000 features are never made dense; where scaling would have to, it says so."""
    rng = np.random.default_rng(0)
    lines = [
        f"{i % 2} "
        + " ".join(f"{j}:{rng.random() + i % 2!r}" for j in sorted(rng.choice(300_000, 5, False) + 1))
        + f" 300001:{i % 2 + 0.5}\n"
        for i in range(400)
    ]
    (tmp_path / "wide").write_text("".join(lines))
    facts = json.loads(
        run("train", tmp_path / "wide", "-o", tmp_path / "m", "--json", "--kernel", "linear").stdout
    )
    assert facts["scale"] == "MaxAbsScaler" and facts["peak_memory_mb"] < 700
    run("predict", tmp_path / "wide", tmp_path / "m")
    done = run("train", tmp_path / "wide", "-o", tmp_path / "m", "--scale", "standard", code=1)
    assert "--scale maxabs" in done.stderr


def test_the_scalable_machine(files: Path, tmp_path: Path) -> None:
    out, kept = tmp_path / "m.sodm", tmp_path / "state"
    options = ["--machine", "scalable", "--checkpoint", kept, "--time-limit", "100", "--json"]
    facts = json.loads(run("train", files / "cancer.libsvm", "-o", out, *options).stdout)
    assert facts["machine"].startswith("SODMClassifier (scalable") and facts["level"] >= 0
    assert facts["validation_accuracy"] > 0.93 and kept.is_dir() and any(kept.iterdir())
    assert json.loads(run("evaluate", files / "cancer.libsvm", out, "--json").stdout)["accuracy"] > 0.93


def test_the_machine_is_chosen_by_size() -> None:
    from sodm.cli.machine import SCALABLE_FROM, make_machine

    names = [
        type(make_machine({"kernel": kernel, "time_limit": limit}, which, rows)).__name__
        for kernel, which, rows, limit in [
            ("rbf", "auto", SCALABLE_FROM - 1, None),
            ("rbf", "auto", SCALABLE_FROM - 1, 1.0),
            ("rbf", "auto", SCALABLE_FROM, 1.0),
            ("rbf", "exact", SCALABLE_FROM, 1.0),
            ("linear", "auto", SCALABLE_FROM, 1.0),
            ("linear", "exact", 10, 1.0),
        ]
    ]
    assert names == [
        "ODMClassifier",
        "SODMClassifier",
        "SODMClassifier",
        "ODMClassifier",
        "LinearODMClassifier",
        "ODMClassifier",
    ]


@pytest.mark.slow
def test_the_linear_kernel_has_a_machine_of_its_own(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.sodm"
    facts = json.loads(
        run("train", files / "cancer.libsvm", "-o", out, "--kernel", "linear", "--json").stdout
    )
    assert facts["machine"].startswith("LinearODMClassifier (linear kernel")
    model = sodm.load(out)
    assert facts["lam"] == (model[-1] if isinstance(model, Pipeline) else model).lam_
    assert facts["validation_accuracy"] > 0.93 and facts["support_vectors"] is None
    assert json.loads(run("evaluate", files / "cancer.libsvm", out, "--json").stdout)["accuracy"] > 0.93
    assert "LinearODMClassifier" in run("inspect", out, "--plot", tmp_path / "m.svg").stdout
    run("convert", out, tmp_path / "m.onnx")


def test_version_and_help() -> None:
    assert run("--version").stdout == f"sodm {sodm.__version__}\n"
    listed = run("--help").stdout
    for command in ("train", "predict", "evaluate", "tune", "inspect", "convert", "demo"):
        assert command in listed
    options = run("train", "--help", COLUMNS="200").stdout
    for option in ("--kernel", "--scale", "--time-limit", "--memory", "--threads", "--seed", "--json"):
        assert option in options


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ImportError('no typer here', name='typer')\n")
    done = run("--version", code=1, PYTHONPATH=str(tmp_path))
    assert done.stderr == "sodm: the command line needs more packages: run `pip install 'sodm[cli]'`.\n"


def test_ctrl_c_ends_with_one_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    write_libsvm(tmp_path / "slow", rng.normal(size=(6000, 40)), rng.integers(0, 2, 6000))
    running = subprocess.Popen(
        [SODM, "tune", tmp_path / "slow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None and "settings on" in running.stderr.readline()  # the search has begun
    running.send_signal(signal.SIGINT)
    out, said = running.communicate(timeout=60)
    assert running.returncode == 130 and out == ""
    assert said.splitlines()[-1].startswith("sodm: interrupted") and "Traceback" not in said
