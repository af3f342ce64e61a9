"""How loose are the bounds of Theorems 1 and 2?

Solves the machine exactly and on partitions, and draws what the paper's theorems bound beside the bounds.
What follows from it is on the page about [partitions](../partitions.md#the-theorems-and-how-loose-they-are).

`python examples/theorem_bounds.py docs/figures/theorem_bounds.png` saves the figure, without shows it.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler

from sodm import _core
from sodm.partition import StratifiedPartitioner
from sodm.partition.theory import dual_objective, theorem1, theorem2
from sodm.problem.evaluator import KernelEvaluator
from sodm.problem.kernels import Kernel
from sodm.problem.losses import OdmLoss
from sodm.solvers import exact

Array = NDArray[np.float64]
PARTITIONS = (2, 4, 8, 16, 32)
LAMBDAS = (2.0**0, 2.0**6, 2.0**12)


def solve(K: Array, y: Array, loss: OdmLoss) -> Array:
    return exact.solve(_core.MatrixSource(K, 0.0, True), y[None], np.ones(len(y)), loss, tol=1e-10).duals[0]


def solve_parts(K: Array, y: Array, parts: NDArray[np.intp], loss: OdmLoss) -> Array:
    g = np.zeros(len(y))
    for k in np.unique(parts):
        rows = np.flatnonzero(parts == k)
        g[rows] = solve(K[np.ix_(rows, rows)], y[rows], loss)
    return g


def main(path: str | None) -> None:
    X, labels = load_breast_cancer(return_X_y=True)
    X, y = MinMaxScaler().fit_transform(X), np.where(labels > 0, 1.0, -1.0)
    kernel = KernelEvaluator(Kernel("rbf", gamma=1.0), "double")
    K = kernel.block(X, X)

    figure, panels = plt.subplots(1, 3, figsize=(13, 4.2), sharex=True)
    print("lam    K   d(local)-d  scaled     bound      |change|^2 bound      largest gap_k  bound")
    for colour, lam in enumerate(LAMBDAS):
        loss = OdmLoss(lam, upsilon=0.5, theta=0.3)
        best = solve(K, y, loss)
        rows = []
        for n_partitions in PARTITIONS:
            partitioner = StratifiedPartitioner(n_landmarks=20)
            parts = partitioner.split(X, y, n_partitions, kernel, random_state=0)
            local = solve_parts(K, y, parts, loss)
            one = theorem1(K, y, parts, best, local, loss)
            two = theorem2(K, y, parts, partitioner.strata_, best, local, loss)
            scaled = dual_objective(K, y, local / n_partitions, loss) - dual_objective(K, y, best, loss)
            gap = np.abs(two.gaps).max()
            rows.append(
                (
                    one.objective_gap,
                    scaled,
                    one.objective_bound,
                    one.distance,
                    one.distance_bound,
                    gap,
                    two.bound,
                )
            )
            print(f"{lam:<6g} {n_partitions:<3d} " + " ".join(f"{v:<10.3g}" for v in rows[-1]))
        values = np.array(rows).T
        style = {"color": f"C{colour}", "marker": "o", "markersize": 4}
        for panel, (measured, bound) in zip(panels, ((0, 2), (3, 4), (5, 6)), strict=True):
            panel.plot(PARTITIONS, values[measured], **style)
            panel.plot(PARTITIONS, values[bound], **style, linestyle="--")
        panels[0].plot(PARTITIONS, values[1], **style, linestyle=":")
        panels[2].axhline(lam / 2, color=f"C{colour}", linestyle="-.", linewidth=1)

    titles = (
        "Theorem 1: d(local) - d(exact)",
        "Theorem 1: |local - exact|²",
        "Theorem 2: largest |d_k - d(exact)|",
    )
    for panel, title in zip(panels, titles, strict=True):
        panel.set(title=title, xlabel="partitions", xscale="log", yscale="log")
        panel.set_xticks(PARTITIONS, [str(k) for k in PARTITIONS], minor=False)
        panel.minorticks_off()
    styles = {"measured": "-", "bound of the theorem": "--", "measured, local / K": ":", "lam / 2": "-."}
    handles = [Line2D([], [], color=f"C{i}", label=f"lam = {lam:g}") for i, lam in enumerate(LAMBDAS)]
    handles += [Line2D([], [], color="black", linestyle=s, label=name) for name, s in styles.items()]
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.legend(handles=handles, loc="lower center", ncols=len(handles), fontsize=8)
    if path is None:
        plt.show()
    else:
        figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
