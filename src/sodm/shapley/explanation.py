"""What an explanation holds. Its fields are the arguments of `shap.Explanation`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Explanation:
    """Shapley values of a machine's decision values.

    The values of a row and its base value add up to the machine's decision value for it. The fields are
    arguments of `shap.Explanation`, so ``shap.Explanation(**vars(explanation))`` takes it.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features) or (n_rows, n_features, n_outputs)
        What each feature adds to the decision value. With two classes there is no last axis; more classes
        have one output each, or one per pair of classes where the machine decides by pairs.
    base_values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The decision value where no feature is known, the same for all rows.
    data : ndarray of shape (n_rows, n_features)
        The rows explained.
    feature_names : list of str
    output_names : list of str or None
        The classes, or pairs of classes, where there are several outputs.
    """

    values: NDArray[np.float64]
    base_values: NDArray[np.float64]
    data: NDArray[Any]
    feature_names: list[str]
    output_names: list[str] | None

    def importance(self) -> NDArray[np.float64]:
        """How much each feature matters on the whole: the mean size of its values.

        Returns
        -------
        ndarray of shape (n_features,)
            The mean of |values| over rows, and over outputs.

        Examples
        --------
        >>> import numpy as np
        >>> values = np.array([[1.0, -2.0], [-3.0, 0.0]])
        >>> Explanation(values, np.zeros(2), values, ["a", "b"], None).importance().tolist()
        [2.0, 1.0]
        """
        return np.abs(self.values).mean(axis=tuple(k for k in range(self.values.ndim) if k != 1))

    def to_shap(self) -> Any:
        """The same as a `shap.Explanation`, for the plots of the package shap.

        Returns
        -------
        shap.Explanation
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs the package shap: pip install shap.") from error
        return shap.Explanation(**vars(self))
