"""The exact machine for numbers instead of classes."""

from __future__ import annotations

from typing import Literal, Unpack

from sodm.estimators.parameters import check_choice
from sodm.estimators.regression import KernelMachineRegressor
from sodm.estimators.shared_parameters import (
    KERNEL_MACHINE,
    REGRESSION,
    RegressionParameters,
    shows_all_parameters,
)
from sodm.training.exact import ExactTrainer


@shows_all_parameters(KERNEL_MACHINE, REGRESSION)
class ODMRegressor(KernelMachineRegressor):
    """Optimal margin distribution machine for regression, solved exactly.

    Predictions are pulled into a zone of half-width epsilon around the targets t_i, with a squared loss that
    counts differently below and above it. It minimises

        1/2 |w|^2 + lam / (2 M) * sum_i s_i [ (t_i-epsilon-f_i)_+^2 + upsilon (f_i-t_i-epsilon)_+^2 ]

    where s_i are the sample weights and M is their sum. With ``epsilon=0`` and ``upsilon=1``, the defaults,
    this is kernel ridge regression with ``alpha = M / lam``. Other values of `upsilon` give expectiles, the
    means of lopsided losses: a small one a line that most targets are below of, a large one a line that
    most are above of. With `epsilon` rows in the zone are no support vectors, as in support vector
    regression.

    Parameters
    ----------
    solver : {"auto", "newton", "dcd"}, default="auto"
        Semismooth Newton, dual coordinate descent, or what suits the problem.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Rows of X that are support vectors. Of rows that were folded into one only the first is listed; it
        carries the coefficient of all.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        Those rows; empty if the kernel is precomputed.
    n_support_ : ndarray of shape (1,)
        How many there are, as of scikit-learn's SVR.
    dual_coef_ : ndarray of shape (n_targets, n_SV)
        Coefficients of the support vectors.
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients of the features; only with the linear kernel.
    intercept_ : ndarray of shape (n_targets,)
        The mean of the targets, or zero without `fit_intercept`.
    n_iter_ : int or ndarray of shape (n_targets,)
        Newton steps or sweeps; with several targets here and below one number for each.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Bound on the relative duality gap, computed in double whatever `precision` is: how far the objective
        can be at most from the best of the problem as it was asked. If a warning says that the kernel is not
        positive semidefinite, it is the gap all the same, but no bound.
    violation_ : float or ndarray of shape (n_targets,)
        Largest violation of the optimality conditions, in the unit of the targets.
    objective_ : float or ndarray of shape (n_targets,)
        Value of the objective above.
    n_kernel_evaluations_ : int
        Kernel values computed during the fit.
    n_features_in_ : int
        Number of features seen during the fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had names that are all strings.

    Notes
    -----
    Rows that are equal in every feature and in their targets are folded into one. With ``epsilon=0`` and
    ``upsilon=1`` rows that differ in their targets alone are too: they count as their mean.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sodm import ODMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> machine = make_pipeline(StandardScaler(), ODMRegressor(lam=10, gamma=0.01)).fit(X_train, y_train)
    >>> machine.score(X_test, y_test) > 0.3
    True
    """

    def __init__(
        self,
        *,
        solver: Literal["auto", "newton", "dcd"] = "auto",
        **shared: Unpack[RegressionParameters],
    ) -> None:
        super().__init__(**shared)
        self.solver = solver

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, ("auto", "newton", "dcd"))

    def _trainer(self) -> ExactTrainer:
        return ExactTrainer(self.solver, float(self.tol), int(self.max_iter))
