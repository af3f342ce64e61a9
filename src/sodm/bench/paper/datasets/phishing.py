"""phishing."""

from sodm.bench.sets import NamedDataset


class Dataset(NamedDataset):
    """As published."""

    name = "phishing"
    printed_as = "phishing"
    official = None
