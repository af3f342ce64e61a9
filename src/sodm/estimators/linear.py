"""The linear machine as a scikit-learn classifier."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, assert_all_finite, check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from sodm.data.chunks import Chunk, chunk_factory, read_ahead
from sodm.estimators.base import FLOATS, _scalar_if_one, unchanged_on_failure
from sodm.estimators.labels import encode, find_classes
from sodm.estimators.parameters import check_choice, check_flag, check_integer, check_number
from sodm.estimators.progress import make_progress
from sodm.estimators.threads import threads_for
from sodm.estimators.weights import check_sample_weight, class_weights
from sodm.partition import StratifiedPartitioner
from sodm.problem.csr import check_sparse
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.linear import (
    ChunkedRows,
    LinearProblem,
    MemoryRows,
    QuadraticRows,
    RowsWithPast,
    Source,
    core_rows,
)
from sodm.problem.losses import HingeLoss, OdmLoss
from sodm.problem.rows import canonical
from sodm.solvers.csvrg import automatic_radius, csvrg
from sodm.solvers.dsvrg import automatic_steps, dsvrg
from sodm.solvers.linear_dcd import linear_dcd
from sodm.solvers.linear_newton import newton
from sodm.solvers.linear_result import History, LinearResult
from sodm.solvers.svrg import svrg
from sodm.solvers.variance_reduced import Epochs

SOLVERS = ("auto", "newton", "dsvrg", "svrg", "csvrg", "dcd")
Array = NDArray[np.float64]


def _has_partial_fit(machine: LinearODMClassifier) -> bool:
    if machine.loss == "hinge":
        raise AttributeError("partial_fit needs loss='odm': the hinge loss is not smooth.")
    return True


class LinearODMClassifier(ClassifierMixin, BaseEstimator):
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
    lam : float, default=1000
        Weight of the loss against the norm, > 0.
    upsilon : float, default=0.5
        How much a margin above the dead zone counts against one below it, in (0, 1].
    theta : float, default=0.9
        Half-width of the dead zone [1-theta, 1+theta], in [0, 1).
    fit_intercept : bool, default=True
        Add a constant feature to every row. Its weight is part of the norm, as in `LinearSVC`.
    intercept_scaling : float, default=1
        Value of that feature; the larger, the less the intercept is held back by the norm.
    tol : float, default=1e-6
        Stop when the gradient is at most so much of the gradient at w = 0 (newton: and the relative duality
        gap at most tol; csvrg: the gradient of its centres; hinge: the gap alone).
    max_iter : int, default=1000
        Newton steps or sweeps of dcd.
    epochs : int, default=50
        Epochs of svrg, dsvrg and csvrg.
    step_size : float or "auto", default="auto"
        Step of svrg, dsvrg and csvrg. "auto" is 1 / (2 L), L the largest smoothness constant of a row's
        loss. A step that proves too long is halved, with a warning.
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
        Start from the coefficients of the last fit, if classes and features are the same.
    random_state : int, RandomState instance or None, default=None
        Order of the rows and partitions. Newton does not use it.
    n_jobs : int or None, default=None
        Threads. None is all cores (or OMP_NUM_THREADS where set), -1 is all cores. The number of threads
        never changes a result.
    verbose : int, default=0
        1 shows the progress of the fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; with more than two classes one row per class, that class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
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

    def __init__(
        self,
        *,
        solver: Literal["auto", "newton", "dsvrg", "svrg", "csvrg", "dcd"] = "auto",
        loss: Literal["odm", "hinge"] = "odm",
        lam: float = 1000.0,
        upsilon: float = 0.5,
        theta: float = 0.9,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 1000,
        epochs: int = 50,
        step_size: float | Literal["auto"] = "auto",
        n_partitions: int = 8,
        n_landmarks: int = 50,
        steps_per_node: int | Literal["auto"] = "auto",
        radius: float | Literal["auto"] = "auto",
        time_limit: float | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.solver = solver
        self.loss = loss
        self.lam = lam
        self.upsilon = upsilon
        self.theta = theta
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.epochs = epochs
        self.step_size = step_size
        self.n_partitions = n_partitions
        self.n_landmarks = n_landmarks
        self.steps_per_node = steps_per_node
        self.radius = radius
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # --------------------------------------------------------------------------------------------- fit

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: tuple[Any, Any] | None = None
    ) -> LinearODMClassifier:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            float32 and float64 are used as they are, in C or Fortran order, without a copy.
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
            X, y = validate_data(
                self,
                check_sparse(X),
                y,
                accept_sparse="csr",
                dtype=FLOATS,
                accept_large_sparse=True,
                ensure_all_finite=False,
            )
            X = self._finite(X)
            weights = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
            classes = find_classes(y if weights is None else y[weights > 0])
            self._need_two(classes, weights is not None and not np.all(weights > 0))
            rows = self._rows(X, encode(y, classes), weights, classes)
            start = self._start(classes, rows.width)
            self._past = None
            return self._solve(rows, classes, start, eval_set)

    @available_if(_has_partial_fit)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
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
            self._need_two(known, False)
            X, y = validate_data(
                self,
                check_sparse(X),
                y,
                reset=first,
                accept_sparse="csr",
                dtype=FLOATS,
                accept_large_sparse=True,
                ensure_all_finite=False,
            )
            X = self._finite(X)
            weights = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
            rows = self._rows(X, _encode_known(y, known), weights, known)
            past = None if first else self._past
            start = np.zeros((len(rows.positive), rows.width)) if first else self._weights()
            self._solve(rows if past is None else RowsWithPast(rows, past), known, start, None)
            seen = self._remember(rows)
            self._past = seen if past is None else past.add(seen)
            return self

    def fit_chunks(
        self,
        chunks: Any,
        *,
        classes: Any = None,
        label: str | None = None,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        batch_rows: int = 65_536,
        eval_set: tuple[Any, Any] | None = None,
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
            All class labels. Without, an additional pass over the labels finds them.
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
            check_integer("batch_rows", batch_rows, ">= 1", lambda v: v >= 1)

            def passes_over(names: Sequence[str] | None) -> Callable[[], Iterable[Chunk]]:
                return chunk_factory(
                    chunks, label=label, features=names, weight=weight, batch_rows=int(batch_rows)
                )

            passes = passes_over(features)
            known, factors = self._survey(passes if callable(chunks) else passes_over(()), classes)
            rows = ChunkedRows(_Chunks(self, passes, known, factors))
            self._past = None
            return self._solve(rows, known, self._start(known, rows.width), eval_set)

    def _survey(
        self, passes: Callable[[], Iterable[Chunk]], classes: Any
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The classes and their factors, from the labels alone where they are not known beforehand."""
        known = None if classes is None else np.unique(np.asarray(classes))
        if known is not None and not isinstance(self.class_weight, str):
            self._need_two(known, False)
            codes = np.arange(len(known))
            return known, class_weights(self.class_weight, known, codes, np.ones(len(known)))
        totals: dict[Any, float] = {}
        for chunk in passes():
            y = column_or_1d(chunk.y)
            present = find_classes(y)
            weights = check_sample_weight(chunk.sample_weight, len(y))
            for label, total in zip(
                present, np.bincount(encode(y, present), weights, len(present)), strict=True
            ):
                if total > 0:
                    totals[label] = totals.get(label, 0.0) + float(total)
        labels = sorted(totals)
        found = np.array(labels)
        self._need_two(found, False)
        weights = np.array([totals[label] for label in labels])
        return found, class_weights(self.class_weight, found, np.arange(len(found)), weights)

    # ---------------------------------------------------------------------------------------- the problem

    def _rows(
        self, X: Any, codes: NDArray[np.int32], weights: Array | None, classes: NDArray[Any]
    ) -> MemoryRows:
        if self.class_weight is not None:
            ones = np.ones(X.shape[0]) if weights is None else weights
            kept = codes >= 0
            factors = class_weights(self.class_weight, classes, codes[kept].astype(np.int64), ones[kept])
            weights = ones * np.where(kept, factors[codes], 0.0)
        return self._memory_rows(X, codes, weights, len(classes))

    def _memory_rows(
        self, X: Any, codes: NDArray[np.int32], weights: Array | None, n_classes: int
    ) -> MemoryRows:
        # Two classes are one problem, classes_[1] being +1; more are one problem each, one against the rest.
        positive = np.arange(n_classes, dtype=np.int32) if n_classes > 2 else np.array([1], dtype=np.int32)
        return MemoryRows(
            X, codes, weights, positive, self._odm_loss(), self._bias(), threads_for(self.n_jobs)
        )

    def _odm_loss(self) -> OdmLoss:
        if self.loss == "hinge":
            return OdmLoss(float(self.lam), 1.0, 0.0)  # stands in where only the rows are used
        return OdmLoss(float(self.lam), float(self.upsilon), float(self.theta))

    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _start(self, classes: NDArray[Any], width: int) -> Array:
        n_problems = len(classes) if len(classes) > 2 else 1
        if self.warm_start and hasattr(self, "coef_") and np.array_equal(classes, self.classes_):
            start = self._weights()
            if start.shape == (n_problems, width):
                return start
        return np.zeros((n_problems, width))

    def _weights(self) -> Array:
        """coef_ and intercept_ as the w of the problem."""
        bias = self._bias()
        if not bias:
            return self.coef_.copy()
        return np.hstack([self.coef_, self.intercept_[:, None] / bias])

    # ----------------------------------------------------------------------------------------- solving

    def _solve(
        self, source: Source, classes: NDArray[Any], start: Array, eval_set: tuple[Any, Any] | None
    ) -> LinearODMClassifier:
        began = time.perf_counter()
        self.classes_ = classes
        with make_progress(self.verbose, self.tol) as progress:
            history = History(self._accuracy(eval_set), progress.callback, self.time_limit)
            result = self._run(source, start, history)
            seconds = time.perf_counter() - began
            progress.done(
                f"{result.solver}: {int(np.max(result.n_iter))} iterations, relative gradient "
                f"{np.max(result.gradient):.2e}, gap {np.max(result.gap):.2e}, {seconds:.2f} s"
            )
        if not np.all(np.isfinite(result.w)):
            raise ValueError("The features are too large to compute with: scale them (MinMaxScaler).")
        self._set_fitted(result, history)
        self._warn(result, history.out_of_time)
        return self

    def _run(self, source: Source, start: Array, history: History) -> LinearResult:
        problem = LinearProblem(source, len(start), self._odm_loss())
        solver = self.solver
        if solver == "auto":
            solver = "dcd" if self.loss == "hinge" else "newton"
        if solver == "newton" or isinstance(source, ChunkedRows | RowsWithPast):
            cold = not np.any(start)
            return newton(
                problem,
                start,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                history=history,
                use_coarse=cold,
            )
        rows: Any = source  # rows that can be stepped on, here or on a cluster
        rows = rows.rows_in_c_order()
        problem = LinearProblem(rows, len(start), self._odm_loss())
        rng = check_random_state(self.random_state)
        if solver == "dcd":
            loss = HingeLoss(float(self.lam)) if self.loss == "hinge" else self._odm_loss()
            return linear_dcd(
                problem,
                rows,
                loss,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                history=history,
                rng=rng,
            )
        settings = Epochs(int(self.epochs), self.step_size, float(self.tol))
        if solver == "svrg":
            return svrg(problem, rows, start, settings, history, rng)
        if solver == "csvrg":
            radius = automatic_radius(rows, rng) if self.radius == "auto" else float(self.radius)
            return csvrg(problem, rows, start, settings, history, rng, radius)
        n_partitions = min(int(self.n_partitions), rows.n)
        partitioner = StratifiedPartitioner(n_landmarks=int(self.n_landmarks))
        kernel = KernelEvaluator(Kernel("linear", offset=self._bias() ** 2), n_threads=rows.n_threads)
        partition = partitioner.split(rows.X, rows.labels, n_partitions, kernel, rng)
        steps = (
            automatic_steps(rows.n, n_partitions)
            if self.steps_per_node == "auto"
            else int(self.steps_per_node)
        )
        return dsvrg(problem, rows, start, settings, history, rng, partition, n_partitions, steps)

    def _remember(self, rows: MemoryRows) -> QuadraticRows:
        """The quadratic that these rows are at the present coefficients."""
        w = self._weights()
        gram = rows.gram_pays() if self._past is None else not self._past.is_diagonal
        rows.start("gram_in_double" if gram else "diagonal")
        return QuadraticRows.of(rows.evaluate(range(len(w)), w), w, rows.weight)

    def _accuracy(self, eval_set: tuple[Any, Any] | None) -> Callable[[Array], float] | None:
        if eval_set is None:
            return None
        X, y = eval_set
        X = canonical(
            check_array(check_sparse(X), accept_sparse="csr", dtype=FLOATS, accept_large_sparse=True)
        )
        y = column_or_1d(y)
        check_consistent_length(X, y)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"eval_set has {X.shape[1]} features, X has {self.n_features_in_}.")
        codes = encode(np.asarray(y), self.classes_)
        rows = core_rows(X, None, None, self._bias(), threads_for(self.n_jobs))

        def accuracy(w: Array) -> float:
            f = rows.decisions(np.ascontiguousarray(w))
            return float(np.mean(codes == (f[0] > 0 if len(f) == 1 else f.argmax(axis=0))))

        return accuracy

    def _set_fitted(self, result: LinearResult, history: History) -> None:
        w, bias = result.w, self._bias()
        self.coef_ = w[:, :-1].copy() if bias else w.copy()
        self.intercept_ = w[:, -1] * bias if bias else np.zeros(len(w))
        self.n_iter_ = max(1, int(np.max(result.n_iter)))
        self.objective_ = _scalar_if_one(result.objective)
        self.dual_gap_ = _scalar_if_one(result.gap)
        self.gradient_norm_ = _scalar_if_one(result.gradient)
        self.history_ = history.records
        self.solver_ = result.solver

    # ---------------------------------------------------------------------------------------- decisions

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The values <coef, x> + intercept.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive for ``classes_[1]``; with more, one column per class, against the rest.
        """
        check_is_fitted(self)
        X = validate_data(
            self,
            check_sparse(X),
            reset=False,
            accept_sparse="csr",
            dtype=FLOATS,
            accept_large_sparse=True,
            ensure_all_finite=False,
        )
        rows = core_rows(self._finite(X), None, None, 0.0, threads_for(self.n_jobs))
        values = rows.decisions(np.ascontiguousarray(self.coef_, dtype=np.float64)).T + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> NDArray[Any]:
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
        """Refuse parameters that make no sense, naming the one."""
        check_choice("solver", self.solver, SOLVERS)
        check_choice("loss", self.loss, ("odm", "hinge"))
        if self.loss == "hinge" and self.solver not in ("auto", "dcd"):
            raise ValueError(
                f"solver={self.solver!r} needs loss='odm': the hinge loss takes solver='dcd' or 'auto'."
            )
        check_number("lam", self.lam, "> 0", lambda v: v > 0)
        check_number("upsilon", self.upsilon, "in (0, 1]", lambda v: 0 < v <= 1)
        check_number("theta", self.theta, "in [0, 1)", lambda v: 0 <= v < 1)
        check_number("intercept_scaling", self.intercept_scaling, "> 0", lambda v: v > 0)
        check_number("tol", self.tol, "> 0", lambda v: v > 0)
        for name in ("step_size", "radius"):
            if getattr(self, name) != "auto":
                check_number(name, getattr(self, name), "> 0, or 'auto'", lambda v: v > 0)
        if self.steps_per_node != "auto":
            check_integer("steps_per_node", self.steps_per_node, ">= 1, or 'auto'", lambda v: v >= 1)
        for name in ("max_iter", "epochs", "n_partitions", "n_landmarks"):
            check_integer(name, getattr(self, name), ">= 1", lambda v: v >= 1)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, ">= 0, or None", lambda v: v >= 0)
        for flag in ("fit_intercept", "warm_start"):
            check_flag(flag, getattr(self, flag))
        if self.n_jobs is not None:
            check_integer("n_jobs", self.n_jobs, "other than 0, or None", lambda v: v != 0)
        if not isinstance(self.verbose, bool | np.bool_):
            check_integer("verbose", self.verbose, ">= 0", lambda v: v >= 0)

    def _finite(self, X: Any) -> Any:
        """X as the core takes it; refuses NaN and infinity. Much faster than scikit-learn's own check."""
        X = canonical(X)
        if not core_rows(X, None, None, 0.0, threads_for(self.n_jobs)).finite():
            values = X.data if sparse.issparse(X) else X
            assert_all_finite(values, input_name="X", estimator_name=type(self).__name__)
        return X

    def _need_two(self, classes: NDArray[Any], weighted: bool) -> None:
        if len(classes) < 2:
            seen = f"one class only, {classes[0]!r}" if len(classes) else "no class at all"
            where = " where sample_weight > 0" if weighted else ""
            raise ValueError(f"{type(self).__name__} needs two or more classes: y has {seen}{where}.")

    def _warn(self, result: LinearResult, out_of_time: bool) -> None:
        if np.all(result.converged):
            return
        worst = int(np.argmax(np.where(result.converged, -np.inf, result.gradient)))
        which = f" for class {self.classes_[worst]!r}" if len(result.gap) > 1 else ""
        measure = "relative duality gap" if self.loss == "hinge" else "relative gradient"
        knob = "max_iter" if result.solver in ("newton", "dcd") else "epochs"
        other = "" if result.solver == "newton" or self.loss == "hinge" else ", use solver='newton'"
        if out_of_time:
            knob = "time_limit"
        warnings.warn(
            f"{type(self).__name__} with solver {result.solver!r} stopped after {result.n_iter[worst]} "
            f"iterations{which} at a {measure} of {result.gradient[worst]:.2e}, above tol={self.tol:g} "
            f"(duality gap {result.gap[worst]:.2e}). "
            f"Raise {knob} or tol{other}, or scale the features (MinMaxScaler).",
            ConvergenceWarning,
            stacklevel=4,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Chunks:
    """Makes checked rows of the caller's chunks, pass after pass, reading one chunk ahead."""

    def __init__(
        self,
        machine: LinearODMClassifier,
        passes: Callable[[], Iterable[Chunk]],
        classes: NDArray[Any],
        factors: NDArray[np.float64],
    ) -> None:
        self.machine, self.passes, self.classes, self.factors = machine, passes, classes, factors
        self.first = True

    def __call__(self) -> Iterator[MemoryRows]:
        for chunk in read_ahead(self.passes()):
            rows = self._rows(chunk)
            self.first = False
            if rows.weight > 0:
                yield rows

    def _rows(self, chunk: Chunk) -> MemoryRows:
        machine = self.machine
        validate_data(machine, chunk.X, skip_check_array=True, reset=self.first)
        X = check_array(
            check_sparse(chunk.X),
            accept_sparse="csr",
            dtype=FLOATS,
            accept_large_sparse=True,
            ensure_all_finite=False,
        )
        X = machine._finite(X)
        y = np.asarray(column_or_1d(chunk.y))
        check_consistent_length(X, y)
        weights = None
        if chunk.sample_weight is not None:
            weights = np.asarray(chunk.sample_weight, dtype=np.float64)
            if np.any(weights):
                weights = check_sample_weight(weights, X.shape[0])
        codes = _encode_known(y, self.classes, weights)
        if machine.class_weight is not None:
            weights = self.factors[codes] * (1.0 if weights is None else weights)
        return machine._memory_rows(X, codes, weights, len(self.classes))


def _encode_known(y: NDArray[Any], classes: NDArray[Any], weights: Array | None = None) -> NDArray[np.int32]:
    """Class numbers of labels that must all be known; those of rows without weight need not be."""
    codes = encode(y, classes)
    unknown = codes < 0 if weights is None else (codes < 0) & (weights > 0)
    if np.any(unknown):
        raise ValueError(
            f"y has the label {y[np.argmax(unknown)]!r}, which is not in classes: {list(classes)}."
        )
    return codes
