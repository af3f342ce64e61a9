"""The exact optimal margin distribution machine as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sklearn.utils import check_random_state

from sodm.estimators import defaults
from sodm.estimators.base import KernelMachineClassifier
from sodm.estimators.parameters import check_choice, check_integer, check_number
from sodm.problem.problem import Problem
from sodm.solvers.exact import solve
from sodm.solvers.result import SolveResult

SOLVERS = ("auto", "newton", "dcd")


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
    kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="rbf"
        A callable takes two sets of rows and returns the matrix of their values; it is called in blocks.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly, sigmoid and laplacian kernels. "scale" is
        ``1 / (n_features * X.var())``, rows counted by their weights; "auto" is ``1 / n_features``.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant in the poly and sigmoid kernels.
    lam : float, default=2000.0
        Weight of the loss against the norm, > 0: larger fits the training rows more closely.
    upsilon : float, default=0.5
        Weight of margins above the zone against margins below it, in (0, 1].
    theta : float, default=0.6
        Half-width of the zone without loss, in [0, 1). Rows with margins in it are no support vectors, so a
        larger theta gives a sparser machine.
    loss : {"odm", "hinge"}, default="odm"
        "hinge" gives the support vector machine without bias, with ``C = lam / M``; it has no upsilon and no
        theta.
    solver : {"auto", "newton", "dcd"}, default="auto"
        Semismooth Newton, dual coordinate descent, or what suits the problem. The hinge loss takes "dcd".
    tol : float, default=1e-3
        The fit ends when the relative duality gap is at most this and the largest violation of the optimality
        conditions, in units of the margin, at most ``sqrt(10 * tol)``: the gap is quadratic in it.
    max_iter : int, default=1000
        Most Newton steps or sweeps.
    fit_intercept : bool, default=False
        Add a constant feature in kernel space, that is use the kernel k + 1.
    class_weight : dict or "balanced", default=None
        Factors on the weights of the rows, by class. "balanced" gives all classes the same total weight.
    cache_size : float, default=1000
        Megabytes of kernel values that may be kept.
    precision : {"single", "double"}, default="single"
        Precision of kernel values; sums are in double either way. Use "double" for tolerances below 1e-5.
    warm_start : bool, default=False
        Start from the solution of the last fit when the rows are the same (say, with another lam).
    random_state : int, RandomState instance or None, default=None
        Order of the coordinates and choice of subsamples. The solution depends on it within `tol` only.
    n_jobs : int or None, default=None
        Threads. None is all cores (or OMP_NUM_THREADS where set, as in the workers of a parallel
        ``GridSearchCV``), -1 is all cores. The number of threads never changes a result.
    verbose : int, default=0
        1 shows the progress of the fit: a bar in a terminal or notebook if rich is installed, else lines.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    support_ : ndarray of shape (n_SV,)
        Rows of X that are support vectors. Of rows equal in features and label only the first is listed; it
        carries the coefficient of all.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        Those rows; empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (1, n_SV) or (n_classes, n_SV)
        Coefficients y_i g_i of the support vectors. With more than two classes there is one row per class,
        that class against the rest, over the support vectors of any of them.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the features; only with the linear kernel.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Zero unless fit_intercept.
    n_iter_ : int or ndarray of shape (n_classes,)
        Newton steps or sweeps; with more than two classes here and below one number per class.
    dual_gap_ : float or ndarray of shape (n_classes,)
        Relative duality gap at the end: how far from optimal the objective can be at most.
    violation_ : float or ndarray of shape (n_classes,)
        Largest violation of the optimality conditions, in units of the margin.
    objective_ : float or ndarray of shape (n_classes,)
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
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = defaults.LAM,
        upsilon: float = defaults.UPSILON,
        theta: float = defaults.THETA,
        loss: Literal["odm", "hinge"] = "odm",
        solver: Literal["auto", "newton", "dcd"] = "auto",
        tol: float = defaults.TOL,
        max_iter: int = defaults.MAX_ITER,
        fit_intercept: bool = False,
        class_weight: Any = None,
        cache_size: float = defaults.CACHE_SIZE,
        precision: Literal["single", "double"] = "single",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.upsilon = upsilon
        self.theta = theta
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.precision = precision
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, SOLVERS)
        if self.loss == "hinge" and self.solver == "newton":
            raise ValueError("solver='newton' needs loss='odm': the hinge loss takes solver='dcd' or 'auto'.")
        check_integer("max_iter", self.max_iter, ">= 1", lambda v: v >= 1)
        check_number("cache_size", self.cache_size, "> 0", lambda v: v > 0)

    def _train(self, problem: Problem, progress: Callable[[dict[str, Any]], Any] | None) -> SolveResult:
        return solve(
            problem.kernel.source(problem.rows.gather()),
            problem.signs,
            problem.weights,
            problem.loss,
            solver=self.solver,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            cache_bytes=int(self.cache_size * 2**20),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_threads=problem.kernel.n_threads,
            start=problem.start,
            progress=progress,
        )
