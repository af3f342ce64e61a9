"""The exact optimal margin distribution machine as a scikit-learn classifier."""

from __future__ import annotations

from typing import Literal, Unpack

from sodm.estimators.base import KernelMachineClassifier
from sodm.estimators.parameters import check_solver
from sodm.estimators.shared_parameters import KERNEL_MACHINE, KernelMachineParameters, shows_all_parameters
from sodm.training.exact import ExactTrainer


@shows_all_parameters(KERNEL_MACHINE)
class ODMClassifier(KernelMachineClassifier):
    """Optimal margin distribution machine, solved exactly.

    A kernel classifier like the support vector machine, but with a loss on both sides: margins
    m_i = y_i f(x_i) are pulled into the zone [1-theta, 1+theta], which shapes the whole distribution of the
    margins (its mean and its variance) and not only the smallest of them. It minimises

        1/2 |w|^2 + lam / (2 M (1-theta)^2) * sum_i s_i [ (1-theta-m_i)_+^2 + upsilon (m_i-1-theta)_+^2 ]

    where s_i are the sample weights and M is their sum. The sum of the losses is divided by M, so a good
    `lam` does not depend on the number of rows.

    Parameters
    ----------
    solver : {"auto", "newton", "dcd"}, default="auto"
        Semismooth Newton, dual coordinate descent, or what suits the problem. The hinge loss takes "dcd".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    lam_ : float
        The lam of the fit, also where `lam` is "auto".
    support_ : ndarray of shape (n_SV,)
        Rows of X that are support vectors. Of rows equal in features and label only the first is listed; it
        carries the coefficient of all.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        Those rows; empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (1, n_SV), (n_classes - 1, n_SV) or (n_classes, n_SV)
        Coefficients y_i g_i of the support vectors. With more than two classes laid out as in SVC: the
        support vectors class by class, and for one of class c row d is the pair with class d < c, row d - 1
        that with class d > c. With ``multi_class="ovr"`` one row per class.
    n_support_ : ndarray of shape (n_classes,)
        How many support vectors are of each class.
    coef_ : ndarray of shape (1, n_features) or (n_machines, n_features)
        Coefficients of the features; only with the linear kernel.
    intercept_ : ndarray of shape (1,) or (n_machines,)
        Zero unless fit_intercept.
    n_iter_ : int or ndarray of shape (n_machines,)
        Newton steps or sweeps; with more than two classes here and below one number per pair (0, 1), (0, 2),
        ..., (1, 2), ... of classes, or per class.
    dual_gap_ : float or ndarray of shape (n_machines,)
        Bound on the relative duality gap, computed in double whatever `precision` is: how far the objective
        can be at most from the best of the problem as it was asked. If a warning says that the kernel is not
        positive semidefinite, it is the gap all the same, but no bound.
    violation_ : float or ndarray of shape (n_machines,)
        Largest violation of the optimality conditions, in units of the margin.
    objective_ : float or ndarray of shape (n_machines,)
        Value of the objective above.
    n_kernel_evaluations_ : int
        Kernel values computed during the fit.
    n_features_in_ : int
        Number of features seen during the fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had names that are all strings.

    Notes
    -----
    For probabilities use `sklearn.calibration.CalibratedClassifierCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sodm import ODMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> machine = make_pipeline(MinMaxScaler(), ODMClassifier()).fit(X_train, y_train)
    >>> machine.score(X_test, y_test) > 0.95
    True
    """

    def __init__(
        self,
        *,
        solver: Literal["auto", "newton", "dcd"] = "auto",
        **shared: Unpack[KernelMachineParameters],
    ) -> None:
        super().__init__(**shared)
        self.solver = solver

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_solver("solver", self.solver, self.loss)

    def _trainer(self) -> ExactTrainer:
        return ExactTrainer(self.solver, float(self.tol), int(self.max_iter))
