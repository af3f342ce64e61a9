"""Ca-ODM and Ca-SVM (Graf et al., 2004)."""

from sodm.bench.families import TreeSolver


class Solver(TreeSolver):
    """Random parts; support vectors move up a binary tree."""

    name = "Cascade"
    estimator = "CascadeClassifier"
