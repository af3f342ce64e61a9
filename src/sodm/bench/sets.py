"""What the data sets in `paper/datasets` share: read by name, dense, float32; what to say of each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from sodm.bench.convention import BaseDataset
from sodm.bench.splits import Data
from sodm.data import load
from sodm.data.named import SETS

# In the order of the paper's tables, then ours; names of the files in paper/datasets.
FILES = {
    "gisette-stand-in": "gisette_stand_in",
    "svmguide1": "svmguide1",
    "phishing": "phishing",
    "a7a": "a7a",
    "cod-rna": "cod_rna",
    "ijcnn1": "ijcnn1",
    "skin-nonskin": "skin_nonskin",
    "susy-subset": "susy_subset",
    "susy-stand-in": "susy_stand_in",
    "covtype": "covtype",
    "fashion-mnist": "fashion_mnist",
}


class PaperDataset(BaseDataset):
    """A data set of the benchmark.

    Attributes
    ----------
    printed_as : str
        Its name in the paper, or that of the set it stands for.
    kind : {"real", "subset", "stand-in", "ours"}
        Only a real set's figures are the paper's set's figures; the paper does not have those of ours.
    split : {"random", "official"}
        How it is divided in the tables.
    note : str
        What to say wherever it is used.
    """

    requirements = ["pip::sodm"]  # noqa: RUF012 - benchopt's convention
    printed_as = ""
    kind = "real"
    split = "random"
    note = ""

    def read(self) -> Data:
        """The rows."""
        raise NotImplementedError

    def get_data(self) -> dict[str, Any]:
        """The rows, for the objective."""
        return {"data": self.read()}


class NamedDataset(PaperDataset):
    """A set that `sodm.data.load` knows.

    Attributes
    ----------
    official : int or None
        Rows of the official training part, which come first.
    """

    official: int | None = None

    def read(self) -> Data:
        """From $SODM_DATA, or fetched."""
        X, y = dense(self.name)
        self.note = SETS[self.name].note
        return Data(X, y, self.official)


def dense(name: str, *, download: bool = True) -> tuple[Any, Any]:
    """A set by name as float32 array and labels of +-1."""
    X, y = load(name, download=download)
    return np.asarray(X.toarray(), dtype=np.float32), np.asarray(y)


def own_file(*names: str) -> Path | None:
    """The first of these files that $SODM_DATA has."""
    folder = os.environ.get("SODM_DATA")
    found = [Path(folder) / name for name in names] if folder else []
    return next((path for path in found if path.is_file()), None)
