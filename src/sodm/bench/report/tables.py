"""Every table of the report, in order."""

from __future__ import annotations

from sodm.bench.report.other_tables import (
    ablations,
    parameters,
    partitions,
    peers,
    scale_correction,
    signed_variable,
    splits,
)
from sodm.bench.report.paper_tables import overview, speedup, statistics, systems
from sodm.bench.report.summary import Runs
from sodm.bench.report.table import Table


def all_tables(runs: Runs) -> list[Table]:
    """Every table that the results have something for, in the order of the paper."""
    tables = [
        overview(runs),
        statistics(runs),
        systems(runs, "rbf", "2", "Table 2: RBF kernel"),
        systems(runs, "linear", "3", "Table 3: linear kernel"),
        systems(runs, "svm", "appendix", "Appendix: SVM counterparts, RBF kernel"),
        peers(runs),
        splits(runs),
        speedup(runs),
        ablations(runs),
        scale_correction(runs),
        signed_variable(runs),
        partitions(runs),
        parameters(runs),
    ]
    return [table for table in tables if table.rows]
