"""Model files: what was saved predicts the same to the last bit; what was tampered with is refused."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import sodm
from sodm import (
    CascadeClassifier,
    DCClassifier,
    DiPClassifier,
    LinearODMClassifier,
    ODMClassifier,
    SODMClassifier,
)
from sodm.model import ModelFileError, container, describe
from sodm.model.loading import stored_margins
from sodm.model.machines import expansion

STORED = Path(__file__).parent / "data"
X, Y = make_classification(200, 6, random_state=0)


def fitted(**parameters: Any) -> ODMClassifier:
    return ODMClassifier(**parameters).fit(X, Y)


# ------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid", "laplacian"])
@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive")
def test_decisions_are_the_same_to_the_last_bit(tmp_path: Path, kernel: str, mmap: bool) -> None:
    for rows in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        machine = ODMClassifier(kernel=kernel, fit_intercept=True, random_state=3).fit(rows, Y)
        sodm.save(machine, tmp_path / "m.sodm")
        loaded = sodm.load(tmp_path / "m.sodm", mmap=mmap)
        assert np.array_equal(loaded.decision_function(rows), machine.decision_function(rows))
        assert loaded.get_params() == machine.get_params()
        assert sparse.issparse(loaded.support_vectors_) == sparse.issparse(rows)
        assert loaded.support_vectors_.dtype == machine.support_vectors_.dtype
        for name in ("n_iter_", "dual_gap_", "violation_", "objective_", "n_kernel_evaluations_"):
            assert getattr(loaded, name) == getattr(machine, name)


@pytest.mark.parametrize(
    "labels",
    [["setosa", "versicolor", "virginica"], ["ä", "日本", "z z"], [-3, 0, 7], [0.0, 1.0, 2.0]],
)
def test_several_classes_and_any_labels(tmp_path: Path, labels: list) -> None:
    rows, codes = load_iris(return_X_y=True)
    y = np.array(labels)[codes]
    machine = ODMClassifier().fit(rows, y)
    sodm.save(machine, tmp_path / "m.sodm")
    loaded = sodm.load(tmp_path / "m.sodm")
    assert np.array_equal(loaded.predict(rows), machine.predict(rows))
    assert loaded.classes_.tolist() == machine.classes_.tolist()
    assert np.array_equal(loaded.dual_gap_, machine.dual_gap_)


def test_boolean_labels_names_of_features_and_class_weights(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"f {i}" for i in range(6)])
    machine = ODMClassifier(class_weight={True: 2.0, False: 1.0}).fit(frame, Y == 1)
    sodm.save(machine, tmp_path / "m.sodm")
    loaded = sodm.load(tmp_path / "m.sodm")
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    assert loaded.class_weight == {True: 2.0, False: 1.0} and loaded.predict(frame).dtype == bool
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])
    loaded.fit(frame, Y == 1)  # it can be trained again


@pytest.mark.parametrize(
    "scaler",
    [
        MinMaxScaler(),
        MinMaxScaler(feature_range=(-1, 1), clip=True),
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MaxAbsScaler(),
    ],
)
def test_the_scaler_is_part_of_the_model(tmp_path: Path, scaler: Any) -> None:
    model = make_pipeline(scaler, ODMClassifier()).fit(X, Y)
    sodm.save(model, tmp_path / "m.sodm")
    loaded = sodm.load(tmp_path / "m.sodm")
    far = X * 3
    assert np.array_equal(loaded.decision_function(far), model.decision_function(far))
    assert type(loaded[0]) is type(scaler) and loaded[0].get_params() == scaler.get_params()
    assert np.allclose(
        loaded[0].inverse_transform(loaded[0].transform(X)), model[0].inverse_transform(model[0].transform(X))
    )


@pytest.mark.parametrize("solver", ["newton", "dsvrg"])
@pytest.mark.parametrize("rows", [X, X.astype(np.float32), sparse.csr_matrix(X)], ids=["f8", "f4", "csr"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_linear_machine(tmp_path: Path, solver: Any, rows: Any) -> None:
    machine = LinearODMClassifier(solver=solver, random_state=0).fit(rows, Y)
    sodm.save(machine, tmp_path / "m.sodm")
    loaded = sodm.load(tmp_path / "m.sodm")
    assert np.array_equal(loaded.decision_function(rows), machine.decision_function(rows))
    assert loaded.get_params() == machine.get_params() and loaded.solver_ == solver
    assert loaded.dual_gap_ == machine.dual_gap_ and loaded.gradient_norm_ == machine.gradient_norm_
    loaded.set_params(warm_start=True).fit(rows, Y)
    with pytest.raises(ModelFileError, match="coefficients"):
        path = tmp_path / "bad.sodm"
        path.write_bytes(rebuilt((tmp_path / "m.sodm").read_bytes(), change_at("n_features", to=5)))
        sodm.load(path)


@pytest.mark.parametrize("machine", [SODMClassifier, CascadeClassifier, DiPClassifier, DCClassifier])
def test_the_machines_that_train_on_parts(tmp_path: Path, machine: Any) -> None:
    machine = machine(random_state=0).fit(X, Y)
    sodm.save(machine, tmp_path / "m.sodm")
    loaded = sodm.load(tmp_path / "m.sodm")
    assert np.array_equal(loaded.decision_function(X), machine.decision_function(X))
    assert loaded.get_params() == machine.get_params() and loaded.stop_reason_ == machine.stop_reason_


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize(
    ("rows", "labels", "options"),
    [
        (X, Y, {}),
        (X.astype(np.float32), Y, {"fit_intercept": True}),
        (sparse.csr_matrix(X), Y, {}),
        (X, np.arange(len(X)) % 3, {}),
        (X, Y, {"kernel": "linear"}),
        (X @ X.T, Y, {"kernel": "precomputed"}),
    ],
    ids=["dense", "single", "sparse", "three classes", "linear", "precomputed"],
)
def test_early_prediction_by_the_nearest_cluster(
    tmp_path: Path, rows: Any, labels: Any, options: dict[str, Any], mmap: bool
) -> None:
    machine = DCClassifier(n_partitions=3, branching=3, early=True, random_state=0, **options)
    machine.fit(rows, labels)
    assert len(machine._regions.half_norms) > 1  # or there would be nothing to choose from
    sodm.save(machine, tmp_path / "m.sodm")
    loaded = sodm.load(tmp_path / "m.sodm", mmap=mmap)
    assert np.array_equal(loaded.decision_function(rows), machine.decision_function(rows))
    assert loaded.get_params() == machine.get_params()
    with pytest.raises(ValueError, match="early=False"):
        expansion(loaded)
    sodm.save(loaded, tmp_path / "again.sodm")
    assert (tmp_path / "again.sodm").read_bytes() == (tmp_path / "m.sodm").read_bytes()


@pytest.mark.parametrize(
    ("array", "change", "says"),
    [
        ("regions.of_support", lambda a: a + 7, "none of the clusters"),
        ("regions.half_norms", lambda a: a[:-1], "shapes"),
        ("regions.means", lambda a: a * np.nan, "finite"),
        ("regions.rows", lambda a: a[:, :1], "shapes"),
    ],
)
def test_clusters_that_make_no_sense_are_refused(
    tmp_path: Path, array: str, change: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = container.write
    monkeypatch.setattr(
        container,
        "write",
        lambda path, header, arrays: write(path, header, arrays | {array: change(arrays[array])}),
    )
    sodm.save(
        DCClassifier(n_partitions=3, branching=3, early=True, random_state=0).fit(X, Y), tmp_path / "m.sodm"
    )
    with pytest.raises(ModelFileError, match=says):
        sodm.load(tmp_path / "m.sodm")


def test_precomputed_kernels(tmp_path: Path) -> None:
    K = X @ X.T
    machine = ODMClassifier(kernel="precomputed").fit(K, Y)
    sodm.save(machine, tmp_path / "m.sodm")
    assert np.array_equal(sodm.load(tmp_path / "m.sodm").decision_function(K), machine.decision_function(K))


def test_summary_and_margins_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.sodm"
    sodm.save(fitted(), path, summary={"rows": np.int64(3), "list": (1.5, None, "x")}, margins=[1.0, -0.5])
    assert describe(path)["summary"] == {"rows": 3, "list": [1.5, None, "x"]}
    assert stored_margins(path).tolist() == [1.0, -0.5]


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    machine = fitted()
    sodm.save(machine, tmp_path / "a.sodm")
    sodm.save(sodm.load(tmp_path / "a.sodm"), tmp_path / "b.sodm")
    assert (tmp_path / "a.sodm").read_bytes() == (tmp_path / "b.sodm").read_bytes()


def test_support_vectors_are_mapped_and_aligned(tmp_path: Path) -> None:
    sodm.save(fitted(), tmp_path / "m.sodm")
    rows = sodm.load(tmp_path / "m.sodm").support_vectors_
    assert isinstance(rows, np.memmap) and rows.ctypes.data % 64 == 0 and not rows.flags.writeable


def test_a_random_generator_is_not_kept(tmp_path: Path) -> None:
    sodm.save(fitted(random_state=np.random.RandomState(0)), tmp_path / "m.sodm")
    assert sodm.load(tmp_path / "m.sodm").random_state is None


def test_what_cannot_be_saved_says_so_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.sodm"
    path.write_bytes(b"old")
    cases = [
        (fitted(kernel=lambda A, B: A @ B.T), "Python function"),
        (make_pipeline(PCA(2), ODMClassifier()).fit(X, Y), "PCA"),
        (StandardScaler().fit(X), "StandardScaler"),
    ]
    for model, says in cases:
        with pytest.raises(TypeError, match=says):
            sodm.save(model, path)
    with pytest.raises(TypeError, match="cannot be stored"):
        sodm.save(fitted(), path, summary={"x": object()})
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


RELEASED = {1}  # formats of model files that a release has written: 0.1


def test_every_released_format_has_files_here() -> None:
    assert {int(path.name.split("-")[1][1:]) for path in STORED.glob("model-v*.sodm")} >= RELEASED


@pytest.mark.parametrize("name", sorted(path.stem for path in STORED.glob("model-v*.sodm")))
def test_files_of_released_formats_stay_loadable(name: str) -> None:
    """Written by tests/data/make_models.py when the format was new; never to be written again."""
    model = sodm.load(STORED / f"{name}.sodm")
    expected = json.loads((STORED / f"{name}.json").read_text())
    queries = np.array(expected["queries"])
    assert np.allclose(model.decision_function(queries), expected["decision"], rtol=1e-5, atol=1e-5)
    assert model.predict(queries).tolist() == expected["labels"]


# ------------------------------------------------------------------------------------ damage and deceit


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "m.sodm"
    sodm.save(make_pipeline(MinMaxScaler(), ODMClassifier()).fit(X, Y), path, margins=Y)
    return path.read_bytes()


def refused(tmp_path: Path, data: bytes, says: str | None = None) -> str:
    path = tmp_path / "bad.sodm"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=says) as caught:
        sodm.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]
    return str(caught.value)


def rebuilt(
    whole: bytes, change: Any, *, compress: int = zipfile.ZIP_STORED, extra: dict | None = None
) -> bytes:
    """The file with its header changed, members otherwise as they were."""
    source = zipfile.ZipFile(io.BytesIO(whole))
    members = {info.filename: source.read(info) for info in source.infolist()}
    header = json.loads(members["header.json"])
    change(header)
    members["header.json"] = json.dumps(header).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compress) as target:
        for name, data in {**members, **(extra or {})}.items():
            target.writestr(zipfile.ZipInfo(name), data, compress)
    return out.getvalue()


def test_every_cut_is_refused(tmp_path: Path, whole: bytes) -> None:
    for cut in [*range(0, len(whole), 997), len(whole) - 1]:
        refused(tmp_path, whole[:cut])


@pytest.mark.slow
def test_every_flipped_byte_is_refused_or_harmless(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "bad.sodm"
    path.write_bytes(whole)
    before = sodm.load(path, mmap=False).decision_function(X)
    data = bytearray(whole)
    header_end = whole.index(b"PK\x03\x04", 4)
    places = {*range(header_end), *range(0, len(whole), 53), *range(whole.index(b"PK\x01\x02"), len(whole))}
    for at in sorted(places):
        flip = 0x01 if at % 2 else 0x21  # a digit into another, a letter into a sign
        data[at] ^= flip
        path.write_bytes(data)
        try:
            model = sodm.load(path, mmap=False)
        except ModelFileError:
            pass
        else:  # padding or a date
            assert np.array_equal(model.decision_function(X), before), at
        data[at] ^= flip


def test_a_changed_digit_of_the_header_is_noticed(tmp_path: Path, whole: bytes) -> None:
    at = whole.index(b'"gamma": ', whole.index(b'"kernel": {')) + 12
    data = bytearray(whole)
    data[at] ^= 0x01
    refused(tmp_path, bytes(data), "the header is damaged")


def test_random_bytes_and_other_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 21, 22, 23, 1000, 100_000):
        refused(tmp_path, rng.bytes(size), "no whole model file")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "hello")
    refused(tmp_path, out.getvalue(), "no model of sodm")


def test_a_future_version_names_the_remedy(tmp_path: Path, whole: bytes) -> None:
    data = rebuilt(whole, lambda h: h.update(version=3, library="9.9"))
    assert "upgrade sodm" in refused(tmp_path, data, "version 3, written by sodm '9.9'")


def test_several_classes_of_version_1_are_one_against_the_rest(tmp_path: Path) -> None:
    rows, y = load_iris(return_X_y=True)
    machine = ODMClassifier(multi_class="ovr").fit(rows, y)
    sodm.save(machine, tmp_path / "m.sodm")

    def as_it_was(header: dict) -> None:
        header["version"] = 1
        for name in ("multi_class", "decision_function_shape"):
            del header["parameters"][name]

    (tmp_path / "old.sodm").write_bytes(rebuilt((tmp_path / "m.sodm").read_bytes(), as_it_was))
    again = sodm.load(tmp_path / "old.sodm")
    assert again.multi_class == "ovr"
    np.testing.assert_array_equal(again.decision_function(rows), machine.decision_function(rows))


def test_pairs_that_do_not_fit(tmp_path: Path) -> None:
    rows, y = load_iris(return_X_y=True)
    machine = ODMClassifier().fit(rows, y)
    machine.n_support_ = machine.n_support_ + 1
    sodm.save(machine, tmp_path / "m.sodm")
    with pytest.raises(ModelFileError, match="as many support vectors"):
        sodm.load(tmp_path / "m.sodm")
    machine.n_support_ = machine.n_support_[:2]
    sodm.save(machine, tmp_path / "m.sodm")
    with pytest.raises(ModelFileError, match="one per class"):
        sodm.load(tmp_path / "m.sodm")


def test_paths_that_lead_elsewhere(tmp_path: Path, whole: bytes) -> None:
    for name in ("../evil", "/etc/evil", "arrays/../../evil", "arrays/evil"):
        refused(tmp_path, rebuilt(whole, lambda h: None, extra={name: b"x"}), "does not belong")


def test_zip_bombs_cost_nothing(tmp_path: Path, whole: bytes) -> None:
    bomb = rebuilt(
        whole, lambda h: None, compress=zipfile.ZIP_DEFLATED, extra={"arrays/sv2": bytes(50_000_000)}
    )
    refused(tmp_path, bomb, "compressed")
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for i in range(5000):
            archive.writestr(str(i), b"")
    refused(tmp_path, many.getvalue(), "5,000 members")


def test_a_loader_fed_lies_stays_small(tmp_path: Path, whole: bytes) -> None:
    """Under an address space limit, a shape of terabytes is refused by arithmetic, not by allocation."""

    def lie(header: dict) -> None:
        header["arrays"]["sv"]["shape"] = [2**40, 6]

    path = tmp_path / "bad.sodm"
    path.write_bytes(rebuilt(whole, lie))
    code = (
        "import resource, sys, sodm\n"
        "from sodm import *  # what is loaded later counts too\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**26,) * 2)\n"
        "try: sodm.load(sys.argv[1])\n"
        "except sodm.model.ModelFileError as error: print('refused:', error)\n"
    )
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc to know its own size")
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("refused:") and "should have" in ran.stdout


def change_at(*keys: Any, to: Any) -> Any:
    def change(header: dict) -> None:
        place = header
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to

    change.__name__ = f"{'.'.join(keys)}={to}"
    return change


@pytest.mark.parametrize(
    "change",
    [
        change_at("format", to="x"),
        change_at("version", to="1"),
        change_at("version", to=True),
        change_at("machine", to="os.system"),
        change_at("machine", to=["ODMClassifier"]),
        change_at("parameters", to=[]),
        change_at("parameters", "lam", to=-1),
        change_at("parameters", "surprise", to=1),
        change_at("parameters", "kernel", to="linear"),
        change_at("classes", "values", to=[1, 0]),
        change_at("classes", "values", to=[1]),
        change_at("classes", "values", to=[0, 1, 2]),
        change_at("classes", "values", to=["a", "b"]),
        change_at("classes", "dtype", to="O"),
        change_at("classes", "dtype", to="<U999999"),
        change_at("n_features", to=5),
        change_at("n_features", to=None),
        change_at("feature_names", to=["a"]),
        change_at("kernel", "gamma", to=float("nan")),
        change_at("kernel", "name", to="precomputed"),
        change_at("kernel", "precision", to="half"),
        change_at("kernel", "degree", to=2**40),
        change_at("sparse", to=True),
        change_at("scaler", "kind", to="robust"),
        change_at("scaler", "parameters", to={"copy": False}),
        change_at("scaler", "n_samples_seen", to="many"),
        change_at("arrays", to=None),
        change_at("arrays", "sv", to=None),
        change_at("arrays", "sv", "dtype", to="|O"),
        change_at("arrays", "sv", "shape", to=[-1, -6]),
        change_at("arrays", "sv", "shape", to=[1, 2, 3]),
        change_at("arrays", "sv", "sha256", to="0" * 64),
        change_at("arrays", "intercept", "dtype", to="<i8"),
        change_at("arrays", "support", "dtype", to="<f8"),
    ],
    ids=lambda change: change.__name__,
)
def test_a_header_that_makes_no_sense(tmp_path: Path, whole: bytes, change: Any) -> None:
    refused(tmp_path, rebuilt(whole, change))


def test_deep_json_is_refused(tmp_path: Path, whole: bytes) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("header.json", "[" * 1_000_000)
    refused(tmp_path, out.getvalue(), "not JSON")


def test_a_missing_file_is_an_ordinary_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sodm.load(tmp_path / "absent.sodm")


# ---------------------------------------------------------------------------------------- atomic writes


@pytest.mark.slow
def test_kill_during_save_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "m.sodm"
    code = (
        "import sys, numpy as np, sodm\n"
        "rng = np.random.default_rng(0)\n"
        "X = rng.normal(size=(400, 3000)); y = X[:, 0] > 0\n"
        "machine = sodm.ODMClassifier().fit(X, y)\n"
        "sodm.save(machine, sys.argv[1])\n"
        "print('saved', flush=True)\n"
        "while True: sodm.save(machine, sys.argv[1])\n"
    )
    for k in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None and child.stdout.readline() == "saved\n"
            time.sleep(0.013 * (k + 1))
            os.kill(child.pid, signal.SIGKILL)
        assert sodm.load(path).n_features_in_ == 3000


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a disk that fills up while writing."""
    path = tmp_path / "m.sodm"
    sodm.save(fitted(), path)
    before = path.read_bytes()
    code = (
        "import sys, resource, sodm\n"
        "model = sodm.load(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: sodm.save(model, sys.argv[1])\n"
        "except OSError as error: print(type(error).__name__)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert ran.stdout == "OSError\n"
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
