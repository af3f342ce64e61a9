"""The losses: values against plain loops, duals as conjugates, prox as a minimum, lift as a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from sodm.problem.losses import HingeLoss, OdmLoss

LOSSES = [OdmLoss(3.0, 0.4, 0.2), OdmLoss(100.0, 1.0, 0.0), OdmLoss(0.5, 1e-3, 0.9), HingeLoss(5.0)]


def some_margins(n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(0.8, 1.0, size=n), rng.uniform(0.2, 3.0, size=n)


def test_odm_primal_is_the_formula() -> None:
    loss = OdmLoss(3.0, 0.4, 0.2)
    margins, weights = some_margins()
    total = 0.0
    for m, s in zip(margins, weights, strict=True):
        if m < 0.8:
            total += s * (0.8 - m) ** 2
        if m > 1.2:
            total += s * 0.4 * (m - 1.2) ** 2
    assert loss.primal(margins, weights) == pytest.approx(3.0 / (2 * weights.sum() * 0.64) * total, rel=1e-12)


def test_hinge_primal_is_the_formula() -> None:
    margins, weights = some_margins()
    total = sum(s * (1 - m) for m, s in zip(margins, weights, strict=True) if m < 1)
    assert HingeLoss(5.0).primal(margins, weights) == pytest.approx(5.0 / weights.sum() * total, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_dual_is_the_conjugate(loss: OdmLoss | HingeLoss) -> None:
    """dual(g) = sup_m -g m - primal(m): never below any m, and reached where g = -primal'(m)."""
    margins, weights = some_margins()
    if isinstance(loss, OdmLoss):
        g = loss.lift(margins, weights)
        attained = -g @ margins - loss.primal(margins, weights)
    else:
        g = loss.bounds(weights) * np.random.default_rng(1).uniform(size=len(weights))
        attained = -g.sum() - loss.primal(np.ones(len(g)), weights)
    assert loss.dual(g, weights) == pytest.approx(attained, rel=1e-12)
    for seed in range(20):
        m = some_margins(seed=seed)[0] * 3
        assert loss.dual(g, weights) >= -g @ m - loss.primal(m, weights) - 1e-9


def test_hinge_dual_is_infinite_outside_its_box() -> None:
    loss, weights = HingeLoss(2.0), np.array([1.0, 3.0])
    assert loss.bounds(weights).tolist() == [0.5, 1.5]
    assert loss.dual(np.array([0.5, 1.5]), weights) == -2.0
    assert loss.dual(np.array([0.6, 0.0]), weights) == np.inf
    assert loss.dual(np.array([-0.1, 0.0]), weights) == np.inf


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_prox_is_the_best_value_of_one_coordinate(loss: OdmLoss | HingeLoss) -> None:
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.2, 3.0, size=30)
    r, q = rng.normal(0, 2, size=30), rng.uniform(0.1, 2.0, size=30)
    best = loss.prox(r, q, weights)
    for i in range(30):
        only = np.zeros(30)

        def along(g: float, i: int = i, only: np.ndarray = only) -> float:
            only[i] = g
            return q[i] * g**2 / 2 - r[i] * g + loss.dual(only, weights)

        low, high = best[i] - 1, best[i] + 1
        if isinstance(loss, HingeLoss):
            low, high = 0.0, loss.bounds(weights)[i]
            assert low <= best[i] <= high
        around = minimize_scalar(along, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
        assert along(best[i]) <= around.fun + 1e-9


def test_hinge_prox_with_a_zero_diagonal_goes_to_a_bound() -> None:
    loss, weights = HingeLoss(2.0), np.ones(2)
    assert loss.prox(np.array([0.5, -2.0]), np.zeros(2), weights).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("loss", LOSSES[:3], ids=str)
def test_lift_is_minus_the_derivative(loss: OdmLoss) -> None:
    margins, weights = some_margins()
    g = loss.lift(margins, weights)
    step = 1e-6
    for i in range(len(margins)):
        up, down = margins.copy(), margins.copy()
        up[i] += step
        down[i] -= step
        slope = (loss.primal(up, weights) - loss.primal(down, weights)) / (2 * step)
        assert g[i] == pytest.approx(-slope, rel=1e-5, abs=1e-7)
    assert loss.violation(margins, g, weights).max() < 1e-12


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_slope_is_minus_lift_without_scale(loss: OdmLoss | HingeLoss) -> None:
    margins, weights = some_margins()
    expected = -loss.lift(margins, weights) / (loss.scale(weights.sum()) * weights)
    np.testing.assert_allclose(loss.slope(margins), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_feasible_duals_have_a_finite_dual(loss: OdmLoss | HingeLoss) -> None:
    _, weights = some_margins()
    g = 10 * np.random.default_rng(2).normal(size=len(weights))
    inside = loss.feasible(g, weights)
    assert np.isfinite(loss.dual(inside, weights))
    assert np.array_equal(loss.feasible(inside, weights), inside)
    assert np.all(loss.feasible(g, np.where(np.arange(40) < 5, 0.0, weights))[:5] == 0)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_violation_is_the_distance_from_the_optimality_conditions(loss: OdmLoss | HingeLoss) -> None:
    weights = np.ones(1)
    low, high = (1 - loss.theta, 1 + loss.theta) if isinstance(loss, OdmLoss) else (1.0, np.inf)
    zero = np.zeros(1)
    assert loss.violation(np.array([low - 0.25]), zero, weights)[0] == pytest.approx(0.25)
    assert loss.violation(np.array([low + 1e-9]), zero, weights)[0] == pytest.approx(0, abs=1e-8)
    if isinstance(loss, OdmLoss):
        assert loss.violation(np.array([high + 0.5]), zero, weights)[0] == pytest.approx(0.5)
    else:
        top = loss.bounds(weights)
        assert loss.violation(np.array([0.5]), top, weights)[0] == 0.0
        assert loss.violation(np.array([1.5]), top, weights)[0] == pytest.approx(0.5)
        assert loss.violation(np.array([1.5]), top / 2, weights)[0] == pytest.approx(0.5)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_weights_count_as_copies(loss: OdmLoss | HingeLoss) -> None:
    margins, _ = some_margins(5)
    weights = np.array([1.0, 2.0, 3.0, 1.0, 4.0])
    copies = weights.astype(int)
    ones = np.ones(copies.sum())
    assert loss.primal(margins, weights) == pytest.approx(
        loss.primal(margins.repeat(copies), ones), rel=1e-12
    )
    g = np.full(5, 0.01)
    spread = (g / weights).repeat(copies)
    assert loss.dual(g, weights) == pytest.approx(loss.dual(spread, ones), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_derivatives(loss: OdmLoss | HingeLoss) -> None:
    """Against differences: small ones, or over the width of the corner, which is what rounds it."""
    margins, weights = some_margins()
    step = 0.25 if isinstance(loss, HingeLoss) else 1e-6
    slope, curvature = loss.derivatives(margins, weights, corner=0.25)

    def difference(function: Any, i: int) -> Any:
        ahead, behind = margins.copy(), margins.copy()
        ahead[i], behind[i] = margins[i] + step, margins[i] - step
        return (function(ahead) - function(behind)) / (2 * step)

    for i in range(len(margins)):
        assert difference(lambda m: loss.primal(m, weights), i) == pytest.approx(slope[i], rel=1e-5, abs=1e-7)
        bent = difference(lambda m, i=i: -loss.lift(m, weights)[i], i)
        assert bent == pytest.approx(curvature[i], rel=1e-5, abs=1e-7)
