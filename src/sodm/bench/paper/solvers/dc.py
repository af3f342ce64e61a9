"""DC-ODM and DC-SVM (Hsieh et al., 2014)."""

from sodm.bench.families import TreeSolver


class Solver(TreeSolver):
    """Kernel k-means clusters, found anew at each level; then the support vectors together."""

    name = "DC"
    estimator = "DCClassifier"
