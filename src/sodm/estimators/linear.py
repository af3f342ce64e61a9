"""The linear machine as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from sodm.estimators.kernel_machine import unchanged_on_failure
from sodm.estimators.labels import encode, find_classes
from sodm.estimators.linear_chunks import RowsOfChunks, survey
from sodm.estimators.linear_evaluation import accuracy_on
from sodm.estimators.linear_labels import encode_known, need_two_classes
from sodm.estimators.linear_lam import automatic_lam
from sodm.estimators.linear_machine import LinearMachine
from sodm.estimators.linear_rows import ROWS
from sodm.estimators.parameters import check_choice, check_integer, check_number
from sodm.estimators.seed import RandomState
from sodm.estimators.shared_parameters import LINEAR, LinearParameters, shows_all_parameters
from sodm.estimators.threads import threads_for
from sodm.estimators.weights import ClassWeight, check_sample_weight, class_weights
from sodm.problem.csr import check_sparse
from sodm.problem.linear import ChunkedRows, QuadraticRows, RowMaker, RowSums, RowsWithPast
from sodm.problem.losses import LOSSES, Loss, make_loss
from sodm.problem.row_types import MatrixLike, Rows
from sodm.solvers.linear_solver import LinearSettings, Start
from sodm.training.linear import SOLVERS, LinearTrained, choose_solver

Array = NDArray[np.float64]


def _has_partial_fit(machine: LinearODMClassifier) -> bool:
    if machine.loss == "hinge":
        raise AttributeError("partial_fit needs loss='odm': the hinge loss is not smooth.")
    return True


@shows_all_parameters(LINEAR)
class LinearODMClassifier(ClassifierMixin, LinearMachine):
    """Optimal margin distribution machine with a linear decision function.

    Minimises, with margins m_i = y_i (<coef, x_i> + intercept), weights s_i and W = sum s_i,

        1/2 |w|^2 + lam / (2 W (1-theta)^2) * sum_i s_i [ (1-theta-m_i)_+^2 + upsilon (m_i-1-theta)_+^2 ]

    where w is `coef_` together with the weight of the constant feature that carries the intercept.

    Parameters
    ----------
    solver : {"auto", "newton", "dsvrg", "svrg", "csvrg", "dcd"}, default="auto"
        "newton" is exact and the fastest on one machine: a few passes over the rows. "dsvrg" is Algorithm 2
        of the paper, "svrg" and "csvrg" are what it is compared with, "dcd" is dual coordinate descent.
        "auto" is "newton", or "dcd" for the hinge loss. All of them find the same solution, csvrg up to the
        error of its radius.
    loss : {"odm", "hinge"}, default="odm"
        "hinge" is the support vector machine, 1/2 |w|^2 + lam / W * sum_i s_i (1-m_i)_+, for comparison.
    lam : float or "auto", default="auto"
        Weight of the loss against the norm, > 0. "auto" grows with the rows and falls with their length:
        2 W (1-theta)^2 C, or W C for the hinge loss, where C is 30 / (mean of |x|^2, the constant feature
        included), but at most 1 or the rows for each feature, whichever is more.
    upsilon : float, default=0.5
        How much a margin above the dead zone counts against one below it, in (0, 1].
    theta : float, default=0.9
        Half-width of the dead zone [1-theta, 1+theta], in [0, 1).
    fit_intercept : bool, default=True
        Add a constant feature to every row. Its weight is part of the norm, as in `LinearSVC`.
    tol : float, default=1e-6
        Stop when the gradient is at most so much of the gradient at w = 0 (newton: and the relative duality
        gap at most tol; csvrg: the gradient of its centres; hinge: the gap alone).
    max_iter : int, default=1000
        Newton steps or sweeps of dcd.
    epochs : int, default=50
        Epochs of svrg, dsvrg and csvrg.
    step_size : float or "auto", default="auto"
        Step of svrg, dsvrg and csvrg. "auto" is 1 / (2 L), L the largest smoothness constant of a row's
        loss; a number is used as it is. A step that proves too long is halved, with a warning.
    n_partitions : int, default=8
        Nodes of dsvrg.
    n_landmarks : int, default=50
        Strata of dsvrg's partitions.
    steps_per_node : int or "auto", default="auto"
        Steps that each node of dsvrg takes in its turn. "auto" makes it one step per row and epoch, but for
        more than 65,536 rows fewer: down to one step per sixteen rows.
    radius : float or "auto", default="auto"
        Radius of csvrg's balls. "auto" is a tenth of the typical distance between two rows.
    time_limit : float or None, default=None
        Seconds after which the coefficients of the last finished iteration or epoch are taken. The first is
        always finished.
    class_weight : dict or "balanced", default=None
        Factors on the weights of the rows, by class. "balanced" gives all classes the same total weight.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if classes and features are the same; dcd also from its
        dual variables, if there are as many rows.
    random_state : int, RandomState instance or None, default=None
        Order of the rows and partitions; None is a fixed seed, so that the same fit gives the same machine.
        Newton does not use it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; with more than two classes one row per class, that class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    lam_ : float
        The lam of the fit.
    n_iter_ : int
        Newton steps, epochs or sweeps; of the class that took the most.
    objective_ : float or ndarray of shape (n_classes,)
        Value of the objective; with more than two classes here and below one number per class.
    dual_gap_ : float or ndarray of shape (n_classes,)
        Relative duality gap: how far from optimal the objective can be at most.
    gradient_norm_ : float or ndarray of shape (n_classes,)
        Norm of the gradient relative to that at w = 0: what `tol` is compared with.
    history_ : list of dict
        One record per iteration or epoch: ``epoch``, ``seconds`` (of training, without what recording took),
        ``objective`` (sum over the classes), ``gradient_norm`` and ``gap`` (the largest), ``passes`` over
        the rows, and ``accuracy`` on the `eval_set` of the fit.
    solver_ : str
        The solver that was used.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sodm import LinearODMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> machine = make_pipeline(MinMaxScaler(), LinearODMClassifier()).fit(X_train, y_train)
    >>> machine.score(X_test, y_test) > 0.95
    True
    """

    _past: QuadraticRows | None = None  # rows that partial_fit has seen
    _past_square: float = 0.0  # the sum of their squared lengths
    _duals: Array | None = None  # of the last fit by dcd, for a warm start

    def __init__(
        self,
        *,
        solver: Literal["auto", "newton", "dsvrg", "svrg", "csvrg", "dcd"] = "auto",
        loss: Literal["odm", "hinge"] = "odm",
        lam: float | Literal["auto"] = "auto",
        upsilon: float = 0.5,
        theta: float = 0.9,
        epochs: int = 50,
        step_size: float | Literal["auto"] = "auto",
        n_partitions: int = 8,
        n_landmarks: int = 50,
        steps_per_node: int | Literal["auto"] = "auto",
        radius: float | Literal["auto"] = "auto",
        class_weight: ClassWeight = None,
        random_state: RandomState = None,
        **shared: Unpack[LinearParameters],
    ) -> None:
        super().__init__(upsilon=upsilon, **shared)
        self.solver = solver
        self.loss = loss
        self.lam = lam
        self.theta = theta
        self.epochs = epochs
        self.step_size = step_size
        self.n_partitions = n_partitions
        self.n_landmarks = n_landmarks
        self.steps_per_node = steps_per_node
        self.radius = radius
        self.class_weight = class_weight
        self.random_state = random_state

    # --------------------------------------------------------------------------------------------- fit

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: tuple[MatrixLike, ArrayLike] | None = None,
    ) -> LinearODMClassifier:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            float32 and float64 are used as they are, without a copy; in Fortran order with many features
            a copy is made.
        y : array-like, shape (n_samples,)
            Class labels, two or more different ones.
        sample_weight : array-like, shape (n_samples,), optional
            Non-negative. A row of weight k counts exactly as k rows; a row of weight 0 is left out.
        eval_set : tuple (X, y), optional
            Rows on which the accuracy is recorded in `history_` after each iteration or epoch.

        Returns
        -------
        self
            A fit that fails or is interrupted leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y = self._check_rows(X, y)
            weights = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
            classes = find_classes(y if weights is None else y[weights > 0])
            weighted = weights is not None and not np.all(weights > 0)
            need_two_classes(type(self).__name__, classes, weighted)
            codes = encode(y, classes)
            maker = self._maker(classes, self._factors(classes, codes, weights))
            rows = maker.rows(X, codes, weights)
            if self.lam == "auto":
                maker = self._automatic(maker, rows.weight, rows.mean_square(), rows.width)
                rows = maker.rows(X, codes, weights)
            self._train(rows, maker, self._start(maker), eval_set)
            self._past = None
            return self

    @available_if(_has_partial_fit)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> LinearODMClassifier:
        """Fit to these rows together with those of all earlier calls, which need not be kept.

        Rows of earlier calls are remembered as a quadratic: the sum of their losses as it was, exactly,
        where the coefficients were when they were seen, with every row held on its side of the dead zone.
        So the first call is a fit, and later ones come near to the fit on all rows together. Always solved
        by Newton.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Class labels; they need not be all of the classes.
        sample_weight : array-like, shape (n_samples,), optional
            As for `fit`.
        classes : array-like, optional
            All class labels that will ever occur. Needed at the first call, unless `fit` has seen
            them; the rows of an earlier `fit` are not remembered.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            if isinstance(self.class_weight, str):
                raise ValueError(
                    "class_weight='balanced' needs all rows at once; give partial_fit a dictionary."
                )
            first = self._past is None
            if classes is None and not hasattr(self, "classes_"):
                raise ValueError("classes must be given at the first call of partial_fit.")
            known = self.classes_ if classes is None else np.unique(np.asarray(classes))
            if not first and not np.array_equal(self.classes_, known):
                raise ValueError(f"classes must be the same at every call of partial_fit: {list(known)}.")
            need_two_classes(type(self).__name__, known)
            X, y = self._check_rows(X, y, reset=first)
            weights = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
            codes = encode_known(y, known)
            maker = self._maker(known, self._factors(known, codes, weights))
            rows, past = maker.rows(X, codes, weights), self._past
            square = rows.weight * rows.mean_square() + (self._past_square if past is not None else 0.0)
            if self.lam == "auto":
                weight = rows.weight + (past.weight if past is not None else 0.0)
                maker = self._automatic(maker, weight, square / weight, rows.width)
                rows = maker.rows(X, codes, weights)
            start = self._zero(maker) if past is None else Start(maker.join(self.coef_, self.intercept_))
            source = rows if past is None else RowsWithPast(rows, past)
            self._train(source, maker, start, None, solver="newton")
            diagonal = not rows.gram_pays() if past is None else past.is_diagonal
            seen = QuadraticRows.of(rows, maker.join(self.coef_, self.intercept_), diagonal=diagonal)
            self._past = seen if past is None else past.add(seen)
            self._past_square = square
            return self

    def fit_chunks(
        self,
        chunks: Any,
        *,
        classes: ArrayLike | None = None,
        label: str | None = None,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        batch_rows: int = 65_536,
        eval_set: tuple[MatrixLike, ArrayLike] | None = None,
    ) -> LinearODMClassifier:
        """Fit to rows that do not fit into memory, going over them a handful of times.

        The solution is that of `fit` on all rows together. Memory is bounded by three chunks: the one
        worked on, the next, which is read meanwhile, and the first, on which the search starts. Always
        solved by Newton.

        Parameters
        ----------
        chunks : callable, pyarrow Dataset or Table, or path of Parquet files
            A callable takes nothing, starts anew at each call and returns an iterator of ``(X, y)`` or
            ``(X, y, sample_weight)``.
        classes : array-like, optional
            All class labels, whether or not they occur; other labels are refused. Without, an additional pass
            over the labels finds them, as it does the weights of the classes for class_weight="balanced";
            lam="auto" takes a pass over the rows.
        label, features, weight : names of columns, optional
            For Arrow data: the column of the labels, those of the features (default: all others), that of
            the weights.
        batch_rows : int, default=65536
            Rows of a chunk of Arrow data.
        eval_set : tuple (X, y), optional
            As for `fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from sodm import LinearODMClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(1000, 3))
        >>> y = X[:, 0] > 0
        >>> pieces = lambda: ((X[i : i + 100], y[i : i + 100]) for i in range(0, 1000, 100))
        >>> LinearODMClassifier().fit_chunks(pieces).score(X, y) > 0.95
        True
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            if self.loss == "hinge":
                raise ValueError("fit_chunks needs loss='odm': the hinge loss is not smooth.")
            passes, only_labels = self._passes(
                chunks, features, label=label, weight=weight, batch_rows=batch_rows
            )
            given = None if classes is None else np.unique(np.asarray(classes))
            known, factors = survey(only_labels, given, self.class_weight)
            need_two_classes(type(self).__name__, known)
            maker = self._maker(known, factors)
            of_chunks = RowsOfChunks(passes, maker, self._check_chunk)
            rows = ChunkedRows(of_chunks)
            if self.lam == "auto":
                maker = self._automatic(maker, *of_chunks.weight_and_mean_square(), rows.width)
                rows = ChunkedRows(RowsOfChunks(passes, maker, self._check_chunk))
            self._train(rows, maker, self._start(maker), eval_set, solver="newton")
            self._past = None
            return self

    # ----------------------------------------------------------------------------------------- training

    def _maker(self, classes: NDArray[Any], factors: Array | None) -> RowMaker:
        """How rows become rows of the problem that the parameters state."""
        return RowMaker(classes, factors, self._loss(), self._bias, threads_for(self.n_jobs))

    def _loss(self) -> Loss:
        """The loss that the parameters state, with any lam where that is still to be found."""
        lam = 1.0 if self.lam == "auto" else self.lam
        return make_loss(self.loss, lam, self.upsilon, self.theta)

    def _automatic(self, maker: RowMaker, weight: float, mean_square: float, width: int) -> RowMaker:
        """The same with the lam that is "auto" for such rows."""
        lam = automatic_lam(maker.loss, weight, mean_square, width)
        return replace(maker, loss=replace(maker.loss, lam=lam))

    def _factors(
        self, classes: NDArray[Any], codes: NDArray[np.int32], weights: Array | None
    ) -> Array | None:
        """What class_weight means for these rows."""
        if self.class_weight is None:
            return None
        kept = codes >= 0
        ones = np.ones(len(codes)) if weights is None else weights
        return class_weights(self.class_weight, classes, codes[kept].astype(np.int64), ones[kept])

    def _settings(self) -> LinearSettings:
        return LinearSettings(
            solver=self.solver,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            epochs=int(self.epochs),
            step_size=self.step_size if self.step_size == "auto" else float(self.step_size),
            n_partitions=int(self.n_partitions),
            n_landmarks=int(self.n_landmarks),
            steps_per_node=self.steps_per_node if self.steps_per_node == "auto" else int(self.steps_per_node),
            radius=self.radius if self.radius == "auto" else float(self.radius),
        )

    def _zero(self, maker: RowMaker) -> Start:
        return Start(np.zeros((len(maker.positive), maker.width(self.n_features_in_))))

    def _start(self, maker: RowMaker) -> Start:
        """Zero, or with warm_start the last fit if it fits."""
        zero = self._zero(maker)
        if self.warm_start and hasattr(self, "coef_") and np.array_equal(maker.classes, self.classes_):
            w = maker.join(self.coef_, self.intercept_)
            if w.shape == zero.w.shape:
                return Start(w, self._duals)
        return zero

    def _train(
        self,
        source: RowSums,
        maker: RowMaker,
        start: Start,
        eval_set: tuple[MatrixLike, ArrayLike] | None,
        solver: str | None = None,
    ) -> None:
        """Train on these rows, here or elsewhere, and copy what was found; `solver` beats the parameter."""
        settings = self._settings() if solver is None else replace(self._settings(), solver=solver)
        accuracy = None if eval_set is None else accuracy_on(eval_set, self.n_features_in_, maker)
        trained = self._run_solver(
            source, maker.loss, start, settings, accuracy=accuracy, random_state=self.random_state
        )
        self._set_fitted(trained, maker)
        self._warn(trained)

    def _set_fitted(self, trained: LinearTrained, maker: RowMaker) -> None:
        self.classes_ = maker.classes
        self.lam_ = float(maker.loss.lam)
        self.coef_, self.intercept_ = maker.split(trained.result.w)
        self.solver_ = trained.result.solver
        self._duals = trained.result.duals if self.warm_start else None
        self._set_numbers(trained)

    # ---------------------------------------------------------------------------------------- decisions

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """The values <coef, x> + intercept.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive for ``classes_[1]``; with more, one column per class, against the rest.
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The class of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,)
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)]

    # ------------------------------------------------------------------------------- checks and messages

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, ("auto", *SOLVERS))
        check_choice("loss", self.loss, LOSSES)
        if not isinstance(self.lam, str) or self.lam != "auto":
            check_number("lam", self.lam, "> 0, or 'auto'", lambda v: v > 0)
        check_number("upsilon", self.upsilon, "in (0, 1]", lambda v: 0 < v <= 1)
        check_number("theta", self.theta, "in [0, 1)", lambda v: 0 <= v < 1)
        loss = self._loss()
        choose_solver(self.solver, loss).check_loss(loss)
        for name in ("step_size", "radius"):
            if getattr(self, name) != "auto":
                check_number(name, getattr(self, name), "> 0, or 'auto'", lambda v: v > 0)
        if self.steps_per_node != "auto":
            check_integer("steps_per_node", self.steps_per_node, ">= 1, or 'auto'", lambda v: v >= 1)
        for name in ("epochs", "n_partitions", "n_landmarks"):
            check_integer(name, getattr(self, name), ">= 1", lambda v: v >= 1)

    def _check_rows(self, X: MatrixLike, y: ArrayLike, *, reset: bool = True) -> tuple[Rows, NDArray[Any]]:
        """Rows as the core takes them, and one label for each."""
        rows, labels = validate_data(self, check_sparse(X), y, reset=reset, **ROWS)
        return self._finite(rows), labels

    def _name_of(self, problem: int) -> str:
        return f"class {self.classes_[problem]!r}"
