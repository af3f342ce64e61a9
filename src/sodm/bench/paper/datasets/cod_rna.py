"""cod-rna."""

from sodm.bench.sets import NamedDataset


class Dataset(NamedDataset):
    """As published."""

    name = "cod-rna"
    printed_as = "cod-rna"
    official = None
