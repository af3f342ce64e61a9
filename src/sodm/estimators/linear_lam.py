"""The lam of the linear machine where none is given."""

from __future__ import annotations

from sodm.problem.losses import Loss, OdmLoss

SPREAD = 30.0  # the cost of a row times the mean squared length of the rows


def automatic_lam(loss: Loss, weight: float, mean_square: float, width: int) -> float:
    """lam by the number and the length of the rows.

    In the scale of `LinearSVC`, where a row's loss has the weight C: C = 30 / (mean of |x|^2), so that
    features in other units make no other machine. Where features are as many as rows, each row can be fitted
    for itself, and C is at most 1, as it is there by default; with more rows at most their number for each
    feature.

    Parameters
    ----------
    loss : OdmLoss or HingeLoss
        Its own lam does not matter.
    weight : float
        W, the sum of the weights of the rows.
    mean_square : float
        The weighted mean of the squared lengths of the rows, with the constant feature.
    width : int
        Features, with the constant one.

    Examples
    --------
    >>> from sodm.problem.losses import OdmLoss
    >>> round(automatic_lam(OdmLoss(1.0, 0.5, 0.9), 5000.0, 150.0, 785), 6)
    20.0
    """
    cost = max(1.0, weight / width)
    if mean_square > 0:
        cost = min(cost, SPREAD / mean_square)
    if isinstance(loss, OdmLoss):
        return 2 * weight * (1 - loss.theta) ** 2 * cost
    return weight * cost
