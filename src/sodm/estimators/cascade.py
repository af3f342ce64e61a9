"""Cascade machines as a scikit-learn classifier."""

from __future__ import annotations

from typing import Unpack

from sodm.estimators.parameters import check_integer
from sodm.estimators.shared_parameters import (
    KERNEL_MACHINE,
    TREE,
    PilotedTreeParameters,
    shows_all_parameters,
)
from sodm.estimators.trees import PilotedTreeClassifier
from sodm.trees import systems
from sodm.trees.tree import Tree


@shows_all_parameters(KERNEL_MACHINE, TREE)
class CascadeClassifier(PilotedTreeClassifier):
    """Cascade: random parts, of which only the support vectors move up (Graf et al., 2004).

    Ca-ODM of the paper, and with ``loss="hinge"`` Ca-SVM. Parts are pieces of the one dual problem of all
    rows; the machine is that of the last level, where one part has all support vectors that are left.

    Parameters
    ----------
    feedback : int, default=0
        Passes after the first, in which the support vectors found join all parts of the first level. Each
        pass brings the objective nearer to the exact one.

    Notes
    -----
    The attributes are those of `SODMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sodm import CascadeClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> machine = CascadeClassifier(n_partitions=4, random_state=0).fit(X[:1500], y[:1500])
    >>> machine.score(X[1500:], y[1500:]) > 0.95
    True
    """

    def __init__(
        self,
        *,
        feedback: int = 0,
        **shared: Unpack[PilotedTreeParameters],
    ) -> None:
        super().__init__(**shared)
        self.feedback = feedback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("feedback", self.feedback, ">= 0", lambda v: v >= 0)

    def _trainer(self) -> Tree:
        return self._tree(systems.cascade(int(self.feedback)))
