"""ijcnn1."""

from sodm.bench.sets import NamedDataset


class Dataset(NamedDataset):
    """As published."""

    name = "ijcnn1"
    printed_as = "ijcnn1"
    official = 49990
