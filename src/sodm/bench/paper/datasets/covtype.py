"""covtype, class 2 against the rest: ours, not the paper's."""

import numpy as np

from sodm.bench.sets import PaperDataset, own_file
from sodm.bench.splits import Data
from sodm.data import read


class Dataset(PaperDataset):
    """Many rows and an intricate border: where an average of parts stops learning."""

    name = "covtype"
    printed_as = "covtype"
    kind = "ours"
    note = "class 2 against the rest; neighbouring rows resemble each other: a random split leaks"

    def read(self) -> Data:
        """From $SODM_DATA, or fetched by scikit-learn."""
        if (path := own_file("covtype.libsvm", "covtype.libsvm.xz")) is not None:
            table = read(path)
            X, y = table.X.toarray(), np.asarray(table.y)
        else:
            from sklearn.datasets import fetch_covtype

            X, y = fetch_covtype(return_X_y=True)
        return Data(np.asarray(X, dtype=np.float32), np.where(y == 2, 1, -1))
