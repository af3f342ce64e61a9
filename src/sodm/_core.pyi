"""The compiled core of sodm."""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def resolve_threads(n_jobs: int) -> int:
    """Threads to use for n_jobs (-1: all cores)."""

def simd_name() -> str:
    """The instruction set in use."""

def simd_select(name: str) -> bool:
    """Pin an instruction set; False if it is not to be had."""

class Interrupted(Exception):
    pass

class StopToken:
    def __init__(self) -> None: ...

    def stop(self) -> None:
        """Ask every solver that was given this token to stop soon."""

    @property
    def stopped(self) -> bool: ...

class KernelFunction:
    def __init__(self, kind: str, gamma: float = 1.0, coef0: float = 0.0, degree: int = 3, offset: float = 0.0) -> None: ...

class Points:
    @staticmethod
    def dense(x: Annotated[NDArray, dict(device='cpu', writable=False)], kernel: KernelFunction, double: bool = False, like: Points | None = None, n_threads: int = 1) -> Points: ...

    @staticmethod
    def csr(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray, dict(device='cpu', writable=False)], features: int, kernel: KernelFunction, double: bool = False, like: Points | None = None, n_threads: int = 1) -> Points: ...

    def rounding(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], float, float, float]:
        """
        p, q, pair, point, one of `Rounding`: how far computed kernel values can be from true ones.
        """

    def rounding_of_diagonal(self) -> float:
        """How far the values k(x, x) can be off, in units of roundoff."""

    @property
    def n(self) -> int: ...

    @property
    def double(self) -> bool: ...

    @property
    def sparse(self) -> bool:
        """Whether they are laid out as sparse rows."""

def inverse_of_lower(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

def features(landmarks: Points, x: Points, inverse: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """
    Into out: F(x) = inverse k(landmarks, x), a row for each point: inner products of these are kernel values.
    """

def landmark_sums(landmarks: Points, x: Points, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], signs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: OdmLoss, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    (sums of squared losses, K(landmarks, x) times half their derivative by f) of each problem.
    """

def two_nearest(x: Points, centres: Points, add: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]:
    """
    (numbers, values) of the two centres of each row with the smallest k(x, centre) + add[centre].
    """

def cell_means(x: Annotated[NDArray, dict(device='cpu', writable=False)], cell: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_cells: int, n_threads: int = 1) -> NDArray[numpy.float64]:
    """The mean of the rows of each cell, of which none is empty."""

def block(a: Points, b: Points, n_threads: int = 1) -> NDArray[numpy.float64]: ...

def gram(a: Points, n_threads: int = 1) -> NDArray[numpy.float32]:
    """Values among the rows of a, in single."""

def symmetric_apply(a: Points, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1, cache_bytes: int = 0) -> NDArray[numpy.float64]: ...

def apply(a: Points, b: Points, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

def apply_parts(a: Points, b: Points, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

class OdmLoss:
    def __init__(self, scale: float, upsilon: float, theta: float) -> None: ...

class HingeLoss:
    def __init__(self, scale: float) -> None: ...

def solve_lower(lower: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], transposed: bool = False) -> NDArray[numpy.float64]: ...

def solve_definite(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64] | None: ...

class LinearSearch:
    def sweeps_pay(self) -> bool: ...

    def sweep(self, n_sweeps: int) -> float: ...

    def gradient_at_zero(self) -> NDArray[numpy.float64]: ...

    def factor(self) -> None: ...

    def look(self, problems: Sequence[int]) -> None: ...

    def step(self, problems: Sequence[int], goal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

    @property
    def w(self) -> NDArray[numpy.float64]: ...

    @property
    def objective(self) -> NDArray[numpy.float64]: ...

    @property
    def gradient_norm(self) -> NDArray[numpy.float64]: ...

    @property
    def length(self) -> NDArray[numpy.float64]: ...

class LinearRows:
    @staticmethod
    def dense(x: Annotated[NDArray, dict(device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, bias: float = 0.0, n_threads: int = 1) -> LinearRows: ...

    @staticmethod
    def csr(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray, dict(device='cpu', writable=False)], features: int, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, bias: float = 0.0, n_threads: int = 1) -> LinearRows: ...

    @property
    def n(self) -> int: ...

    @property
    def width(self) -> int: ...

    def finite(self) -> bool: ...

    def squared_norms(self) -> NDArray[numpy.float64]: ...

    def start_pass(self, n_problems: int, curvature: str) -> None: ...

    def evaluate(self, problems: Sequence[int], positive: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], loss: OdmLoss) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64] | None]: ...

    def times(self, problems: Sequence[int], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], loss: OdmLoss) -> NDArray[numpy.float64]: ...

    def decisions(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def svrg_steps(self, positive: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: OdmLoss, step: float, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], anchor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

    @overload
    def dual_sweep(self, positive: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: OdmLoss, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> NDArray[numpy.float64]: ...

    @overload
    def dual_sweep(self, positive: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: HingeLoss, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> NDArray[numpy.float64]: ...

    def weights_of_duals(self, positive: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def start_search(self, positive: Sequence[int], loss: OdmLoss, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, like: LinearSearch | None = None, basis: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> LinearSearch: ...

    def ball_cover(self, squared_norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], key: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], radius: float) -> NDArray[numpy.int64]: ...

def fold_dense(x: Annotated[NDArray, dict(device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]: ...

def fold_csr(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray, dict(device='cpu', writable=False)], features: int, labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]: ...

def take_rows(x: Annotated[NDArray, dict(device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray:
    """x[index] of an array in C order."""

def hash_dense(x: Annotated[NDArray, dict(device='cpu', writable=False)], n_threads: int = 1, labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.uint64]: ...

def hash_csr(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray, dict(device='cpu', writable=False)], features: int, n_threads: int = 1, labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.uint64]: ...

def pivoted_cholesky(source: Points | MatrixSource | FunctionSource, rank: int, first: int = -1, tolerance: float = 0.0, seed: int | None = None, return_factor: bool = False, n_threads: int = 1) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray | None]:
    """
    (pivots, residual, factor or None): partial Cholesky factor of the source's Gram matrix. Pivots are those of the largest residual, or drawn by their residuals if there is a seed; then `tolerance` is of the mean residual.
    """

class MatrixSource:
    def __init__(self, matrix: Annotated[NDArray, dict(device='cpu', writable=False)], offset: float = 0.0, double: bool = False, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, definite: bool = False) -> None:
        """
        A Gram matrix, or what `rows` of it have among themselves; `definite` if no eigenvalue is negative.
        """

class FunctionSource:
    def __init__(self, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offset: float, function: Callable, double: bool = False) -> None: ...

class LossNumbers:
    def __init__(self, name: str, lam: float, upsilon: float = 1.0, theta: float = 0.0) -> None: ...

class SolveOptions:
    def __init__(self, method: str, tol: float, violation: float, max_iter: int, cache_bytes: int, seed: int, n_threads: int, aim: float = 0.0, progress: Callable | None = None, stop: StopToken | None = None) -> None: ...

class Result:
    @property
    def objective(self) -> NDArray[numpy.float64]: ...

    @property
    def gap(self) -> NDArray[numpy.float64]: ...

    @property
    def violation(self) -> NDArray[numpy.float64]: ...

    @property
    def iterations(self) -> NDArray[numpy.int32]: ...

    @property
    def converged(self) -> NDArray[numpy.int32]: ...

    @property
    def method(self) -> str: ...

    @property
    def evaluations(self) -> int: ...

    @property
    def kernel_seconds(self) -> float: ...

    @property
    def duals(self) -> NDArray[numpy.float64]: ...

    @property
    def decision(self) -> NDArray[numpy.float64]: ...

    @property
    def shift(self) -> float: ...

def solve(source: Points | MatrixSource | FunctionSource, signs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: LossNumbers, options: SolveOptions, start: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, start_decision: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, offset: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, exact: Callable | None = None) -> Result: ...

class PairResult:
    @property
    def objective(self) -> NDArray[numpy.float64]: ...

    @property
    def gap(self) -> NDArray[numpy.float64]: ...

    @property
    def violation(self) -> NDArray[numpy.float64]: ...

    @property
    def iterations(self) -> NDArray[numpy.int32]: ...

    @property
    def converged(self) -> NDArray[numpy.int32]: ...

    @property
    def method(self) -> str: ...

    @property
    def evaluations(self) -> int: ...

    @property
    def kernel_seconds(self) -> float: ...

    @property
    def duals(self) -> NDArray[numpy.float64]: ...

    @property
    def decision(self) -> NDArray[numpy.float64]: ...

    @property
    def shift(self) -> NDArray[numpy.float64]: ...

def solve_pairs(source: Points | MatrixSource | FunctionSource, exact: Callable | None, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: LossNumbers, options: SolveOptions, shown_tol: float, shown_violation: float, share: bool, start: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, start_decision: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> PairResult:
    """
    `exact` makes the same rows' source in double, when certificates ask for it; without it there are none.
    """

class PathTask:
    def __init__(self, gram: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], shift: float, definite: bool, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], signs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, theta: float, lams: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, held: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        `shift` is added to all values of the Gram matrix, `offset` to the margins.
        """

def solve_paths(tasks: Sequence[PathTask], loss: str, upsilon: float, tol: float, violation: float, max_iter: int, seed: int, n_threads: int, stop: StopToken | None = None) -> list:
    """
    For each task coefficients, shape (lams, machines, rows), seconds, and f at the rows held.
    """

class LibsvmParser:
    def __init__(self, zero_based: bool = False, features: int = -1) -> None: ...

    def feed(self, block: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[int, int, str] | None:
        """
        Parse a block of the text; None, or the first error as (line, column, message).
        """

    def finish(self, n_threads: int = 1) -> tuple[int, int, str] | None: ...

    def take(self, wide: bool, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray, NDArray, NDArray[numpy.int32]]:
        """data, indices, indptr and label numbers; leaves the parser empty."""

    @property
    def label_names(self) -> list[str]: ...

    @property
    def open_ended(self) -> bool: ...

    @property
    def rows(self) -> int: ...

    @property
    def values(self) -> int: ...

    @property
    def features(self) -> int: ...

class CsvParser:
    def __init__(self, separator: str, columns: int, label_column: int, lines_before: int, names: Sequence[str]) -> None: ...

    def feed(self, block: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[int, int, str] | None: ...

    def finish(self, n_threads: int = 1) -> tuple[int, int, str] | None: ...

    def take(self, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]:
        """Values by row and column, and label numbers; leaves the parser empty."""

    @property
    def label_names(self) -> list[str]: ...

    @property
    def open_ended(self) -> bool: ...

    @property
    def rows(self) -> int: ...

@overload
def check_csr(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int) -> tuple[str, bool]:
    """
    What is wrong with these parts of a CSR matrix, '' if nothing, and whether indices ascend.
    """

@overload
def check_csr(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int) -> tuple[str, bool]: ...

def shapley_values(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], support: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], removed: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gamma: float, absolute: bool, nodes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]:
    """
    Shapley values, rows x features x outputs, of sum_i a_i prod_j k(x_j, z_ij); support and removed are
    features x support vectors.
    """
