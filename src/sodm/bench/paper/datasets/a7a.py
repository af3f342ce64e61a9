"""a7a: its own file if it is here, else the same rows from a9a."""

from sodm.bench.sets import PaperDataset, dense
from sodm.bench.splits import Data


class Dataset(PaperDataset):
    """a7a's training and test parts together are a9a's training part, in another order."""

    name = "a7a"
    printed_as = "a7a"

    def read(self) -> Data:
        """What is here is preferred to what would have to be fetched."""
        try:
            X, y = dense("a7a", download=False)
        except FileNotFoundError:
            return self._from_a9a()
        self.note = "official parts: 16,100 and 16,461 rows of a7a"
        return Data(X, y, official=16_100)

    def _from_a9a(self) -> Data:
        X, y = dense("a9a")
        X_more, y_more = dense("a9a.t")
        self.note = "rows of the a9a file, the same as a7a's two parts; official parts are those of a9a"
        return Data(X, y, len(y), X_more, y_more)
