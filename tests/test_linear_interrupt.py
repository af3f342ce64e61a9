"""Ctrl-C ends a long fit of the linear machine within a second, whatever the solver."""

from __future__ import annotations

import pytest
from interrupts import interrupted

SETUP = """
n, d, n_classes = {shape}
X = rng.standard_normal((n, d), dtype=np.float32)
y = np.arange(n) % n_classes  # nothing to learn: no solver is done soon
machine = LinearODMClassifier(**{parameters})
"""

WIDE, MANY = (3_000, 6_000, 600), (3_000, 6_000, 2_000)  # a sweep for so many classes takes half a minute


@pytest.mark.parametrize(
    ("parameters", "shape"),
    [
        # the Gram matrices of all classes fill the memory of one task
        pytest.param({"n_jobs": 1}, (20_000, 900, 70), marks=pytest.mark.slow),
        ({"n_jobs": 3}, (20_000, 900, 70)),
        pytest.param({"n_jobs": 1, "lam": 1e9}, WIDE, marks=pytest.mark.slow),  # products with the rows
        pytest.param({"n_jobs": 3, "lam": 1e9}, WIDE, marks=pytest.mark.slow),
        ({"solver": "dcd", "lam": 1e9}, MANY),
        pytest.param({"loss": "hinge", "lam": 1e9}, MANY, marks=pytest.mark.slow),
        pytest.param({"solver": "svrg"}, MANY, marks=pytest.mark.slow),
        pytest.param({"solver": "dsvrg", "n_partitions": 2, "n_landmarks": 5}, WIDE, marks=pytest.mark.slow),
        # every row is a centre
        pytest.param({"solver": "csvrg", "radius": 60.0}, (6_000, 4_000, 2), marks=pytest.mark.slow),
    ],
    ids=["gram-1", "gram-3", "products-1", "products-3", "dcd", "hinge", "svrg", "dsvrg", "csvrg"],
)
def test_ctrl_c_ends_a_linear_fit(parameters: dict[str, object], shape: tuple[int, ...]) -> None:
    interrupted(SETUP.format(shape=shape, parameters={"tol": 1e-15, **parameters}), wait=3.0)
