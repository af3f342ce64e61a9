"""DiP-ODM and DiP-SVM (Singh et al., 2017)."""

from sodm.bench.families import TreeSolver


class Solver(TreeSolver):
    """Parts that keep the distribution; their support vectors make the last problem."""

    name = "DiP"
    estimator = "DiPClassifier"
