"""A random 0.8 % of SUSY's rows."""

from sodm.bench.sets import NamedDataset


class Dataset(NamedDataset):
    """Real rows, but few of them: its times are not SUSY's."""

    name = "susy-subset"
    printed_as = "SUSY"
    kind = "subset"
