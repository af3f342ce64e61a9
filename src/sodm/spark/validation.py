"""Accuracy on rows not trained on, found where they are: the machine goes there and counts come back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark import Broadcast

from sodm.engines.base import Block
from sodm.estimators.labels import encode
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.linear import RowMaker, core_rows
from sodm.problem.problem import Problem
from sodm.problem.row_types import Rows
from sodm.spark.blocks import PackedBlock, in_form
from sodm.spark.broadcasts import broadcast
from sodm.spark.rows import ClusterRows
from sodm.spark.sums import sum_over_blocks
from sodm.trees.local import decide, machine_coefficients
from sodm.trees.probe import classes_of

Array = NDArray[np.float64]

PIECE_BYTES = 32 * 2**20  # of a machine's rows that are at the driver at a time


class ValidationRows:
    """Rows with labels on the executors, see `sodm.training.context.Evaluation`.

    Parameters
    ----------
    rows : ClusterRows
        All rows of a DataFrame.
    as_csr : bool
        Whether the rows that are trained on are CSR matrices: then these are taken as such too.
    """

    def __init__(self, rows: ClusterRows, as_csr: bool) -> None:
        self.rows, self.as_csr = rows, as_csr or rows.sparse

    def accuracy(self, problem: Problem, kernel: KernelEvaluator, duals: Array) -> float:
        """Of a kernel machine.

        Its rows come to the driver in pieces, and from there to all executors: what the driver holds does
        not grow with the machine, nor with these rows.
        """
        training, context = problem.rows, self.rows.blocks.context
        assert isinstance(training, ClusterRows)
        support = np.flatnonzero(np.any(duals != 0, axis=0))
        support = support[np.argsort(training.numbers(support))]  # the order in which rows are fetched
        n_pieces = max(1, ceil(len(support) * training.row_bytes / PIECE_BYTES))
        with ExitStack() as stack:
            pieces = []
            for index in np.array_split(support, n_pieces):
                coefficients = machine_coefficients(problem.signs[:, index], duals[:, index], problem.pairs)
                piece = training.take(index)[0], np.ascontiguousarray(coefficients)
                pieces.append(stack.enter_context(broadcast(context, piece)))
            values = partial(_values_of_pieces, kernel, pieces, problem.pairs)
            return self._accuracy(problem.classes, values, problem.pairs)

    def accuracy_of(self, values: Callable[[Rows], Array], classes: NDArray[Any]) -> float:
        """Of a function of rows, which is called on the executors."""
        return self._accuracy(classes, partial(_transposed, values))

    def accuracy_of_weights(self, maker: RowMaker, w: Array) -> float:
        """Of a linear machine."""
        w = np.ascontiguousarray(w)
        return self._accuracy(maker.classes, partial(_values_of_weights, maker.bias, maker.n_threads, w))

    def _accuracy(self, classes: NDArray[Any], values: Callable[[Rows], Array], pairs: bool = False) -> float:
        """The share of rows that are given their own class.

        Parameters
        ----------
        classes : ndarray
            The labels of the machine, sorted.
        values : callable
            Gives f at some rows, of shape (n_problems, m); it is called on the executors.
        """
        as_csr = self.as_csr

        def count(block: PackedBlock) -> int:
            assert block.labels is not None
            given = classes_of(values(in_form(block.rows, as_csr)), pairs)
            right = given == encode(block.labels, classes)
            return int(np.count_nonzero(right))

        with self.rows.passes:
            total = sum_over_blocks(self.rows.blocks, count)
        return (total or 0) / self.rows.shape[0]


def _transposed(values: Callable[[Rows], Array], rows: Rows) -> Array:
    return values(rows).T


def _values_of_pieces(
    kernel: KernelEvaluator, pieces: list[Broadcast[tuple[Rows, Array]]], pairs: bool, rows: Rows
) -> Array:
    """f of a machine in pieces."""
    n = rows.shape[0]
    block = Block(rows, np.arange(n), np.empty((0, n)), np.empty(n))
    machines = (piece.value for piece in pieces)
    return np.sum([decide(kernel, block, own, coef, pairs) for own, coef in machines], axis=0)


def _values_of_weights(bias: float, n_threads: int, w: Array, rows: Rows) -> Array:
    return core_rows(rows, None, None, bias, n_threads).decisions(w)
