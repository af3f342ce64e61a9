"""Rows that are elsewhere: in blocks on the machines of a cluster, say.

Trainers and partitioners ask little of the rows of a problem: some of them by number (samples, landmarks,
support vectors), a small result for each of them (its stratum, its hash), and the values of a machine that
is made of them. Arrays and CSR matrices give that by themselves; this is what all others must give.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class DistantRows(ABC):
    """Rows that are worked on where they are.

    Attributes
    ----------
    shape : tuple of two ints
    sparse : bool
        Whether blocks are CSR matrices.
    """

    shape: tuple[int, int]
    sparse: bool

    @abstractmethod
    def __getitem__(self, index: NDArray[np.intp]) -> Any:
        """The rows of these numbers, brought here as an array or CSR matrix; for few rows."""

    @abstractmethod
    def select(self, index: NDArray[np.intp]) -> DistantRows:
        """The rows of these numbers, left where they are."""

    @abstractmethod
    def each(self, function: Callable[..., NDArray[Any]], own: NDArray[Any] | None = None) -> NDArray[Any]:
        """One result for each row, in the order of the rows.

        Parameters
        ----------
        function : callable
            Takes a block of rows, and gives one entry for each of them, which may depend on that row only.
        own : array with one entry for each row, optional
            The function takes its rows' entries as a second argument.
        """

    @abstractmethod
    def machine(
        self,
        values: Callable[[Any, NDArray[np.float64]], NDArray[np.float64]],
        coefficients: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """The sum over all blocks of what a function makes of some rows and their coefficients.

        Parameters
        ----------
        values : callable
            Takes rows and their coefficients, of shape (n_problems, m).
        coefficients : ndarray, shape (n_problems, n)
            Rows whose coefficients are all zero are left out.
        """


def each(rows: Any, function: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    """The function's result for each row, wherever the rows are."""
    return rows.each(function) if isinstance(rows, DistantRows) else function(rows)
