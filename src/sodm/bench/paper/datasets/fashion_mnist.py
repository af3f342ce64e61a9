"""Fashion-MNIST, ten classes: ours, not the paper's."""

import gzip
from pathlib import Path

import numpy as np

from sodm.bench.sets import PaperDataset, own_file
from sodm.bench.splits import Data

TRAINING_ROWS = 60_000
KINDS = {"images-idx3": 16, "labels-idx1": 8}  # bytes before the first value


class Dataset(PaperDataset):
    """Many features and several classes."""

    name = "fashion-mnist"
    printed_as = "Fashion-MNIST"
    kind = "ours"
    split = "official"
    note = "ten classes; official parts: 60,000 and 10,000 rows"

    def read(self) -> Data:
        """From $SODM_DATA, or fetched by scikit-learn."""
        if own_file("fashion-mnist/train-images-idx3-ubyte.gz") is not None:
            parts = [[_values(part, kind) for kind in KINDS] for part in ("train", "t10k")]
            X = np.vstack([images.reshape(-1, 784) for images, _ in parts])
            y = np.concatenate([labels for _, labels in parts])
        else:
            from sklearn.datasets import fetch_openml

            X, y = fetch_openml("Fashion-MNIST", version=1, return_X_y=True, as_frame=False)
        return Data(np.asarray(X, dtype=np.float32), np.asarray(y).astype(np.int64), official=TRAINING_ROWS)


def _values(part: str, kind: str) -> np.ndarray:
    """All values of one of the published files."""
    path = own_file(f"fashion-mnist/{part}-{kind}-ubyte.gz")
    if path is None:
        raise FileNotFoundError(f"fashion-mnist/{part}-{kind}-ubyte.gz is missing in $SODM_DATA.")
    return np.frombuffer(gzip.decompress(Path(path).read_bytes()), np.uint8, offset=KINDS[kind])
