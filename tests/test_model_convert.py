"""Converted machines score as ours do: by svm-predict, by onnxruntime, by pickle, and back from LIBSVM."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import SVC

import sodm
from sodm import LinearODMClassifier, ODMClassifier
from sodm.data import write_libsvm
from sodm.model import ModelFileError, from_libsvm, to_libsvm, to_onnx, to_pickle

KERNELS: list[dict[str, Any]] = [
    {"kernel": "rbf"},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.1},
]
IDS = [parameters["kernel"] for parameters in KERNELS]
X, Y = make_classification(300, 8, n_informative=5, random_state=0)
IRIS, IRIS_Y = load_iris(return_X_y=True)
pytestmark = pytest.mark.filterwarnings("ignore:The kernel matrix is not positive")


@pytest.fixture
def svm_tools() -> None:
    if shutil.which("svm-predict") is None:
        pytest.skip("svm-predict is not installed (Debian: apt-get install libsvm-tools)")


def svm_predict(folder: Path, rows: Any, model: Path) -> list[int]:
    write_libsvm(folder / "queries", rows, np.zeros(rows.shape[0], dtype=int))
    command = ["svm-predict", folder / "queries", model, folder / "predictions"]
    subprocess.run(command, check=True, capture_output=True)
    return [int(float(line)) for line in (folder / "predictions").read_text().split()]


# ------------------------------------------------------------------------------------------------ LIBSVM


@pytest.mark.usefixtures("svm_tools")
@pytest.mark.parametrize("parameters", KERNELS, ids=IDS)
@pytest.mark.parametrize("intercept", [False, True])
def test_svm_predict_scores_our_machines(tmp_path: Path, parameters: dict, intercept: bool) -> None:
    machine = ODMClassifier(**parameters, fit_intercept=intercept).fit(X[:200], Y[:200])
    labels = to_libsvm(machine, tmp_path / "m.model")
    assert labels == {0: 0, 1: 1}
    clear = np.abs(machine.decision_function(X)) > 1e-4
    assert clear.sum() > 290
    predicted = np.array(svm_predict(tmp_path, X, tmp_path / "m.model"))
    assert np.array_equal(predicted[clear], machine.predict(X)[clear])


@pytest.mark.usefixtures("svm_tools")
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("parameters", KERNELS, ids=IDS)
def test_svm_predict_scores_several_classes(tmp_path: Path, parameters: dict, multi_class: Any) -> None:
    machine = ODMClassifier(**parameters, fit_intercept=True, multi_class=multi_class).fit(
        IRIS[::2], np.array([7, -2, 5])[IRIS_Y[::2]]
    )
    to_libsvm(machine, tmp_path / "m.model")
    values = np.sort(machine.decision_function(IRIS), axis=1)
    # Where votes are equal LIBSVM takes the first class.
    clear = values[:, -1] - values[:, -2] > (1e-4 if multi_class == "ovr" else 1 / 3)
    assert clear.sum() > 140
    predicted = np.array(svm_predict(tmp_path, IRIS, tmp_path / "m.model"))
    assert np.array_equal(predicted[clear], machine.predict(IRIS)[clear])


@pytest.mark.usefixtures("svm_tools")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_linear_machine_everywhere(tmp_path: Path, n_classes: int) -> None:
    rows, y = (X, Y) if n_classes == 2 else (IRIS, IRIS_Y)
    machine = LinearODMClassifier().fit(rows, y)
    values = machine.decision_function(rows)
    ordered = np.sort(values, axis=-1)
    clear = np.abs(values) > 1e-9 if n_classes == 2 else ordered[:, -1] - ordered[:, -2] > 1e-9
    to_libsvm(machine, tmp_path / "m.model")
    assert np.array_equal(
        np.array(svm_predict(tmp_path, rows, tmp_path / "m.model"))[clear], machine.predict(rows)[clear]
    )
    to_onnx(machine, tmp_path / "m.onnx", dtype="float64")
    assert np.allclose(run_onnx(tmp_path / "m.onnx", rows, "float64")[1], values, atol=1e-9)
    to_pickle(machine, tmp_path / "m.pkl")
    again = pickle.loads((tmp_path / "m.pkl").read_bytes())
    assert np.array_equal(again.decision_function(rows), values)


@pytest.mark.usefixtures("svm_tools")
@pytest.mark.parametrize("scaler", [MinMaxScaler(), MinMaxScaler((-1, 1)), StandardScaler()], ids=str)
def test_svm_scale_scales_as_our_scaler(tmp_path: Path, scaler: Any) -> None:
    model = make_pipeline(scaler, ODMClassifier()).fit(X[:200], Y[:200])
    to_libsvm(model, tmp_path / "m.model")
    write_libsvm(tmp_path / "raw", X, np.zeros(len(X), dtype=int))
    scaled = subprocess.run(
        ["svm-scale", "-r", tmp_path / "m.model.range", tmp_path / "raw"], check=True, capture_output=True
    ).stdout
    (tmp_path / "scaled").write_bytes(scaled)
    subprocess.run(
        ["svm-predict", tmp_path / "scaled", tmp_path / "m.model", tmp_path / "out"],
        check=True,
        capture_output=True,
    )
    predicted = np.array([int(float(v)) for v in (tmp_path / "out").read_text().split()])
    clear = np.abs(model.decision_function(X)) > 1e-3  # svm-scale prints six digits
    assert np.array_equal(predicted[clear], model.predict(X)[clear]) and clear.sum() > 290


@pytest.mark.usefixtures("svm_tools")
@pytest.mark.parametrize(
    "options", ["-t 2 -g 0.1", "-t 0", "-t 1 -d 2 -r 1 -g 0.2", "-t 3 -g 0.02", "-s 1 -n 0.3"]
)
@pytest.mark.parametrize("labels", [(0, 1), (1, -1), (-5, 9)])
def test_models_of_svm_train_are_read(tmp_path: Path, options: str, labels: tuple[int, int]) -> None:
    y = np.array(labels)[Y]
    write_libsvm(tmp_path / "train", X[:200], y[:200])
    command = ["svm-train", "-q", *options.split(), tmp_path / "train", tmp_path / "m.model"]
    subprocess.run(command, check=True, capture_output=True)
    machine = from_libsvm(tmp_path / "m.model", n_features=8)
    predicted = svm_predict(tmp_path, X, tmp_path / "m.model")
    clear = np.abs(machine.decision_function(X)) > 1e-6
    assert np.array_equal(machine.predict(X)[clear], np.array(predicted)[clear]) and clear.sum() > 290


@pytest.mark.parametrize("parameters", KERNELS, ids=IDS)
def test_out_and_back(tmp_path: Path, parameters: dict) -> None:
    machine = ODMClassifier(**parameters, fit_intercept=True, precision="double").fit(X, Y)
    to_libsvm(machine, tmp_path / "m.model")
    back = from_libsvm(tmp_path / "m.model", n_features=8)
    assert np.allclose(back.decision_function(X), machine.decision_function(X), rtol=1e-10, atol=1e-10)
    sodm.save(back, tmp_path / "m.sodm")
    assert np.array_equal(sodm.load(tmp_path / "m.sodm").decision_function(X), back.decision_function(X))


def test_names_are_numbered(tmp_path: Path) -> None:
    machine = ODMClassifier().fit(IRIS, np.array(["a", "b", "c"])[IRIS_Y])
    assert to_libsvm(machine, tmp_path / "m.model") == {0: "a", 1: "b", 2: "c"}


def test_what_libsvm_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="laplacian"):
        to_libsvm(ODMClassifier(kernel="laplacian").fit(X, Y), tmp_path / "m")
    clipped = make_pipeline(MinMaxScaler(clip=True), ODMClassifier()).fit(X, Y)
    with pytest.raises(ValueError, match="clip"):
        to_libsvm(clipped, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("svm_tools")
@pytest.mark.parametrize("kernel", [0, 2], ids=["linear", "rbf"])
def test_libsvm_models_of_several_classes_are_read(tmp_path: Path, kernel: int) -> None:
    """LIBSVM's own model, its labels in the order in which they come: its pairs vote as before."""
    y = np.array([5, -2, 7])[IRIS_Y]
    order = np.random.default_rng(0).permutation(len(y))
    lines = [f"{y[i]} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(IRIS[i].tolist())) for i in order]
    (tmp_path / "rows").write_text("\n".join(lines) + "\n")
    command = ["svm-train", "-q", "-t", str(kernel), "-g", "0.5", "rows", "m.model"]
    subprocess.run(command, cwd=tmp_path, check=True)
    machine = from_libsvm(tmp_path / "m.model", n_features=4)
    theirs = SVC(kernel=("linear", "poly", "rbf")[kernel], gamma=0.5, decision_function_shape="ovo")
    theirs.fit(IRIS, y)
    machine.decision_function_shape = "ovo"
    assert np.abs(machine.decision_function(IRIS) - theirs.decision_function(IRIS)).max() < 0.02
    predicted = np.array(svm_predict(tmp_path, IRIS, tmp_path / "m.model"))
    assert np.mean(predicted == machine.predict(IRIS)) > 0.99
    sodm.save(machine, tmp_path / "m.sodm")
    assert np.array_equal(sodm.load(tmp_path / "m.sodm").predict(IRIS), machine.predict(IRIS))
    to_libsvm(machine, tmp_path / "again.model")
    again = from_libsvm(tmp_path / "again.model", n_features=4)
    again.decision_function_shape = "ovo"
    assert np.allclose(again.decision_function(IRIS), machine.decision_function(IRIS), atol=1e-12)


def test_libsvm_pairs_that_do_not_fit(tmp_path: Path) -> None:
    text = (
        "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho 0 0 0\nlabel 1 2 3\n"
        "nr_sv 1 1 1\nSV\n1 1 1:1 \n-1 1 1:2 \n-1 -1 1:3 \n"
    )
    path = tmp_path / "m.model"
    path.write_text(text)
    machine = from_libsvm(path)
    machine.decision_function_shape = "ovo"
    assert machine.decision_function([[1.0]]).tolist() == [[-1.0, -2.0, -1.0]]
    for old, new, says in (
        ("nr_sv 1 1 1", "nr_sv 1 1", "nr_sv"),
        ("nr_sv 1 1 1", "nr_sv 2 2 -1", "nr_sv"),
        ("rho 0 0 0", "rho 0", "classes"),
        ("-1 1 1:2", "-1 1:2", "line|number"),
        ("-1 1 1:2", "x 1 1:2", "number"),
    ):
        path.write_text(text.replace(old, new))
        with pytest.raises(ModelFileError, match=says):
            from_libsvm(path)


GOOD = (
    "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nlabel 1 0\nnr_sv 1 0\nSV\n1.5 1:2 \n"
)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("svm_type c_svc", "svm_type one_class", "not that of a classifier"),
        ("svm_type", "solver_type", "no LIBSVM model"),
        ("linear", "precomputed", "precomputed"),
        ("nr_class 2", "nr_class 3", "classes"),
        ("label 1 0", "label 1 1", "classes"),
        ("rho 0", "rho x", "not whole"),
        ("rho 0", "rho nan", "no sense"),
        ("total_sv 1", "total_sv 2", "there are 1"),
        ("1:2", "0:2", "line 9, column 5"),
        ("1.5", "x", "no number"),
        ("1.5", "inf", "not finite"),
        ("SV\n1.5 1:2 \n", "", "no LIBSVM model"),
    ],
)
def test_libsvm_files_that_do_not_do(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "m.model"
    path.write_text(GOOD)
    assert from_libsvm(path).decision_function([[2.0]]).tolist() == [6.0]
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(ModelFileError, match=says):
        from_libsvm(path)


# -------------------------------------------------------------------------------------------------- ONNX


def run_onnx(path: Path, rows: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    label, decision = session.run(["label", "decision"], {"X": rows.astype(dtype)})
    return label, decision


@pytest.mark.parametrize("parameters", KERNELS, ids=IDS)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-12)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_onnx_decides_as_we_do(
    tmp_path: Path, parameters: dict, dtype: Any, tolerance: float, n_classes: int
) -> None:
    rows, y = (X, Y) if n_classes == 2 else (IRIS, IRIS_Y)
    y = np.array(["one", "two", "drei"])[y]
    machine = ODMClassifier(**parameters, fit_intercept=True, precision="double")
    model = make_pipeline(MinMaxScaler(), machine).fit(rows, y)
    to_onnx(model, tmp_path / "m.onnx", dtype=dtype)
    label, decision = run_onnx(tmp_path / "m.onnx", rows, dtype)
    ours = model.decision_function(rows)
    scale = np.abs(machine.dual_coef_).sum() + 1
    assert decision.shape == ours.shape and np.abs(decision - ours).max() <= tolerance * scale
    ordered = np.sort(np.atleast_2d(ours.T).T, axis=1)
    clear = np.abs(ours) > 1e-2 if n_classes == 2 else ordered[:, -1] - ordered[:, -2] > 1e-2
    assert np.array_equal(label[clear], model.predict(rows)[clear]) and clear.mean() > 0.9


@pytest.mark.parametrize(
    "y", [Y, Y == 1, np.where(Y, 1.0, -1.0), Y.astype(np.int32)], ids=["int", "bool", "float", "i32"]
)
def test_onnx_keeps_labels(tmp_path: Path, y: np.ndarray) -> None:
    machine = ODMClassifier().fit(sparse.csr_matrix(X), y)
    to_onnx(machine, tmp_path / "m.onnx")
    label, _ = run_onnx(tmp_path / "m.onnx", X, "float32")
    assert (label == machine.predict(X)).mean() > 0.99 and label.dtype.kind == y.dtype.kind


def test_what_onnx_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="laplacian"):
        to_onnx(ODMClassifier(kernel="laplacian").fit(X, Y), tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="float16"):
        to_onnx(ODMClassifier().fit(X, Y), tmp_path / "m.onnx", dtype="float16")  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ pickle


@pytest.mark.parametrize("rows", [X, sparse.csr_matrix(X)], ids=["dense", "sparse"])
def test_pickles_stand_alone(tmp_path: Path, rows: Any) -> None:
    machine = ODMClassifier().fit(rows, Y)
    sodm.save(machine, tmp_path / "m.sodm")
    loaded = sodm.load(tmp_path / "m.sodm")
    to_pickle(loaded, tmp_path / "m.pkl")
    (tmp_path / "m.sodm").unlink()
    code = f"import pickle; m = pickle.load(open({str(tmp_path / 'm.pkl')!r}, 'rb')); print(len(m.support_))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ran.stdout) == len(machine.support_)
    again = pickle.loads((tmp_path / "m.pkl").read_bytes())
    assert np.array_equal(again.decision_function(rows), machine.decision_function(rows))


class Witness:
    """Looks, in the middle of the pickling, at the model that is being pickled."""

    def __init__(self, look: Callable[[], Any]) -> None:
        self.look, self.seen = look, None

    def __reduce__(self) -> Any:
        self.seen = self.look()
        return int, ()


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_pickle_leaves_the_model_alone(tmp_path: Path, form: Any, scaled: bool) -> None:
    machine = ODMClassifier().fit(form(X), Y)
    model = make_pipeline(MaxAbsScaler(), machine).fit(form(X), Y) if scaled else machine
    vectors = machine.support_vectors_
    machine.witness = Witness(lambda: machine.support_vectors_)
    before = dict(vars(machine)), dict(vars(model))
    to_pickle(model, tmp_path / "m.pkl")
    assert machine.witness.seen is vectors  # in another thread it would go on deciding with them
    assert dict(vars(machine)) == before[0] and dict(vars(model)) == before[1]
    again = pickle.loads((tmp_path / "m.pkl").read_bytes())
    assert np.array_equal(again.decision_function(form(X)), model.decision_function(form(X)))


@pytest.mark.parametrize("rho", [0.3, -2.0])
def test_libsvm_models_of_scikit_learn_agree(tmp_path: Path, rho: float) -> None:
    """The same decision as an SVC written out by hand, so that signs are right without the tools too."""
    svc = SVC(gamma=0.1).fit(X, Y)
    lines = ["svm_type c_svc", "kernel_type rbf", "gamma 0.1", "nr_class 2", f"total_sv {len(svc.support_)}"]
    lines += [f"rho {rho}", "label 1 0", "nr_sv 1 1", "SV"]
    for coef, row in zip(svc.dual_coef_[0], svc.support_vectors_, strict=True):
        lines.append(" ".join([repr(float(coef)), *(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row))]))
    (tmp_path / "m").write_text("\n".join(lines) + "\n")
    expected = svc.decision_function(X) - svc.intercept_ - rho
    assert np.allclose(from_libsvm(tmp_path / "m").decision_function(X), expected, atol=1e-10)
