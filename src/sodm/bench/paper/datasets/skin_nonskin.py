"""skin-nonskin."""

from sodm.bench.sets import NamedDataset


class Dataset(NamedDataset):
    """As published."""

    name = "skin-nonskin"
    printed_as = "skin-nonskin"
    official = None
