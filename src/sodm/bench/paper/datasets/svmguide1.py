"""svmguide1."""

from sodm.bench.sets import NamedDataset


class Dataset(NamedDataset):
    """As published."""

    name = "svmguide1"
    printed_as = "svmguide1"
    official = 3089
