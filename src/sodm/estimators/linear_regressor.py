"""The linear machine for numbers instead of classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_consistent_length, validate_data

from sodm.data.chunks import Chunk, read_ahead
from sodm.estimators.kernel_machine import unchanged_on_failure
from sodm.estimators.linear_machine import LinearMachine, Passes
from sodm.estimators.linear_rows import ROWS
from sodm.estimators.parameters import check_number
from sodm.estimators.shared_parameters import LINEAR, LinearParameters, shows_all_parameters
from sodm.estimators.threads import threads_for
from sodm.estimators.weights import check_sample_weight
from sodm.problem.csr import check_sparse
from sodm.problem.linear import ChunkedRows, RowSums
from sodm.problem.linear.targets import TargetMaker, TargetRows, TargetSums
from sodm.problem.losses import TargetLoss
from sodm.problem.row_types import MatrixLike
from sodm.problem.text_columns import refuse_text_targets
from sodm.solvers.linear_solver import LinearSettings, Start
from sodm.training.linear import LinearTrained

Array = NDArray[np.float64]


@shows_all_parameters(LINEAR)
class LinearODMRegressor(RegressorMixin, LinearMachine):
    """Optimal margin distribution machine for regression with a linear function, solved exactly.

    Minimises, with f_i = <coef, x_i> + what the intercept has beyond the mean of the targets t_i,

        1/2 |w|^2 + lam / (2 W) * sum_i s_i [ (t_i-epsilon-f_i)_+^2 + upsilon (f_i-t_i-epsilon)_+^2 ]

    where s_i are weights, W = sum s_i, and w is `coef_` together with the weight of the constant feature that
    carries the intercept. Solved by Newton's method, in a few passes over the rows.

    Parameters
    ----------
    lam : float, default=10000
        Weight of the loss against the norm, > 0. Ridge regression calls W / lam alpha.
    upsilon : float, default=1.0
        Weight of predictions above the zone against predictions below it, > 0: 1 counts both the same,
        others give expectiles.
    epsilon : float, default=0.0
        Half-width of the zone around the targets without loss, >= 0, in the unit of the targets.
    fit_intercept : bool, default=True
        Take the mean of the targets, weighted, off before the fit and add it to predictions, and add a
        constant feature to every row. Its weight is part of the norm, as in `LinearSVR`.
    tol : float, default=1e-6
        Stop when the gradient is at most so much of the gradient at w = 0, and the relative duality gap at
        most tol.
    max_iter : int, default=1000
        Most Newton steps.
    time_limit : float or None, default=None
        Seconds after which the coefficients of the last finished step are taken.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if features and targets are as many.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
    intercept_ : ndarray of shape (n_targets,)
    n_iter_ : int
        Newton steps; of the target that took the most.
    objective_ : float or ndarray of shape (n_targets,)
        Value of the objective; with several targets here and below one number for each.
    dual_gap_ : float or ndarray of shape (n_targets,)
        Relative duality gap: how far from optimal the objective can be at most.
    gradient_norm_ : float or ndarray of shape (n_targets,)
        Norm of the gradient relative to that at w = 0: what `tol` is compared with.
    history_ : list of dict
        One record per Newton step: ``epoch``, ``seconds``, ``objective`` (sum over the targets),
        ``gradient_norm`` and ``gap`` (the largest), ``passes`` over the rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from sodm import LinearODMRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> machine = LinearODMRegressor().fit(X, 3 * X[:, 0] - X[:, 1] + 5)
    >>> machine.coef_.round(2), machine.intercept_.round(2)
    (array([[ 3., -1.]]), array([5.]))
    """

    def __init__(
        self,
        *,
        lam: float = 10_000.0,
        upsilon: float = 1.0,
        epsilon: float = 0.0,
        **shared: Unpack[LinearParameters],
    ) -> None:
        super().__init__(upsilon=upsilon, **shared)
        self.lam = lam
        self.epsilon = epsilon

    # --------------------------------------------------------------------------------------------- fit

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LinearODMRegressor:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
        y : array-like, shape (n_samples,) or (n_samples, n_targets)
            Targets; several are solved together.
        sample_weight : array-like, shape (n_samples,), optional
            Non-negative. A row of weight k counts exactly as k rows; a row of weight 0 is left out.

        Returns
        -------
        self
            A fit that fails or is interrupted leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            y = refuse_text_targets(y, type(self).__name__)
            X, y = validate_data(self, check_sparse(X), y, multi_output=True, y_numeric=True, **ROWS)
            X = self._finite(X)
            weights = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
            y = np.asarray(y, dtype=np.float64)
            targets = y.reshape(len(y), -1)
            maker = self._maker(TargetSums.of(targets, weights))
            self._train(maker.rows(X, targets, weights), maker, flat=y.ndim == 1)
            return self

    def fit_chunks(
        self,
        chunks: Any,
        *,
        label: str | None = None,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        batch_rows: int = 65_536,
    ) -> LinearODMRegressor:
        """Fit to rows that do not fit into memory, going over them a handful of times.

        The solution is that of `fit` on all rows together. One pass over the targets finds their mean.

        Parameters
        ----------
        chunks : callable, pyarrow Dataset or Table, or path of Parquet files
            A callable takes nothing, starts anew at each call and returns an iterator of ``(X, y)`` or
            ``(X, y, sample_weight)``.
        label, features, weight : names of columns, optional
            For Arrow data: the column of the targets, those of the features (default: all others), that of
            the weights.
        batch_rows : int, default=65536
            Rows of a chunk of Arrow data.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            passes, only_targets = self._passes(
                chunks, features, label=label, weight=weight, batch_rows=batch_rows
            )
            summed, flat = self._survey(only_targets)
            maker, first = self._maker(summed), True

            def rows() -> Iterator[TargetRows]:
                nonlocal first
                for chunk in read_ahead(passes()):
                    X = self._check_chunk(chunk.X, first)
                    targets, weights = _checked_targets(chunk)
                    check_consistent_length(X, targets)
                    first = False
                    if weights.any():
                        yield maker.rows(X, targets, weights)

            self._train(ChunkedRows(rows), maker, flat)
            return self

    # ----------------------------------------------------------------------------------------- training

    def _survey(self, passes: Passes) -> tuple[TargetSums, bool]:
        """Sums over the targets of all chunks, and whether they are one number a row."""
        total, shape = None, None
        for chunk in passes():
            targets, weights = _checked_targets(chunk)
            own = np.ndim(chunk.y), targets.shape[1]
            shape = own if shape is None else shape
            if own != shape:
                raise ValueError("the targets of all chunks must have the same number of columns.")
            sums = TargetSums.of(targets, weights)
            total = sums if total is None else total + sums
        if total is None or not total.weight > 0:
            raise ValueError("there is no row with a weight > 0 in the chunks.")
        return total, shape == (1, 1)

    def _maker(self, summed: TargetSums) -> TargetMaker:
        """How rows become rows of the problem that the parameters state."""
        return summed.maker(self._loss(), bool(self.fit_intercept), self._bias, threads_for(self.n_jobs))

    def _loss(self) -> TargetLoss:
        return TargetLoss(float(self.lam), float(self.upsilon), float(self.epsilon))

    def _settings(self) -> LinearSettings:
        return LinearSettings(solver="newton", tol=float(self.tol), max_iter=int(self.max_iter))

    def _train(self, source: RowSums, maker: TargetMaker, flat: bool) -> None:
        """Train on these rows and copy what was found."""
        trained = self._run_solver(source, maker.loss, self._start(maker, source.width), self._settings())
        self._set_fitted(trained, maker, flat)
        self._warn(trained)

    def _start(self, maker: TargetMaker, width: int) -> Start:
        """Zero, or with warm_start the last fit if it fits."""
        zero = np.zeros((len(maker.centre), width))
        if self.warm_start and hasattr(self, "coef_") and len(self.coef_) == len(zero):
            w = maker.join(self.coef_, self.intercept_)
            return Start(w if w.shape == zero.shape else zero)
        return Start(zero)

    def _set_fitted(self, trained: LinearTrained, maker: TargetMaker, flat: bool) -> None:
        self.coef_, self.intercept_ = maker.split(trained.result.w)
        self._flat = flat  # whether targets were, and so predictions are, one number a row
        self._set_numbers(trained)

    # ------------------------------------------------------------------------------------------- values

    def predict(self, X: MatrixLike) -> Array:
        """The values <coef, x> + intercept.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_targets), as y was
        """
        values = self._values(X)
        return values[:, 0] if self._flat else values

    # ------------------------------------------------------------------------------- checks and messages

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("lam", "upsilon"):
            check_number(name, getattr(self, name), "> 0", lambda v: v > 0)
        check_number("epsilon", self.epsilon, ">= 0", lambda v: v >= 0)

    def _name_of(self, problem: int) -> str:
        return f"target {problem}"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _checked_targets(chunk: Chunk) -> tuple[Array, Array]:
    """Targets of shape (n, n_targets), and weights."""
    y = check_array(chunk.y, ensure_2d=False, dtype=np.float64, input_name="y")
    if chunk.sample_weight is None:
        return y.reshape(len(y), -1), np.ones(len(y))
    weights = np.asarray(chunk.sample_weight, dtype=np.float64)
    return y.reshape(len(y), -1), check_sample_weight(weights, len(y)) if weights.any() else weights
