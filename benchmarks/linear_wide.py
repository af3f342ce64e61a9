"""The defaults of the linear machine against those of LinearSVC and LogisticRegression, on rows of many
features and some others: seconds of a fit and accuracy on the test rows, the difference with its standard
error.

Fashion-MNIST as published, divided by 255, first rows; letter and a9a as published; 20news by date as tf-idf
(sublinear, without English stop words, headers not stripped). Of splice and usps there are stand-ins of their
shape: letters drawn by class at 72 places, one-hot; and Fashion-MNIST halved to 16 x 16.
"""

import gzip
import tarfile
import time
import warnings
from collections.abc import Iterator
from typing import Any

import data
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from table import Row
from timing import best_of, isolated

from sodm import LinearODMClassifier

Split = tuple[Any, np.ndarray, Any, np.ndarray]
NAMES = {
    "splice": "2,200 x 287 (stand-in of splice's shape)",
    "usps": "7,291 x 256 (stand-in of usps's shape)",
    "letter": "letter, 15,000 x 16",
    "a9a": "a9a, 32,561 x 123",
    "fashion-5000": "Fashion-MNIST, 5,000 x 784",
    "fashion-60000": "Fashion-MNIST, 60,000 x 784",
    "news": "20news, 11,314 x 129,792 tf-idf",
}
SLOW = ("fashion-60000",)  # LogisticRegression is not waited for


def fashion(n: int) -> Split:
    def part(name: str) -> tuple[np.ndarray, np.ndarray]:
        folder = data.directory() / "fashion-mnist"
        images = gzip.decompress((folder / f"{name}-images-idx3-ubyte.gz").read_bytes())[16:]
        labels = gzip.decompress((folder / f"{name}-labels-idx1-ubyte.gz").read_bytes())[8:]
        X = np.frombuffer(images, np.uint8).reshape(-1, 784) / np.float32(255)
        return X, np.frombuffer(labels, np.uint8).astype(np.int64)

    X, y = part("train")
    return X[:n], y[:n], *part("t10k")


def usps() -> Split:
    X, y, X_test, y_test = fashion(7291)

    def halved(X: np.ndarray) -> np.ndarray:
        images = np.pad(X.reshape(-1, 28, 28), ((0, 0), (2, 2), (2, 2)))
        return images.reshape(-1, 16, 2, 16, 2).mean((2, 4)).reshape(-1, 256).astype(np.float64)

    return halved(X), y, halved(X_test[:2007]), y_test[:2007]


def splice(places: int = 72) -> Split:
    rng = np.random.default_rng(0)
    own = rng.dirichlet(np.ones(4), (3, places))
    share = np.cumsum(0.75 * own.mean(0) + 0.25 * own, axis=2)

    def part(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.choice(3, n, p=[0.25, 0.25, 0.5])
        letters = np.minimum((rng.random((n, places, 1)) > share[y]).sum(2), 3)
        return np.eye(4)[letters].reshape(n, -1)[:, :287], y

    return *part(2200), *part(20_000)


def news() -> Split:
    texts: dict[bool, list[str]] = {True: [], False: []}
    groups: dict[bool, list[str]] = {True: [], False: []}
    with tarfile.open(data.directory() / "20news-bydate.tar.gz") as tar:
        for member in sorted(tar.getmembers(), key=lambda m: m.name):
            parts = member.name.split("/")
            if not member.isfile() or parts[-1].startswith("."):
                continue
            content = tar.extractfile(member)
            assert content is not None
            train = "train" in parts[-3]
            texts[train].append(content.read().decode("latin1"))
            groups[train].append(parts[-2])
    words = TfidfVectorizer(sublinear_tf=True, max_df=0.5, stop_words="english")
    X = words.fit_transform(texts[True])
    return X, np.array(groups[True]), words.transform(texts[False]), np.array(groups[False])


def load(name: str) -> Split:
    if name.startswith("fashion"):
        return fashion(int(name.split("-")[1]))
    if name == "letter":
        X, y = data.read("letter")
        X = data.scaled(X, X[:15_000].min(0), X[:15_000].max(0))
        return X[:15_000], y[:15_000], X[15_000:], y[15_000:]
    if name == "a9a":
        X, y = data.read("a9a")
        return X, y, *data.read("a9a.t", features=X.shape[1])
    return {"splice": splice, "usps": usps, "news": news}[name]()


def run(name: str, machine: str, repeat: int) -> dict[str, Any]:
    X, y, X_test, y_test = load(name)
    peers = {"sodm": LinearODMClassifier, "LinearSVC": LinearSVC, "LogisticRegression": LogisticRegression}
    model = peers[machine]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the others stop at their max_iter
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        if seconds < 5 and repeat > 1:
            seconds = min(seconds, best_of(lambda: model.fit(X, y), repeat - 1)[0])
    gap = float(np.max(model.dual_gap_)) if machine == "sodm" else None
    right = np.packbits(model.predict(X_test) == y_test).tolist()
    return {"seconds": seconds, "right": right, "rows": len(y_test), "gap": gap}


def paired(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[float, float, float, float]:
    """Accuracy of both, and the difference of theirs to ours in points with its standard error."""
    a, b = (np.unpackbits(np.array(r["right"], np.uint8), count=r["rows"]) for r in (ours, theirs))
    gain = 100 * (a.astype(float) - b)
    return a.mean(), b.mean(), gain.mean(), gain.std() / np.sqrt(len(gain))


def rows(threads: int, repeat: int, n: int) -> Iterator[Row]:
    for name, what in NAMES.items():
        ours = isolated(run, threads, name=name, machine="sodm", repeat=repeat)
        for peer in ("LinearSVC",) if name in SLOW else ("LinearSVC", "LogisticRegression"):
            theirs = isolated(run, threads, name=name, machine=peer, repeat=repeat)
            a, b, gain, error = paired(ours, theirs)
            yield Row(
                f"defaults, {what}",
                f"{peer}()",
                f"{ours['seconds']:.3f} s, {a:.4f}",
                f"{theirs['seconds']:.3f} s, {b:.4f}",
                theirs["seconds"] / ours["seconds"],
                1.0,
                note=f"gap {ours['gap']:.0e}; {gain:+.2f} ± {error:.2f} points",
            )
