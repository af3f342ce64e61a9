"""Semismooth Newton for the linear problem, by the Gram matrix of the active rows or by conjugate gradients.

    min_w  p(w) = 1/2 |w|^2
                  + lam / (2 W (1-theta)^2) * sum_i s_i [ (1-theta-m_i)_+^2 + upsilon (m_i-1-theta)_+^2 ]

    w          weights of a problem, that of the constant feature last   x_i, s_i, W  rows, weights, their sum
    m_i        y_i <w, x_i>, the margin; y_i = +1 for the positive class  k_i         see below

p is once differentiable and piecewise quadratic. Where no margin sits on a corner of the dead zone its
Hessian is

    H = I + lam / (W (1-theta)^2) * sum_i s_i k_i x_i x_i',
    k_i = 1 below the dead zone, upsilon above, 0 inside,

and w - H^{-1} grad p(w) is the minimiser as soon as no row changes sides: Newton's method ends rather than
converges (Keerthi and DeCoste 2005, "A modified finite Newton method", Algorithm 1, for the squared hinge
loss). One pass over the rows gives p, its gradient and H at the new point together, so a full step that is
accepted costs one pass. Rows that have not changed sides since the last pass add nothing to H and are not
multiplied again.

For many features H is used through products only: conjugate gradients, preconditioned with the diagonal of
H, run until the residual is a fraction of the gradient that shrinks with it (Dembo, Eisenstat and Steihaug
1982).

Rows in memory that have many features take the same steps in another form, see `sodm.solvers.linear_active`.

The first steps, which only have to find the right neighbourhood, are taken on a small part of the rows.

A problem is solved when |grad p(w)| <= tol |grad p(0)| and the relative duality gap is at most tol. Near the
end p may change by less than it is rounded; then steps are judged by the gradient, and a problem where it
falls no more is given up and said to be so. The solution is `w` of the `LinearResult`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sodm import _core
from sodm.problem.linear import LinearProblem, RowSums
from sodm.problem.ordered_sums import dot
from sodm.solvers.linear_active import newton_on_active_rows
from sodm.solvers.linear_result import History, LinearResult, relative_gap
from sodm.solvers.linear_solver import SUMS, LinearSolver, LinearTask

Array = NDArray[np.float64]

COARSE_TOL = 1e-2  # a part of the rows says no more than this about all of them
SUFFICIENT = 1e-4  # Armijo's constant
NOISE = 1e-14  # relative size of rounding errors in p
REFINES = 0.5  # a step too small to show in p counts if it leaves no more of the gradient than this
SLOW = 0.3  # a Newton step that leaves more of the gradient than this is slow
MAX_CG = 500


def newton(
    problem: LinearProblem,
    start: Array,
    *,
    tol: float,
    max_iter: int,
    history: History,
    use_coarse: bool = True,
) -> LinearResult:
    """Minimise until |grad p(w)| <= tol * |grad p(0)| and the relative duality gap is at most tol.

    Parameters
    ----------
    problem : LinearProblem
    start : array of shape (n_problems, width)
    tol, max_iter : numbers
    history : History
    use_coarse : bool
        Find a better start on a small part of the rows first.
    """
    passes = 0.0
    if use_coarse and (coarse := problem.coarse()) is not None:
        start = newton(coarse, start, tol=COARSE_TOL, max_iter=20, history=History(), use_coarse=False).w
    long = problem.source.long_rows()
    if long is not None:
        return newton_on_active_rows(problem, long, start, tol=tol, max_iter=max_iter, history=history)
    search = NewtonSearch(problem, start, tol)
    while True:
        products = search.evaluate()
        passes += 1 + products
        history.add("newton", search.w, search.objective, search.relative, search.gap, passes)
        if not search.todo or search.n_evaluations > max_iter or history.out_of_time:
            return search.result()
        search.move()


class NewtonSearch:
    """Newton's method for several problems side by side, each at its own step and step length.

    `evaluate` is the one place that goes over the rows; `move` sets the next trial points.
    """

    def __init__(self, problem: LinearProblem, start: Array, tol: float) -> None:
        n = problem.n_problems
        self.problem, self.tol = problem, tol
        self.gram = problem.source.gram_pays()
        self.exact_gram = False
        self._start_pass()
        self.w = start.copy()  # the best point so far, and what is known there
        self.objective = np.full(n, np.inf)
        self.gradient = np.zeros_like(start)
        self.norm = np.full(n, np.inf)
        self.direction = np.zeros_like(start)
        self.descent = np.zeros(n)  # gradient times direction, at w
        self.length = np.ones(n)
        self.trial = start.copy()
        self.todo = list(range(n))
        self.n_iter = np.zeros(n, dtype=np.int64)
        self.converged = np.zeros(n, dtype=bool)
        self.at_rounding = np.zeros(n, dtype=bool)  # given up: rounding errors allow no more
        self.slow = np.zeros(n, dtype=int)
        self.n_evaluations = 0
        self.reference: Array | None = None

    def _start_pass(self) -> None:
        kind = "diagonal" if not self.gram else "gram_in_double" if self.exact_gram else "gram"
        self.problem.source.start(kind)  # type: ignore[arg-type]

    # ---------------------------------------------------------------------------------------- quantities

    @property
    def relative(self) -> Array:
        assert self.reference is not None
        return self.norm / np.where(self.reference > 0, self.reference, 1.0)

    @property
    def gap(self) -> Array:
        return relative_gap(self.objective, self.norm)

    def result(self) -> LinearResult:
        return LinearResult(
            self.w,
            self.objective,
            self.gap,
            self.relative,
            self.n_iter,
            self.converged,
            "newton",
            "max_iter",
            at_rounding=self.at_rounding,
        )

    # --------------------------------------------------------------------------------------------- steps

    def evaluate(self) -> int:
        """One pass at the trial points: accept them or shorten the step. Returns the products with H."""
        sums = self.problem.evaluate(self.todo, self.trial[self.todo])
        self.n_evaluations += 1
        if self.reference is None:
            at_zero = not np.any(self.trial)
            self.reference = (
                np.linalg.norm(sums.gradient, axis=1) if at_zero else self.problem.gradient_at_zero()
            )
        moved: list[tuple[int, int]] = []  # (place in sums, problem)
        for place, p in enumerate(self.todo):
            value, gradient = sums.loss[place], sums.gradient[place]
            norm = float(np.linalg.norm(gradient))
            if self._accepts(p, value, norm):
                self._accept(p, value, gradient, norm)
                moved.append((place, p))
            else:
                self._shorten(p, dot(gradient, self.direction[p]))
        if np.any(self.slow >= 3) and self._gram_is_inexact():
            self._restart_in_double()
        going = [(place, p) for place, p in moved if not self.converged[p]]
        products = 0
        if going:
            places, problems = [list(t) for t in zip(*going, strict=True)]
            assert sums.curvature is not None
            products = self._set_directions(problems, sums.curvature[places])
        self.todo = [p for p in self.todo if not self.converged[p] and not self.at_rounding[p]]
        return products

    def move(self) -> None:
        """Set the next trial points."""
        for p in self.todo:
            self.trial[p] = self.w[p] + self.length[p] * self.direction[p]

    def _accepts(self, p: int, value: float, norm: float) -> bool:
        if not np.isfinite(self.objective[p]) or self.length[p] == 0:  # the start, or another look at w
            return True
        noise = NOISE * abs(self.objective[p])
        if self._below_noise(p):
            return value <= self.objective[p] + noise and norm <= REFINES * self.norm[p]
        enough = self.objective[p] + SUFFICIENT * self.length[p] * self.descent[p]
        return value <= enough or (value <= self.objective[p] + noise and norm <= self.norm[p])

    def _accept(self, p: int, value: float, gradient: Array, norm: float) -> None:
        assert self.reference is not None
        if np.isfinite(self.objective[p]) and self.length[p] > 0:
            self.n_iter[p] += 1
            self.slow[p] = self.slow[p] + 1 if norm > SLOW * self.norm[p] and self.length[p] == 1 else 0
        self.w[p] = self.trial[p]
        self.objective[p], self.gradient[p], self.norm[p] = value, gradient, norm
        self.length[p] = 1.0
        self.converged[p] = norm <= self.tol * self.reference[p] and 0.5 * norm**2 <= self.tol * value

    def _shorten(self, p: int, slope: float) -> None:
        """A shorter step: where the secant of the slope along the direction meets zero, p being convex. Of a
        step that changes p by less than rounding does there is no shorter one: another look at w with
        products in double may help, else this is as near as the precision comes."""
        if not self._below_noise(p):
            secant = self.descent[p] / (self.descent[p] - slope) if slope > self.descent[p] else 0.5
            self.length[p] *= min(0.8, max(0.1, secant))
        if self._below_noise(p):
            if self._gram_is_inexact():
                self._restart_in_double()
                self.length[p] = 0.0
            else:
                self.at_rounding[p] = True

    def _below_noise(self, p: int) -> bool:
        return bool(self.length[p] * abs(self.descent[p]) <= NOISE * abs(self.objective[p]))

    def _gram_is_inexact(self) -> bool:
        """Products in single precision can be too coarse for badly scaled features."""
        return self.gram and not self.exact_gram and self.problem.source.gram_in_single()

    def _restart_in_double(self) -> None:
        self.exact_gram = True
        self.slow[:] = 0
        self._start_pass()

    # ----------------------------------------------------------------------------------------- directions

    def _set_directions(self, problems: Sequence[int], curvature: Array) -> int:
        if self.gram:
            for place, p in enumerate(problems):
                self.direction[p] = -_solve(curvature[place], self.gradient[p])
            products = 0
        else:
            goal = np.minimum(0.1, np.sqrt(self.relative[list(problems)]))
            step, products = conjugate_gradients(
                self.problem, problems, -self.gradient[list(problems)], 1.0 + curvature, goal
            )
            self.direction[list(problems)] = step
        for p in problems:
            self.descent[p] = dot(self.gradient[p], self.direction[p])
        return products


def _solve(curvature: Array, right: Array) -> Array:
    """(I + curvature)^{-1} right. Rounding may have cost a badly scaled matrix its definiteness; its size
    times the machine precision gives it back."""
    matrix = curvature.copy()
    ridge = 1.0
    for _ in range(40):
        np.einsum("ii->i", matrix)[:] = np.diagonal(curvature) + ridge
        solution = _core.solve_definite(matrix, right)
        if solution is not None:
            return solution
        ridge = 10 * max(ridge, np.finfo(float).eps * float(np.trace(curvature)))
    return right / (1.0 + np.diagonal(curvature))


def conjugate_gradients(
    problem: LinearProblem, problems: Sequence[int], right: Array, diagonal: Array, goal: Array
) -> tuple[Array, int]:
    """Solve H v = right for several problems side by side, until each residual is at most goal * |right|.

    Also returns the number of products with H.
    """
    v = np.zeros_like(right)
    residual = right.copy()
    z = residual / diagonal
    direction = z.copy()
    rho = np.sum(residual * z, axis=1)
    bound = goal * np.linalg.norm(right, axis=1)
    todo = np.flatnonzero(np.linalg.norm(right, axis=1) > 0)
    products = 0
    while len(todo) and products < MAX_CG:
        product = problem.times([problems[int(k)] for k in todo], direction[todo])
        products += 1
        alpha = rho[todo] / np.sum(direction[todo] * product, axis=1)
        v[todo] += alpha[:, None] * direction[todo]
        residual[todo] -= alpha[:, None] * product
        todo_next = todo[np.linalg.norm(residual[todo], axis=1) > bound[todo]]
        z[todo_next] = residual[todo_next] / diagonal[todo_next]
        before = rho.copy()
        rho[todo_next] = np.sum(residual[todo_next] * z[todo_next], axis=1)
        beta = rho[todo_next] / before[todo_next]
        direction[todo_next] = z[todo_next] + beta[:, None] * direction[todo_next]
        todo = todo_next
    return v, products


def _run(task: LinearTask, rows: RowSums) -> LinearResult:
    settings = task.settings
    return newton(
        task.problem,
        task.start.w,
        tol=settings.tol,
        max_iter=settings.max_iter,
        history=task.history,
        use_coarse=task.start.is_cold,
    )


NEWTON = LinearSolver("newton", SUMS, needs_smooth_loss=True, patience="max_iter", run=_run)
