"""A generated set of SUSY's shape: rows of susy-subset drawn with replacement and shaken a little."""

import numpy as np

from sodm.bench.sets import PaperDataset, dense
from sodm.bench.splits import TRAIN_SHARE, Data

SHAKE = 0.1  # of each feature's standard deviation


class Dataset(PaperDataset):
    """A smoothed bootstrap; rows to train on and to test on are drawn from different rows."""

    name = "susy-stand-in"
    printed_as = "SUSY"
    kind = "stand-in"
    split = "official"
    note = (
        "generated: smoothed bootstrap of susy-subset, training and test rows drawn from different rows of it"
    )
    parameters = {"rows": [5_000_000]}  # noqa: RUF012

    def read(self) -> Data:
        """The same rows every time."""
        X, y = dense("susy-subset")
        rng = np.random.default_rng(0)
        here, at = int(TRAIN_SHARE * len(y)), int(TRAIN_SHARE * self.rows)
        drawn = np.concatenate([rng.integers(here, size=at), rng.integers(here, len(y), size=self.rows - at)])
        shaken = rng.standard_normal((self.rows, X.shape[1]), dtype=np.float32)
        shaken *= SHAKE * X.std(axis=0)
        shaken += X[drawn]
        return Data(shaken, y[drawn], official=at)
